// With nothing configured: what is on this machine, what will be used, said in one screen.
import { discover, parseModelRef, type DiscoveredProvider } from '../../providers/index.ts';
import { refreshModels, type KnownModel, type ModelEndpoint } from '../state/index.ts';
import type { Settings } from '../settings/index.ts';
import { toResolvedModel, findModel, unknownModelError, type ResolvedModel } from './resolve-model.ts';

/** What was found, and what to use of it. */
export type DiscoveredModel = { readonly model: ResolvedModel; readonly message: string };

/** Looks for keys and servers and takes the best of them; the embedded model when there is nothing else. A model that was named must be there. */
export async function discoverModel(settings: Settings, wanted?: string): Promise<DiscoveredModel> {
  if (wanted?.includes('/')) {
    const chosen = findModel(wanted, [], undefined) ?? { name: wanted, ref: parseModelRef(wanted) };
    return { model: chosen, message: `Using ${wanted}.` };
  }
  const found = await discover({ env: settings.env });
  const lines = found.map((each) => `  ${each.provider.padEnd(18)} ${formatFoundReason(each)}`);
  const say = (chosen: ResolvedModel): string =>
    [
      'Nothing is configured yet, so I looked around. Found:',
      ...lines,
      ...(chosen.ref.provider === 'embedded' ? ['fairlead demo shows what it does with a model, without one.'] : []),
      `Using ${chosen.ref.provider}/${chosen.ref.model}. Another: --model <provider/model>; fairlead models <provider> lists them.`,
    ].join('\n');
  for (const each of found) {
    if (each.how === 'embedded') continue;
    const models = await listModelsOrNone(settings, toEndpoint(each), (trouble) => lines.push(trouble));
    const model =
      wanted === undefined
        ? (models.find(({ tools }) => tools === true) ?? models[0])
        : models.find(({ id }) => id === wanted);
    if (model) return { model: toResolvedModel(model), message: say(toResolvedModel(model)) };
  }
  if (wanted !== undefined && wanted !== 'embedded') throw unknownModelError(wanted, [], undefined);
  const chosen: ResolvedModel = {
    name: 'embedded/tinyllama',
    ref: { provider: 'embedded', model: 'tinyllama' },
    tools: false,
  };
  return { model: chosen, message: say(chosen) };
}

const toEndpoint = (found: DiscoveredProvider): ModelEndpoint => ({
  provider: found.provider,
  ...(found.how === 'server' || found.how === 'address' ? { baseUrl: found.baseUrl } : {}),
});

/** A server that was found and now does not answer is passed over. */
async function listModelsOrNone(
  settings: Settings,
  from: ModelEndpoint,
  say: (trouble: string) => void,
): Promise<readonly KnownModel[]> {
  try {
    return await refreshModels(settings, { endpoint: from, onWarning: say });
  } catch {
    return [];
  }
}

/** Why a provider can be used. */
export function formatFoundReason(found: DiscoveredProvider): string {
  switch (found.how) {
    case 'key':
      return `${found.variable} is set`;
    case 'server':
      return `a server answers at ${found.baseUrl}`;
    case 'address':
      return `${found.variable} names ${found.baseUrl} (not asked)`;
    case 'embedded':
      return 'it comes with the program: small, slow and often wrong; fetched when first used';
  }
}

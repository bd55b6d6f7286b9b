// Finds a model if none is configured: keys in the environment, servers on this machine, or the embedded model.
import { discover, parseModelRef, type DiscoveredProvider } from '../../providers/index.ts';
import { refreshModels, type KnownModel, type ModelEndpoint } from '../state/index.ts';
import type { Settings } from '../settings/index.ts';
import { toResolvedModel, findModel, unknownModelError, type ResolvedModel } from './resolve-model.ts';

/** The model to use, and a message that lists what was found. */
export type DiscoveredModel = { readonly model: ResolvedModel; readonly message: string };

/** Finds the best provider; the embedded model if there is no other. A named model must exist. */
export async function discoverModel(settings: Settings, name?: string): Promise<DiscoveredModel> {
  if (name?.includes('/')) {
    const model = findModel(name, [], undefined) ?? { name, ref: parseModelRef(name) };
    return { model, message: `Using ${name}.` };
  }
  const found = await discover({ env: settings.env });
  const lines = found.map((each) => `  ${each.provider.padEnd(18)} ${formatFoundReason(each)}`);
  const formatMessage = (model: ResolvedModel): string =>
    [
      'Nothing is configured yet, so I looked around. Found:',
      ...lines,
      ...(model.ref.provider === 'embedded' ? ['fairlead demo shows what it does with a model, without one.'] : []),
      `Using ${model.ref.provider}/${model.ref.model}. Another: --model <provider/model>; fairlead models <provider> lists them.`,
    ].join('\n');
  for (const each of found) {
    if (each.how === 'embedded') continue;
    const models = await listModelsOrNone(settings, toEndpoint(each), (warning) => lines.push(warning));
    const model =
      name === undefined
        ? (models.find(({ tools }) => tools === true) ?? models[0])
        : models.find(({ id }) => id === name);
    if (model) return { model: toResolvedModel(model), message: formatMessage(toResolvedModel(model)) };
  }
  if (name !== undefined && name !== 'embedded') throw unknownModelError(name, [], undefined);
  const chosen: ResolvedModel = {
    name: 'embedded/tinyllama',
    ref: { provider: 'embedded', model: 'tinyllama' },
    tools: false,
  };
  return { model: chosen, message: formatMessage(chosen) };
}

const toEndpoint = (found: DiscoveredProvider): ModelEndpoint => ({
  provider: found.provider,
  ...(found.how === 'server' || found.how === 'address' ? { baseUrl: found.baseUrl } : {}),
});

/** The models of a server; none if it does not answer. */
async function listModelsOrNone(
  settings: Settings,
  endpoint: ModelEndpoint,
  onWarning: (text: string) => void,
): Promise<readonly KnownModel[]> {
  try {
    return await refreshModels(settings, { endpoint, onWarning });
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
      return `${found.variable} names ${found.baseUrl} (not contacted)`;
    case 'embedded':
      return 'it comes with the program: small, slow and often wrong; fetched when first used';
  }
}

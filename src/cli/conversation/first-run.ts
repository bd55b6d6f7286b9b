// With nothing configured: what is on this machine, what will be used, said in one screen.
import { discover, partsOf, type Found } from '../../providers/index.ts';
import { refreshModels, type KnownModel, type Whence } from '../known-models/index.ts';
import type { Settings } from '../settings/index.ts';
import { chosenFrom, modelNamed, unknownModel, type Chosen } from './model.ts';

/** What was found, and what to use of it. */
export type FirstRun = { readonly chosen: Chosen; readonly words: string };

/** Looks for keys and servers and takes the best of them; the embedded model when there is nothing else. A model that was named must be there. */
export async function firstRun(settings: Settings, wanted?: string): Promise<FirstRun> {
  if (wanted?.includes('/')) {
    const chosen = modelNamed(wanted, [], undefined) ?? { name: wanted, ref: partsOf(wanted) };
    return { chosen, words: `Using ${wanted}.` };
  }
  const found = await discover({ env: settings.env });
  const lines = found.map((each) => `  ${each.provider.padEnd(18)} ${foundBecause(each)}`);
  const say = (chosen: Chosen): string =>
    [
      'Nothing is configured yet, so I looked around. Found:',
      ...lines,
      ...(chosen.ref.provider === 'embedded' ? ['fairlead demo shows what it does with a model, without one.'] : []),
      `Using ${chosen.ref.provider}/${chosen.ref.model}. Another: --model <provider/model>; fairlead models <provider> lists them.`,
    ].join('\n');
  for (const each of found) {
    if (each.how === 'embedded') continue;
    const models = await listed(settings, placeAt(each), (trouble) => lines.push(trouble));
    const model =
      wanted === undefined
        ? (models.find(({ tools }) => tools === true) ?? models[0])
        : models.find(({ id }) => id === wanted);
    if (model) return { chosen: chosenFrom(model), words: say(chosenFrom(model)) };
  }
  if (wanted !== undefined && wanted !== 'embedded') throw unknownModel(wanted, [], undefined);
  const chosen: Chosen = {
    name: 'embedded/tinyllama',
    ref: { provider: 'embedded', model: 'tinyllama' },
    tools: false,
  };
  return { chosen, words: say(chosen) };
}

const placeAt = (found: Found): Whence => ({
  provider: found.provider,
  ...(found.how === 'server' || found.how === 'address' ? { baseUrl: found.baseUrl } : {}),
});

/** A server that was found and now does not answer is passed over. */
async function listed(
  settings: Settings,
  from: Whence,
  say: (trouble: string) => void,
): Promise<readonly KnownModel[]> {
  try {
    return await refreshModels(settings, { from, say });
  } catch {
    return [];
  }
}

/** Why a provider can be used. */
export function foundBecause(found: Found): string {
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

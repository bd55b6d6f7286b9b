// The error for a model that is not known: which part of its name is wrong, and what to do. It is loaded only if it is needed.
import { closestMatches, FairleadError } from '../../core/index.ts';
import { families, findFamily, guessModelRef } from '../../providers/index.ts';
import type { Settings } from '../settings/index.ts';
import { readKnownModels, type KnownModel, type ModelEndpoint } from '../state/index.ts';
import { expandModelName, formatEndpoint, getModelEndpoint, lookUpModel, type ResolvedModel } from './resolve-model.ts';

/** Finds a model as `lookUpModel` does; throws an error that says which part of the name is wrong. */
export function requireModel(
  name: string,
  settings: Settings,
  commands: 'slash' | 'program' = 'program',
): ResolvedModel {
  const model = lookUpModel(name, settings);
  if (model) return model;
  const known = readKnownModels(settings) ?? [];
  throw unknownModelError(expandModelName(name, settings), known, getModelEndpoint(settings, known), commands);
}

/** The error for a model that is not in a list: says which part of the name is wrong, and what the user can do there. */
export function unknownModelError(
  name: string,
  known: readonly KnownModel[],
  endpoint: ModelEndpoint | undefined,
  commands: 'slash' | 'program' = 'program',
): FairleadError {
  const slash = name.indexOf('/');
  const provider = slash < 0 ? '' : name.slice(0, slash);
  const model = name.slice(slash + 1);
  const family = findFamily(provider);
  const own = family && known.find((each) => findFamily(each.provider) === family);
  const listOwner = own ? { provider: own.provider, baseUrl: own.url } : endpoint;
  const fail = (message: string, hint: string): FairleadError =>
    new FairleadError('coding-agent/unknown-model', message, { blame: 'user', hint });
  const isSlash = commands === 'slash';
  const named = slash < 0 ? findFamily(name) : undefined;
  if (named) {
    const list = isSlash ? '/model lists the models' : `fairlead models ${named.name} lists its models`;
    return fail(
      `"${name}" is a provider, not a model.`,
      `Name one of its models, such as ${named.name}/${named.exampleModel}; ${list}.`,
    );
  }
  const near = closestMatches(
    family ? model : name,
    known.map(({ id }) => id),
  );
  const guess = slash < 0 ? guessModelRef(name) : undefined;
  const isGuessed =
    guess !== undefined && findFamily(guess.split('/')[0] ?? '') !== findFamily(listOwner?.provider ?? '');
  const suggested = near.length > 0 ? near : isGuessed ? [guess] : [];
  const suggestion = suggested.length > 0 ? `Did you mean ${suggested.join(' or ')}?` : undefined;
  const owner = findFamily(listOwner?.provider ?? '');
  const pull = owner?.protocol === 'ollama' && (family || slash < 0) ? `; ollama pull ${model} downloads one` : '';
  const advice = isSlash
    ? `/model lists the models; /refresh-models fetches the list again${pull}.`
    : `fairlead models ${owner?.name ?? '<provider>'} lists its models; fairlead --one-shot --refresh-models fetches the saved list again${pull}.`;
  if (slash > 0 && !family) {
    const lists = listOwner ? formatEndpoint(listOwner) : 'the list of models';
    const providers = `Providers: ${families.map((each) => each.name).join(', ')}.`;
    return fail(
      `There is no provider "${provider}"${known.length > 0 ? `, and ${lists} has no model "${name}"` : ''}.`,
      suggestion ?? (model === '' ? providers : `${providers} ${advice}`),
    );
  }
  const lists = listOwner ? formatEndpoint(listOwner) : 'The list of models';
  return fail(`${lists} has no model "${family ? model : name}".`, suggestion ?? advice);
}

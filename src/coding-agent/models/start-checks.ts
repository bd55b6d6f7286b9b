// Errors of a start without a user to ask: no model is configured, or the model of the session is not where it was.
import { FairleadError, isLoopbackHost } from '../../core/index.ts';
import { families, findApiKey } from '../../providers/index.ts';
import type { SessionModel } from '../../sessions/index.ts';
import type { Settings } from '../settings/index.ts';
import type { KnownModel } from '../state/index.ts';
import { getModelHost, type ResolvedModel } from './resolve-model.ts';

/** Throws if the model would be requested at another host than the session used; all addresses of this machine count as one. */
export function assertSameHost(
  { ref }: ResolvedModel,
  { host }: SessionModel,
  settings: Settings,
  known: readonly KnownModel[],
): void {
  const now = getModelHost(ref, settings.env);
  if (now === host || (now !== undefined && host !== undefined && isLoopbackHost(now) && isLoopbackHost(host))) return;
  throw noModelError(settings, known);
}

/** The error of a start without a model and without a user to ask. */
export function noModelError(settings: Settings, known: readonly KnownModel[]): FairleadError {
  const example = known.find(({ tools }) => tools === true) ?? known[0];
  const keyed = families.find((family) => !family.local && findApiKey(family, settings.env));
  const key = keyed && findApiKey(keyed, settings.env);
  const [model, reason] = example
    ? [example.id, '']
    : keyed && key
      ? [
          `${keyed.name}/${keyed.exampleModel}`,
          ` (${key.name} is set, but a key is used only for a model that you chose)`,
        ]
      : ['ollama/qwen3:8b', ''];
  return new FairleadError(
    'coding-agent/no-model',
    `No model configured${reason}: name one with --model, such as --model ${model}, or run ${settings.profile.program} in a terminal to choose one.`,
    { blame: 'user' },
  );
}

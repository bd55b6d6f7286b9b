// The model of runs that name none: said when a worker starts, for nobody is there to be asked when one is begun.
import { formatError } from '../../core/index.ts';
import { resolveModelUnattended } from './resolve-model.ts';
import { readKnownModels, readLastModel, refreshModels } from '../state/index.ts';
import type { Settings } from '../settings/index.ts';

/** The one that was named at the start, the settings' own, the last used, or the first of the list, one that calls tools before one that cannot. */
export function getDefaultModel(settings: Settings, named?: string): string | undefined {
  const told = named ?? settings.model ?? readLastModel(settings);
  if (told !== undefined) return told;
  const known = readKnownModels(settings) ?? [];
  return (known.find(({ tools }) => tools === true) ?? known[0])?.id;
}

/** Learns which models there are, as the terminal does when it is first opened, and says which one runs use; throws where the named one is none of them. */
export async function announceDefaultModel(
  settings: Settings,
  named: string | undefined,
  say: (sentence: string) => void,
): Promise<void> {
  if (settings.provider !== undefined && readKnownModels(settings) === undefined)
    await refreshModels(settings, { onWarning: say, signal: AbortSignal.timeout(5000) }).catch((error: Error) =>
      say(formatError(error)),
    );
  if (named !== undefined) await resolveModelUnattended({ model: named }, settings, say);
  const usual = getDefaultModel(settings, named);
  say(
    usual === undefined
      ? 'No model is set: a run that names none looks for one on this machine. --model <name> sets one.'
      : `Runs use the model ${usual} unless they name another.`,
  );
}

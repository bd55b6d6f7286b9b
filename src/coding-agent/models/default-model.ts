// The default model of queued runs, announced when a worker starts.
import { formatError } from '../../core/index.ts';
import { resolveModelUnattended } from './resolve-model.ts';
import { readKnownModels, readLastModel, refreshModels } from '../state/index.ts';
import type { Settings } from '../settings/index.ts';

/** The model that was named at the start, that of the settings, the last used one, or the first of the list, preferably one that can call tools. */
export function getDefaultModel(settings: Settings, named?: string): string | undefined {
  const name = named ?? settings.model ?? readLastModel(settings);
  if (name !== undefined) return name;
  const known = readKnownModels(settings) ?? [];
  return (known.find(({ tools }) => tools === true) ?? known[0])?.id;
}

/** Reads the list of models if none is cached, and announces the default model. Throws if the named model does not exist. */
export async function announceDefaultModel(
  settings: Settings,
  named: string | undefined,
  notify: (text: string) => void,
): Promise<void> {
  if (settings.provider !== undefined && readKnownModels(settings) === undefined)
    await refreshModels(settings, { onWarning: notify, signal: AbortSignal.timeout(5000) }).catch((error: Error) =>
      notify(formatError(error)),
    );
  if (named !== undefined) await resolveModelUnattended({ model: named }, settings, notify);
  const model = getDefaultModel(settings, named);
  notify(
    model === undefined
      ? 'No model is set: a run that names none looks for one on this machine. --model <name> sets one.'
      : `Runs use the model ${model} unless they name another.`,
  );
}

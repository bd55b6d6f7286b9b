// Announces the default model of queued runs when a worker or a server starts.
import { formatError } from '../../core/index.ts';
import { getDefaultModel } from '../models/resolve-model.ts';
import { resolveModelUnattended } from '../models/start-model.ts';
import type { Settings } from '../settings/index.ts';
import { readKnownModels, refreshModels } from '../state/index.ts';

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
  if (named !== undefined) await resolveModelUnattended({ model: named }, settings);
  const model = getDefaultModel(settings, named);
  notify(
    model === undefined
      ? 'No model is configured: a run that names none fails. --model <provider/model> sets one.'
      : `Runs use the model ${model} unless they name another.`,
  );
}

// Lets the user choose the default model of a provider after a login; it becomes the default only after it has answered.
import { FairleadError, formatError } from '../../core/index.ts';
import { adoptModel, chooseModel, formatDestination } from '../../coding-agent/models/index.ts';
import type { Settings } from '../../coding-agent/settings/index.ts';
import { createUiPrompter } from '../tui/create-ui.ts';
import type { TerminalUI } from '../tui/ui.ts';
import { createModelChooser } from './model-chooser.ts';

/** Asks for a model of the provider, sends it a short request, and saves it as the default if it answers. Esc cancels. */
export async function chooseDefaultModel(ui: TerminalUI, settings: Settings, provider: string): Promise<void> {
  const stop = new AbortController();
  const prompter = createUiPrompter(ui);
  const chooser = createModelChooser(ui, settings, stop.signal);
  const program = settings.profile.program;
  const chosen = await chooseModel(settings, chooser, { endpoint: { provider }, signal: stop.signal });
  if (!chosen) return prompter.notify(`No default model was set: ${program} asks for one when it starts.`);
  const { name, ref } = chosen.model;
  ui.onCancel(() => stop.abort());
  try {
    chooser.progress(`Waiting for a first answer of ${name} …`);
    const warning = await adoptModel(chosen, { ...prompter, signal: stop.signal });
    chooser.progress('');
    prompter.notify(
      warning ??
        `${name} answered and is the default model now. Your text goes to ${formatDestination(ref, chosen.settings.env)}. Start with: ${program}`,
    );
  } catch (error) {
    chooser.progress('');
    if (stop.signal.aborted) return prompter.notify('Cancelled: no default model was set.');
    if (!(error instanceof FairleadError)) throw error;
    prompter.notify(`${name} did not answer, so it is not the default model. ${formatError(error)}`);
  } finally {
    ui.onCancel(undefined);
  }
}

// Lets the user choose a model and enter a key on the terminal UI.
import type { ModelChooser } from '../../coding-agent/models/index.ts';
import { readSettings, type Settings } from '../../coding-agent/settings/index.ts';
import { createUiPrompter } from '../tui/create-ui.ts';
import type { TerminalUI } from '../tui/ui.ts';

const progressId = 'model-progress';

/** Creates the chooser of a UI; the signal closes its lists. */
export function createModelChooser(ui: TerminalUI, settings: Settings, signal?: AbortSignal): ModelChooser {
  const prompter = createUiPrompter(ui);
  return {
    pick: (title, choices) => ui.pick(title, choices, { signal, noun: 'models' }),
    confirm: (question) => prompter.confirm(question, undefined, signal),
    notify: (text) => prompter.notify(text),
    progress: (text) =>
      text === '' ? ui.removeBlock(progressId) : ui.putBlock({ type: 'notice', id: progressId, level: 'info', text }),
    async login() {
      const { enterKey } = await import('./enter-key.ts');
      const provider = await enterKey(ui, settings, undefined, signal);
      return provider === undefined ? undefined : { provider, settings: readSettings() };
    },
  };
}

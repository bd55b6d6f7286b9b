// Creates the terminal UI that fits the terminal: the full screen, or plain lines. The libraries of the screen load only if it is used.
import type { UserPrompter } from '../../coding-agent/integrations/index.ts';
import { resolveTheme, wantsColors } from './ansi-style.ts';
import type { Settings } from '../../coding-agent/settings/index.ts';
import type { TerminalUI } from './ui.ts';

/** What selects the UI besides the terminal itself. */
export type UiOptions = {
  /** Selects plain lines, as `--plain` and FAIRLEAD_PLAIN=1 do. */
  readonly plain?: boolean;
  readonly env?: NodeJS.ProcessEnv;
  /** The settings of the screen; without them it does not notify. */
  readonly settings?: Pick<Settings, 'theme' | 'showsReasoning' | 'notifications' | 'notifyAfterMs' | 'profile'>;
};

/** Opens the screen on a capable terminal, and plain lines everywhere else. */
export async function createUi(options: UiOptions = {}): Promise<TerminalUI> {
  const env = options.env ?? process.env;
  const { stdin: input, stdout: output } = process;
  const isTerminal = input.isTTY && output.isTTY;
  const dumb = env['TERM'] === 'dumb';
  const plain = options.plain === true || !['', '0', undefined].includes(env['FAIRLEAD_PLAIN']);
  const colors = wantsColors(env, output.isTTY);
  if (isTerminal && !dumb && !plain) {
    const { createScreenUi } = await import('./screen.ts');
    const {
      theme = 'auto',
      showsReasoning = true,
      notifications = 'off',
      notifyAfterMs = 0,
      profile,
    } = options.settings ?? {};
    return createScreenUi({
      theme: colors ? resolveTheme(theme, env) : 'none',
      showsReasoning,
      notifier: { mode: notifications, product: profile?.product ?? 'Fairlead', afterMs: notifyAfterMs, env },
    });
  }
  const { createPlainUi } = await import('./plain.ts');
  const ui = createPlainUi({ input, output, colors, lineEditing: isTerminal && !dumb && colors });
  return options.settings?.showsReasoning === false ? withoutReasoning(ui) : ui;
}

/** Leaves out the blocks of reasoning; text for a block that is not there is ignored by the UI. */
const withoutReasoning = (ui: TerminalUI): TerminalUI => ({
  ...ui,
  putBlock(block) {
    if (block.type !== 'reasoning') ui.putBlock(block);
  },
});

/** Asks the user for confirmations and shows notices on a UI. */
export function createUiPrompter(ui: TerminalUI): UserPrompter {
  const notify = (text: string): void => ui.putBlock({ type: 'notice', id: crypto.randomUUID(), level: 'info', text });
  return {
    confirm: async (title, detail, signal) =>
      (await ui.askKey(
        {
          title,
          ...(detail === undefined ? {} : { detail }),
          keys: [
            { key: 'y', label: 'yes' },
            { key: 'n', label: 'no' },
          ],
          defaultKey: 'n',
        },
        signal,
      )) === 'y',
    ...(ui.askText && { askText: ui.askText }),
    progress: (text) =>
      text === ''
        ? ui.removeBlock('model-progress')
        : ui.putBlock({ type: 'notice', id: 'model-progress', level: 'info', text }),
    async askApproval(prompt, signal) {
      const { askApprovalOnUi } = await import('./approval-question.ts');
      return askApprovalOnUi(ui, prompt, signal, notify);
    },
    notify,
  };
}

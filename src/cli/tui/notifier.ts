// Notifies a user who looks at another window: a bell and a desktop notification, when a question is open or a long run has ended.
import { escapeInvisibleLine } from '../../core/index.ts';

/** How to notify: with a bell and on the desktop (`auto`) or only there (`osc`), both while the window has no focus; always with a bell; or never. */
export type NotificationMode = 'auto' | 'bell' | 'osc' | 'off';

/** How a notifier works. */
export type NotifierOptions = {
  readonly mode: NotificationMode;
  /** The name of the program, with which each notification begins. */
  readonly product: string;
  /** A run that took at least this long is worth a notification. */
  readonly afterMs: number;
  /** The environment, which says what terminal it is. */
  readonly env: Readonly<Record<string, string | undefined>>;
};

/** Notifies about questions and ended runs. */
export type Notifier = {
  /** Turns on the reports of the focus; write it when the screen opens, and `stop` when it closes. */
  readonly start: string;
  readonly stop: string;
  /** Handles a report of the focus; returns false for any other input. */
  handleInput(data: string): boolean;
  /** Called when a question is shown. */
  questionOpened(title: string): void;
  /** Called with each change of the status. */
  setBusy(busy: boolean): void;
};

/** Creates a notifier that writes to the terminal. */
export function createNotifier(
  { mode, product, afterMs, env }: NotifierOptions,
  write: (text: string) => void,
  now: () => number = Date.now,
): Notifier {
  let hasFocus = true;
  let busySince: number | undefined;
  const watchesFocus = mode === 'auto' || mode === 'osc';
  const notify = (text: string): void => {
    if (mode === 'bell' || (mode === 'auto' && !hasFocus)) write('\x07');
    if (watchesFocus && !hasFocus) write(formatNotification(product, text, env));
  };
  return {
    start: watchesFocus ? '\x1b[?1004h' : '',
    stop: watchesFocus ? '\x1b[?1004l' : '',
    handleInput(data) {
      if (data !== '\x1b[I' && data !== '\x1b[O') return false;
      hasFocus = data === '\x1b[I';
      return true;
    },
    questionOpened: (title) => notify(`Your answer is needed. ${title}`),
    setBusy(busy) {
      if (busy) busySince ??= now();
      else if (busySince !== undefined) {
        if (now() - busySince >= afterMs) notify('The run has ended.');
        busySince = undefined;
      }
    },
  };
}

/** The longest text of a notification; desktops show two or three lines. */
const maxTextChars = 160;

/** Formats the sequence of a desktop notification for a terminal. The text may be that of a model. */
export function formatNotification(product: string, text: string, env: NotifierOptions['env']): string {
  const [title, body] = [product, text].map(toNotificationText);
  // Urxvt, foot and the terminals of GNOME have OSC 777. OSC 9 is that of iTerm2, kitty, WezTerm, Ghostty and Windows Terminal; other terminals ignore both.
  const has777 = env['VTE_VERSION'] !== undefined || /^(rxvt|foot)/.test(env['TERM'] ?? '');
  const sequence = has777 ? `\x1b]777;notify;${title};${body}\x1b\\` : `\x1b]9;${title}: ${body}\x1b\\`;
  // tmux forwards only what is wrapped for it.
  return env['TMUX'] ? `\x1bPtmux;${sequence.replaceAll('\x1b', '\x1b\x1b')}\x1b\\` : sequence;
}

/** One line without control characters, which would end the sequence, and without semicolons, which separate its fields. */
const toNotificationText = (text: string): string =>
  Array.from(escapeInvisibleLine(text).replaceAll(';', ',')).slice(0, maxTextChars).join('').trim();

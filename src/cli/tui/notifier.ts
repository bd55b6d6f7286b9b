// Notifies a user who looks at another window: a bell and a desktop notification, when a question is open or a long run has ended.

/** A run that took at least this long is worth a notification. */
const LONG_RUN_MS = 10_000;

/** How to notify: `auto` only while the terminal reports that its window has no focus, `bell` always with a bell, or never. */
export type NotificationMode = 'auto' | 'bell' | 'off';

/** Notifies about questions and ended runs. */
export type Notifier = {
  /** Turns on the reports of the focus; write it when the screen opens, and `stop` when it closes. */
  readonly start: string;
  readonly stop: string;
  /** Handles a report of the focus; returns false for any other input. */
  handleInput(data: string): boolean;
  /** Called when a question is shown. */
  questionOpened(): void;
  /** Called with each change of the status. */
  setBusy(busy: boolean): void;
};

/** Creates a notifier that writes to the terminal. */
export function createNotifier(
  mode: NotificationMode,
  write: (text: string) => void,
  now: () => number = Date.now,
): Notifier {
  let hasFocus = true;
  let busySince: number | undefined;
  const notify = (text: string): void => {
    if (mode === 'bell') write('\x07');
    // OSC 9 is a notification in iTerm2, kitty, WezTerm, Ghostty and Windows Terminal; others ignore it.
    if (mode === 'auto' && !hasFocus) write(`\x07\x1b]9;${text}\x07`);
  };
  return {
    start: mode === 'auto' ? '\x1b[?1004h' : '',
    stop: mode === 'auto' ? '\x1b[?1004l' : '',
    handleInput(data) {
      if (data !== '\x1b[I' && data !== '\x1b[O') return false;
      hasFocus = data === '\x1b[I';
      return true;
    },
    questionOpened: () => notify('Your answer is needed.'),
    setBusy(busy) {
      if (busy) busySince ??= now();
      else if (busySince !== undefined) {
        if (now() - busySince >= LONG_RUN_MS) notify('The run has ended.');
        busySince = undefined;
      }
    },
  };
}

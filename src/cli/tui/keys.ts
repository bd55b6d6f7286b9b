// Keyboard shortcuts of the screen outside the input field.
import { matchesKey, type KeyId } from '@earendil-works/pi-tui';
import type { UserAction } from './ui.ts';

const DOUBLE_PRESS_MS = 600;
const QUIT_WINDOW_MS = 2000;

/** The state that the shortcuts read, and the actions they trigger. */
export type KeyHandlers = {
  isBusy(): boolean;
  /** Whether the field shows suggestions, which Esc closes first. */
  isSuggesting(): boolean;
  text(): string;
  takeText(): string;
  emit(action: UserAction): void;
  send(text: string, how: 'enter' | 'follow-up'): void;
  showHint(text: string): void;
  toggleFold(): void;
  toggleReasoning(): void;
  openHistory(): void;
  suspend(): void;
  redraw(): void;
};

/** Handles a key; returns whether it was handled, so that the input field does not get it. */
export type KeyListener = (data: string) => boolean;

/** Creates the shortcuts that apply while no panel is open. */
export function createKeyListener(handlers: KeyHandlers): KeyListener {
  let escapeAt = 0;
  let armedAt = 0;
  let interruptedAt = 0;

  function escape(presses: number): boolean {
    if (handlers.isSuggesting()) return false;
    if (handlers.isBusy()) {
      escapeAt = 0;
      handlers.emit({ type: 'interrupt' });
      return true;
    }
    const twice = presses > 1 || Date.now() - escapeAt < DOUBLE_PRESS_MS;
    escapeAt = twice ? 0 : Date.now();
    if (twice) handlers.emit({ type: 'rewind' });
    else handlers.showHint('press Esc again to go back to an earlier message');
    return true;
  }

  // During a run the first press interrupts. A press that follows it only warns, so that an impatient user does not quit;
  // the press after that quits, even if the run hangs.
  function interrupt(): boolean {
    const armed = Date.now() - armedAt < QUIT_WINDOW_MS;
    armedAt = 0;
    if (handlers.text() !== '') return done(handlers.takeText());
    if (armed) return done(handlers.emit({ type: 'quit' }));
    if (handlers.isBusy() && Date.now() - interruptedAt >= QUIT_WINDOW_MS) {
      interruptedAt = Date.now();
      return done(handlers.emit({ type: 'interrupt' }));
    }
    armedAt = Date.now();
    return done(handlers.showHint('press Ctrl+C again to quit'));
  }

  const done = (_result: unknown): true => true;
  const table: readonly (readonly [KeyId, () => boolean])[] = [
    ['escape', () => escape(1)],
    ['ctrl+c', interrupt],
    ['ctrl+d', () => handlers.text() === '' && done(handlers.emit({ type: 'quit' }))],
    ['alt+enter', () => done(handlers.send(handlers.takeText(), 'follow-up'))],
    ['shift+tab', () => done(handlers.emit({ type: 'toggle-approval' }))],
    ['ctrl+o', () => done(handlers.toggleFold())],
    ['ctrl+t', () => done(handlers.toggleReasoning())],
    ['ctrl+v', () => done(handlers.emit({ type: 'paste-image' }))],
    ['ctrl+r', () => done(handlers.openHistory())],
    ['ctrl+z', () => done(handlers.suspend())],
    ['ctrl+l', () => done(handlers.redraw())],
  ];
  return (data) => {
    // Two fast presses arrive as one sequence.
    if (data === '\x1b\x1b') return escape(2);
    return table.some(([key, run]) => matchesKey(data, key) && run());
  };
}

/** Removes the control characters of a paste that could control the terminal when the editor draws them; the editor removes the others. */
export function stripC1Controls(data: string): string {
  return data.startsWith('\x1b[200~') ? data.replaceAll(/[\x7f-\x9f]/g, '') : data;
}

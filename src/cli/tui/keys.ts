// The keys that mean something beyond the entry field, and what they mean when.
import { matchesKey, type KeyId } from '@earendil-works/pi-tui';
import type { UserAction } from './ui.ts';

const DOUBLE_PRESS_MS = 600;
const QUIT_WINDOW_MS = 2000;

/** What the keys need to know and may do. */
export type KeyHandlers = {
  isBusy(): boolean;
  /** Whether the field shows suggestions, which Esc closes first. */
  isSuggesting(): boolean;
  text(): string;
  takeText(): string;
  emit(heard: UserAction): void;
  send(text: string, how: 'enter' | 'follow-up'): void;
  showHint(text: string): void;
  toggleFold(): void;
  openHistory(): void;
  suspend(): void;
  redraw(): void;
};

/** Tells whether a key was taken, so that the field does not get it. */
export type KeyListener = (data: string) => boolean;

/** The keys of the field while no panel is open. */
export function createKeyListener(room: KeyHandlers): KeyListener {
  let escapedAt = 0;
  let stoppedAt = 0;

  function escape(times: number): boolean {
    if (room.isSuggesting()) return false;
    if (room.isBusy()) {
      escapedAt = 0;
      room.emit({ type: 'interrupt' });
      return true;
    }
    const twice = times > 1 || Date.now() - escapedAt < DOUBLE_PRESS_MS;
    escapedAt = twice ? 0 : Date.now();
    if (twice) room.emit({ type: 'rewind' });
    else room.showHint('press Esc again to go back to an earlier message');
    return true;
  }

  // The second press quits even where the first should have interrupted: what hangs must not hold the person.
  function stop(): boolean {
    const again = Date.now() - stoppedAt < QUIT_WINDOW_MS;
    stoppedAt = 0;
    if (room.text() !== '') return done(room.takeText());
    if (again) return done(room.emit({ type: 'quit' }));
    stoppedAt = Date.now();
    if (room.isBusy()) return done(room.emit({ type: 'interrupt' }));
    return done(room.showHint('press Ctrl+C again to quit'));
  }

  const done = (_act: unknown): true => true;
  const table: readonly (readonly [KeyId, () => boolean])[] = [
    ['escape', () => escape(1)],
    ['ctrl+c', stop],
    ['ctrl+d', () => room.text() === '' && done(room.emit({ type: 'quit' }))],
    ['alt+enter', () => done(room.send(room.takeText(), 'follow-up'))],
    ['shift+tab', () => done(room.emit({ type: 'toggle-approval' }))],
    ['ctrl+o', () => done(room.toggleFold())],
    ['ctrl+r', () => done(room.openHistory())],
    ['ctrl+z', () => done(room.suspend())],
    ['ctrl+l', () => done(room.redraw())],
  ];
  return (data) => {
    // Two presses in a hurry come as one sequence.
    if (data === '\x1b\x1b') return escape(2);
    return table.some(([key, act]) => matchesKey(data, key) && act());
  };
}

/** A paste without the controls that could drive the terminal when the editor draws them; the others it drops itself. */
export function stripC1Controls(data: string): string {
  return data.startsWith('\x1b[200~') ? data.replaceAll(/[\x7f-\x9f]/g, '') : data;
}

// The keys that mean something beyond the entry field, and what they mean when.
import { matchesKey, type KeyId } from '@earendil-works/pi-tui';
import type { Heard } from './face.ts';

const TWICE_MS = 600;
const QUIT_MS = 2000;

/** What the keys need to know and may do. */
export type KeyRoom = {
  busy(): boolean;
  /** Whether the field shows suggestions, which Esc closes first. */
  suggesting(): boolean;
  text(): string;
  take(): string;
  hear(heard: Heard): void;
  send(text: string, how: 'enter' | 'follow-up'): void;
  hint(text: string): void;
  fold(): void;
  history(): void;
  suspend(): void;
  redraw(): void;
};

/** Tells whether a key was taken, so that the field does not get it. */
export type KeyListener = (data: string) => boolean;

/** The keys of the field while no panel is open. */
export function keysOf(room: KeyRoom): KeyListener {
  let escapedAt = 0;
  let stoppedAt = 0;

  function escape(times: number): boolean {
    if (room.suggesting()) return false;
    if (room.busy()) {
      escapedAt = 0;
      room.hear({ type: 'interrupt' });
      return true;
    }
    const twice = times > 1 || Date.now() - escapedAt < TWICE_MS;
    escapedAt = twice ? 0 : Date.now();
    if (twice) room.hear({ type: 'back' });
    else room.hint('press Esc again to go back to an earlier message');
    return true;
  }

  // The second press quits even where the first should have interrupted: what hangs must not hold the person.
  function stop(): boolean {
    const again = Date.now() - stoppedAt < QUIT_MS;
    stoppedAt = 0;
    if (room.text() !== '') return done(room.take());
    if (again) return done(room.hear({ type: 'quit' }));
    stoppedAt = Date.now();
    if (room.busy()) return done(room.hear({ type: 'interrupt' }));
    return done(room.hint('press Ctrl+C again to quit'));
  }

  const done = (_act: unknown): true => true;
  const table: readonly (readonly [KeyId, () => boolean])[] = [
    ['escape', () => escape(1)],
    ['ctrl+c', stop],
    ['ctrl+d', () => room.text() === '' && done(room.hear({ type: 'quit' }))],
    ['alt+enter', () => done(room.send(room.take(), 'follow-up'))],
    ['shift+tab', () => done(room.hear({ type: 'mode' }))],
    ['ctrl+o', () => done(room.fold())],
    ['ctrl+r', () => done(room.history())],
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
export function withoutC1(data: string): string {
  return data.startsWith('\x1b[200~') ? data.replaceAll(/[\x7f-\x9f]/g, '') : data;
}

// Tests when the terminal notifies, and what it writes.
import assert from 'node:assert/strict';
import test from 'node:test';
import { createNotifier, type NotificationMode } from './notifier.ts';

function collect(mode: NotificationMode): { readonly written: string[]; readonly run: (ms: number) => void } & {
  readonly notifier: ReturnType<typeof createNotifier>;
} {
  const written: string[] = [];
  let time = 0;
  const notifier = createNotifier(
    mode,
    (text) => void written.push(text),
    () => time,
  );
  const run = (ms: number): void => {
    notifier.setBusy(true);
    time += ms;
    notifier.setBusy(true);
    notifier.setBusy(false);
  };
  return { written, notifier, run };
}

test('a question and the end of a long run notify while the window has no focus', () => {
  const { written, notifier, run } = collect('auto');
  notifier.questionOpened();
  run(60_000);
  assert.deepEqual(written, [], 'the user looks at the window');
  assert.ok(notifier.handleInput('\x1b[O'));
  notifier.questionOpened();
  run(9_000);
  run(11_000);
  assert.deepEqual(written, ['\x07\x1b]9;Your answer is needed.\x07', '\x07\x1b]9;The run has ended.\x07']);
  assert.ok(notifier.handleInput('\x1b[I'));
  notifier.questionOpened();
  assert.equal(written.length, 2);
  assert.ok(!notifier.handleInput('a'));
});

test('bell rings whether or not the window has the focus, and off never does', () => {
  const bell = collect('bell');
  bell.notifier.questionOpened();
  assert.deepEqual([bell.written, bell.notifier.start], [['\x07'], '']);
  const off = collect('off');
  off.notifier.questionOpened();
  off.run(60_000);
  assert.deepEqual([off.written, off.notifier.start], [[], '']);
});

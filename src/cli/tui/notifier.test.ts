// Tests when the terminal notifies, and what it writes.
import assert from 'node:assert/strict';
import test from 'node:test';
import { createNotifier, formatNotification, type NotificationMode } from './notifier.ts';

function collect(mode: NotificationMode): { readonly written: string[]; readonly run: (ms: number) => void } & {
  readonly notifier: ReturnType<typeof createNotifier>;
} {
  const written: string[] = [];
  let time = 0;
  const notifier = createNotifier(
    { mode, product: 'Fairlead', afterMs: 10_000, env: {} },
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
  notifier.questionOpened('Run a command?');
  run(60_000);
  assert.deepEqual(written, [], 'the user looks at the window');
  assert.ok(notifier.handleInput('\x1b[O'));
  notifier.questionOpened('Run a command?');
  run(9_000);
  run(11_000);
  const question = '\x1b]9;Fairlead: Your answer is needed. Run a command?\x1b\\';
  assert.deepEqual(written, ['\x07', question, '\x07', '\x1b]9;Fairlead: The run has ended.\x1b\\']);
  assert.ok(notifier.handleInput('\x1b[I'));
  notifier.questionOpened('Run a command?');
  assert.equal(written.length, 4);
  assert.ok(!notifier.handleInput('a'));
});

test('osc shows the notification without a bell', () => {
  const { written, notifier } = collect('osc');
  notifier.questionOpened('Go on?');
  assert.ok(notifier.handleInput('\x1b[O'));
  notifier.questionOpened('Go on?');
  assert.deepEqual(written, ['\x1b]9;Fairlead: Your answer is needed. Go on?\x1b\\']);
});

test('terminals that have OSC 777 get that, and tmux gets a wrapped sequence', () => {
  assert.equal(formatNotification('Fairlead', 'Done', { TERM: 'foot' }), '\x1b]777;notify;Fairlead;Done\x1b\\');
  assert.equal(formatNotification('Fairlead', 'Done', { VTE_VERSION: '7600' }), '\x1b]777;notify;Fairlead;Done\x1b\\');
  assert.equal(
    formatNotification('Fairlead', 'Done', { TMUX: '/tmp/tmux,1,0', TERM: 'tmux-256color' }),
    '\x1bPtmux;\x1b\x1b]9;Fairlead: Done\x1b\x1b\\\x1b\\',
  );
});

test('text of a model cannot end the sequence or begin another one', () => {
  for (const env of [{}, { TERM: 'rxvt-unicode' }]) {
    const evil = 'x\x07\x1b]0;title\x1b\\\x9c\x9d52;c;AAAA\x9c\r\n;y\u202e';
    const body = formatNotification('Fairlead', evil, env).slice(2, -2);
    // oxlint-disable-next-line no-control-regex
    assert.doesNotMatch(body, /[\x00-\x1f\x7f-\x9f\u202e]/);
    assert.equal(body.split(';').length, env.TERM ? 4 : 2, body);
    assert.ok(formatNotification('Fairlead', 'x'.repeat(5000), env).length < 200);
  }
});

test('bell rings whether or not the window has the focus, and off never does', () => {
  const bell = collect('bell');
  bell.notifier.questionOpened('?');
  assert.deepEqual([bell.written, bell.notifier.start], [['\x07'], '']);
  const off = collect('off');
  off.notifier.questionOpened('?');
  off.run(60_000);
  assert.deepEqual([off.written, off.notifier.start], [[], '']);
});

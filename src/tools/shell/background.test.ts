// Background commands: started at once, checked when there is output, stopped with all their children, and reported when they end.
import assert from 'node:assert/strict';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { FairleadError, type Json, type RunState, type Workspace } from '../../core/index.ts';
import { callTool, type ToolCallResult } from '../../../test/support/tool-call.ts';
import { localWorkspace } from '../../workspace/index.ts';
import { createBackgroundCommands, codingTools } from '../index.ts';

type CommandFixture = {
  readonly root: string;
  readonly call: (tool: string, input: Json, signal?: AbortSignal) => Promise<ToolCallResult>;
  /** Starts a command and returns its id. */
  readonly start: (command: string, more?: object) => Promise<string>;
  readonly remind: (session?: string) => string | null | undefined;
  readonly close: () => Promise<void>;
};

function setup(t: test.TestContext, around: (workspace: Workspace) => Workspace = (each) => each): CommandFixture {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-background-')));
  const background = createBackgroundCommands(around(localWorkspace({ roots: [root], outputs: `${root}-outputs` })));
  t.after(async () => {
    await background.close();
    for (const folder of [root, `${root}-outputs`]) rmSync(folder, { recursive: true, force: true });
  });
  const state = (session: string): RunState => ({ session }) as RunState;
  const tools = codingTools(around(localWorkspace({ roots: [root], outputs: `${root}-outputs` })), background);
  const call: CommandFixture['call'] = (tool, input, signal = new AbortController().signal) =>
    callTool(tools, tool, input, { signal, state: state('mine') });
  return {
    root,
    call,
    async start(command, more = {}) {
      const { data, text } = await call('run_command', { command, background: true, ...more });
      assert.match(text, /^Started in the background as bg-\w+\./);
      return (data as { readonly id: string }).id;
    },
    remind: (session = 'mine') => background.reminder(1, 10, state(session)),
    close: () => background.close(),
  };
}

const longTimeout = { timeout: 60_000 };
const wait_s = 30;

/** Waits until a process is gone; the timeout of the test is the limit. */
async function waitUntilGone(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await new Promise((wake) => setTimeout(wake, 10));
  }
}

test('a background command returns its id at once, and each check shows the new output', longTimeout, async (t) => {
  const { root, call, start } = setup(t);
  const id = await start(
    'printf "lis"; sleep 0.1; echo tening; until [ -e go ]; do sleep 0.05; done; echo more; exit 3',
  );
  const first = await call('command_output', { id, wait_s, until: 'listening' });
  assert.match(
    first.text,
    /^listening\n\[It has been running for [\d.]+ s\.\]$/,
    'text that is split over two chunks matches',
  );
  assert.match((await call('command_output', { id })).text, /^\[Nothing new\. It has been running for [\d.]+ s\.\]$/);
  writeFileSync(path.join(root, 'go'), '');
  const last = await call('command_output', { id, wait_s });
  assert.deepEqual([last.text, last.data], ['more\n[Exit code: 3.]', { id, ended: true }]);
  assert.equal((await call('command_output', { id, wait_s })).text, '[Nothing new. Exit code: 3.]');
});

test(
  '[fault 31] stopping a command ends it and all its children, even if it ignores signals; stopping again has no effect',
  longTimeout,
  async (t) => {
    const { call, start } = setup(t);
    const id = await start('sleep 600 & trap "" TERM; echo $! up; while :; do sleep 600; done');
    const { text } = await call('command_output', { id, wait_s, until: 'up' });
    assert.equal((await call('stop_command', { id })).text, '[Nothing new. It was stopped.]');
    await waitUntilGone(Number.parseInt(text, 10));
    assert.equal((await call('stop_command', { id })).text, '[Nothing new. It was stopped.]');
  },
);

test('an end that was not read is reported once, to the session that started the command', longTimeout, async (t) => {
  const { call, start, remind } = setup(t);
  assert.equal(remind(), '');
  const seen = await start('exit 4');
  const unseen = await start('echo last words; exit 5');
  await call('command_output', { id: seen, wait_s });
  let said: string | null | undefined;
  while (!said) {
    await new Promise((wake) => setTimeout(wake, 10));
    assert.equal(remind('another'), '');
    said = remind();
  }
  assert.equal(
    said,
    `The background command ${unseen} (echo last words; exit 5) has ended. Exit code: 5. command_output shows what it wrote since the last call.`,
  );
  assert.equal(remind(), '');
  assert.equal((await call('command_output', { id: unseen })).text, 'last words\n[Exit code: 5.]');
});

test(
  '[fault 32] much output between two checks is truncated in the middle, and the rest can be read',
  longTimeout,
  async (t) => {
    const { call, start } = setup(t);
    const id = await start('seq 1 200000; sleep 600');
    const { text } = await call('command_output', { id, wait_s, until: '\n200000\n' });
    assert.match(
      text,
      /^1\n2\n[^]*characters left out[^]*\n200000\n\[It wrote 1288895 bytes; all of it is in \S+: use read_file with offset\. It has been running for/,
    );
    const [, file = ''] = /in (\S+): use read_file/.exec(text) ?? [];
    assert.match((await call('read_file', { path: file, offset: 100_000, limit: 1 })).text, /^100000\n/);
  },
);

test('a background command has a timeout too', longTimeout, async (t) => {
  const { call, start } = setup(t);
  const id = await start('sleep 600', { timeout_s: 1 });
  assert.match(
    (await call('command_output', { id, wait_s })).text,
    /Stopped after 1 s; set timeout_s if it needs longer/,
  );
});

test('an interrupted check leaves the command running', longTimeout, async (t) => {
  const { call, start } = setup(t);
  const id = await start('echo up; sleep 600');
  const stop = new AbortController();
  await call('command_output', { id, wait_s, until: 'up' });
  const looking = call('command_output', { id, wait_s }, stop.signal);
  stop.abort();
  assert.match((await looking).text, /has been running/);
});

test(
  'commands of an earlier process are gone and not restarted; at most sixteen run at once',
  longTimeout,
  async (t) => {
    const { call, start, close } = setup(t);
    for (const tool of ['command_output', 'stop_command'])
      assert.match(
        (await call(tool, { id: 'bg-012345' })).text,
        /^There is no command bg-012345: .* are not restarted\. No other was started\.$/,
      );
    const ids = await Promise.all(Array.from({ length: 16 }, () => start('echo $$; exec sleep 600')));
    assert.equal(new Set(ids).size, 16);
    const full = await call('run_command', { command: 'true', background: true });
    assert.match(full.text, /^16 commands run in the background already; stop one first\.$/);
    const pids = await Promise.all(ids.map((id) => call('command_output', { id, wait_s, until: '\n' })));
    await close();
    await Promise.all(pids.map(({ text }) => waitUntilGone(Number.parseInt(text, 10))));
    assert.match((await call('command_output', { id: ids[0] ?? '' })).text, /^There is no command /);
  },
);

test('a command that is not allowed is refused at once, not in the background', async (t) => {
  const why = new FairleadError('sandbox/absent', 'Commands are not run here.', { blame: 'user' });
  const { call, remind } = setup(t, (workspace) => ({ ...workspace, exec: () => Promise.reject(why) }));
  const { outcome, text } = await call('run_command', { command: 'true', background: true });
  assert.deepEqual([outcome, text], ['failed', 'Commands are not run here.']);
  assert.equal(remind(), '');
  assert.match((await setup(t).call('run_command', { command: '', background: true })).text, /empty/);
});

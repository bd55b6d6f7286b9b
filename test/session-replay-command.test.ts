// The `replay` command as a user runs it: recorded sessions replay offline, and what changed since is shown side by side.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { calls } from '../src/testing/index.ts';
import { createProgram, type TestProgram } from './support/cli-harness.ts';

/** What `replay --json` prints. */
type PrintedReplay = {
  readonly identical: boolean;
  readonly stopped?: string;
  readonly live?: { readonly turns: number; readonly model: string };
  readonly differences: readonly {
    readonly turn: number;
    readonly where: string;
    readonly recorded?: string;
    readonly replayed?: string;
  }[];
};

async function createRecordedProgram(
  t: Parameters<typeof createProgram>[0],
  live: { answer: string | ReturnType<typeof calls> },
): Promise<{ readonly program: TestProgram; readonly session: string }> {
  let recorded = false;
  const program = await createProgram(t, ({ results }) => {
    if (results.length === 0) return calls('read_file', { path: 'notes.txt' });
    return recorded ? live.answer : 'The notes say: buy milk.';
  });
  await program.seedModels('qwen3');
  writeFileSync(path.join(program.cwd, 'notes.txt'), 'buy milk\n');
  const first = await program.run(['What do the notes say?']);
  assert.equal(first.code, 0, first.err);
  recorded = true;
  return { program, session: program.sessions()[0] ?? '' };
}

const parse = (text: string): PrintedReplay => JSON.parse(text) as PrintedReplay;

test('[A51] a recorded session replays offline and is identical; a changed instruction is shown side by side', async (t) => {
  const { program, session } = await createRecordedProgram(t, { answer: '' });
  const requests = program.modelRequests().length;
  const before = program.session(session);
  writeFileSync(path.join(program.cwd, 'notes.txt'), 'changed since\n');
  await program.server.close();
  const same = await program.run(['replay', session]);
  assert.equal(same.code, 0, same.out + same.err);
  assert.match(same.out, /2 turns of qwen3, replayed with recorded answers and results[^]*\nIdentical\.\n$/);
  const json = await program.call(['replay', session, '--json']);
  assert.deepEqual([json.code, parse(json.out).identical, parse(json.out).differences], [0, true, []]);
  writeFileSync(path.join(program.cwd, 'AGENTS.md'), 'Always answer in verse.\n');
  await program.run(['trust', '--yes']);
  const changed = await program.call(['replay', session]);
  assert.equal(changed.code, 1, changed.out + changed.err);
  assert.match(changed.out, /Turn 1\n request: instructions\n +recorded +│ replayed\n[^]*│ .*Always answer in verse\./);
  assert.ok(
    changed.out
      .split('\n')
      .slice(1)
      .every((line) => line.length <= 100),
    'the width is respected',
  );
  const markdown = await program.call(['replay', session, '--markdown']);
  assert.match(markdown.out, /## Turn 1: request: instructions/);
  assert.equal(program.modelRequests().length, requests, 'no model was asked');
  assert.equal(program.session(session), before, 'the session file is unchanged');
});

test('[A51] from a turn on a live model answers with recorded tool results: the same answer is identical, another one is shown', async (t) => {
  const live: { answer: string | ReturnType<typeof calls> } = { answer: 'The notes say: buy milk.' };
  const { program, session } = await createRecordedProgram(t, live);
  writeFileSync(path.join(program.cwd, 'notes.txt'), 'changed since\n');
  const requests = program.modelRequests().length;
  const same = await program.call(['replay', session, '--from', '2', '--json']);
  assert.equal(same.code, 0, same.out + same.err);
  assert.equal(parse(same.out).live?.turns, 1);
  assert.equal(program.modelRequests().length, requests + 1);
  const [sent] = program.modelRequests().slice(-1);
  assert.match(JSON.stringify(sent), /buy milk/);
  assert.doesNotMatch(JSON.stringify(sent), /changed since/, 'the tool returned its recorded result');
  live.answer = 'They say \u001B[31mnothing\u001B[0m.';
  const other = await program.call(['replay', session, '--from', '1']);
  assert.equal(other.code, 1, other.out + other.err);
  assert.match(other.out, /Turn 2\n answer\n[^]*The notes say: buy milk\. +│ They say ␛\[31mnothing␛\[0m\./);
  assert.ok(!other.out.includes('\u001B'), 'text of a model is escaped');
});

test('[A51] a live model that calls what was not recorded stops the replay; live tools run after the approvals', async (t) => {
  const live: { answer: string | ReturnType<typeof calls> } = { answer: calls('read_file', { path: 'other.txt' }) };
  const { program, session } = await createRecordedProgram(t, live);
  const before = readdirSync(program.cwd);
  const stopped = await program.call(['replay', session, '--from', '2']);
  assert.equal(stopped.code, 1, stopped.err);
  assert.match(
    stopped.out,
    /Stopped: The model called read_file with \{"path":"other\.txt"\}, and the recording has no/,
  );
  live.answer = calls('write_file', { path: 'new.txt', content: 'x' });
  const asked = await program.call(['replay', session, '--from', '2', '--live-tools']);
  assert.equal(asked.code, 1, asked.err);
  assert.match(asked.out, /Stopped: A call of write_file waits for approval/);
  assert.ok(!existsSync(path.join(program.cwd, 'new.txt')), 'no approval is assumed');
  assert.deepEqual(readdirSync(program.cwd), before);
  const elsewhere = await program.call(['replay', session, '--from', '2', '--live-tools'], { cwd: program.home });
  assert.deepEqual([elsewhere.code, /folder of the session/.test(elsewhere.err)], [1, true]);
});

test('[A51] a wrong command line of replay is exit code 2, and a turn that does not exist is named', async (t) => {
  const { program, session } = await createRecordedProgram(t, { answer: '' });
  for (const args of [
    [],
    [session, 'x'],
    [session, '--from', '0'],
    [session, '--model', 'qwen3'],
    [session, '--live-tools'],
  ])
    assert.equal((await program.call(['replay', ...args])).code, 2, args.join(' '));
  const missing = await program.call(['replay', session, '--from', '9']);
  assert.deepEqual([missing.code, /no turn 9[^]*turns 1 to 2/.test(missing.err)], [1, true], missing.err);
});

test('[A51] session files of version 0.1 replay without a difference', async (t) => {
  const program = await createProgram(t);
  const folder = path.join(import.meta.dirname, 'fixtures/logs-0.1');
  const files = readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
  assert.ok(files.length > 0);
  for (const name of files) {
    const file = path.join(folder, name);
    const bytes = readFileSync(file);
    const result = await program.call(['replay', file, '--json']);
    assert.equal(result.code, 0, `${name}: ${result.out}${result.err}`);
    assert.deepEqual(readFileSync(file), bytes);
  }
});

test('[A51] sessions with an approved call, without a sandbox and of a sub-agent are identical', async (t) => {
  const steps = [
    calls('load_tools', { names: ['spawn_agent'] }),
    calls('use_tool', { tool: 'spawn_agent', input: { task: 'work' } }),
    calls('write_file', { path: 'a.txt', content: 'x' }),
  ];
  const program = await createProgram(t, ({ body, results }) =>
    JSON.stringify(body).includes('another agent has started') ? 'It is done.' : (steps[results.length] ?? 'done'),
  );
  await program.seedModels('qwen3');
  const first = await program.call(['Work, and write a.txt with x.', '--auto-approve', '--no-sandbox']);
  assert.equal(first.code, 0, first.err);
  const ofAgents = readdirSync(program.data('sessions/agents')).filter((name) => name.endsWith('.jsonl'));
  assert.equal(ofAgents.length, 1);
  for (const session of [...program.sessions(), program.data('sessions/agents', ofAgents[0] ?? '')]) {
    const result = await program.call(['replay', session]);
    assert.equal(result.code, 0, `${session}: ${result.out}${result.err}`);
  }
});

test('[A23, A51] a session file that was changed is told by trace and replay, and a file without a turn has nothing to replay', async (t) => {
  const { program, session } = await createRecordedProgram(t, { answer: '' });
  const file = path.join(program.home, 'changed.jsonl');
  writeFileSync(file, program.session(session).replace('The notes say', 'The notes lie'));
  for (const command of ['replay', 'trace']) {
    const changed = await program.run([command, file]);
    assert.equal(changed.code, 0, changed.err);
    assert.match(changed.err, /^The session is damaged: Line \d+ was changed outside the program\./);
    assert.doesNotMatch((await program.run([command, session])).err, /damaged/);
  }
  writeFileSync(file, '');
  const empty = await program.run(['replay', file]);
  assert.deepEqual([empty.code, empty.out], [1, '']);
  assert.match(empty.err, /There is no turn in /);
});

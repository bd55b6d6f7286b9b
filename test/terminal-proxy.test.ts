// Tests the `fairlead proxy` command with the real program: it listens, applies rules, ends on a signal, and continues after a restart.
import assert from 'node:assert/strict';
import test from 'node:test';
import { calls } from '../src/testing/index.ts';
import { chatLoop, createClient } from './support/client-loops.ts';
import { createProgram, waitUntil, type TestProgram, type RunningProgram } from './support/cli-harness.ts';
import { writeFiles } from './support/program-dirs.ts';

const rules = `name: house
gates:
  - type: deny
    tools: [run]
    when: { fact: argument, field: command, contains: rm }
    reason: Nothing is deleted here.
reminders:
  - name: another-way
    on: tool-ended
    when: { fact: failures, tool: run, atLeast: 1 }
    message: Read the error before you try again.
`;

/** Starts a proxy and waits for its URL. */
async function startProxy(
  program: TestProgram,
  args: readonly string[],
): Promise<{ readonly url: string; readonly running: RunningProgram }> {
  const running = program.start(['proxy', '--target', program.server.url, '--port', '0', ...args]);
  const address = (): string | undefined => /Listening at (http:\/\/127\.0\.0\.1:\d+)/.exec(running.err())?.[1];
  await waitUntil(`the proxy listens: ${running.err()}`, () => address() !== undefined, 30_000);
  return { url: address() ?? '', running };
}

test('[M42, M46] fairlead proxy applies a file of rules, saves the conversation, and continues it after a restart', async (t) => {
  const script = [calls('run', { command: 'rm -r' }), calls('run', { command: 'bad' }), 'Done.', 'Still done.'];
  const program = await createProgram(t, script);
  writeFiles(program.cwd, { 'house.yaml': rules });
  const first = await startProxy(program, ['--rules', 'house.yaml']);
  const client = createClient.openai(first.url);
  const ran: string[] = [];
  const loop = chatLoop(client, { streamed: true, run: (command) => (ran.push(command), 'Error: no') });
  assert.equal(await loop.run('Go.'), 'Done.');
  first.running.kill('SIGTERM');
  assert.equal((await first.running.ended).code, 143);
  assert.deepEqual(ran, ['bad']);
  const again = await startProxy(program, ['--rules', '.']);
  client.baseURL = `${again.url}/v1`;
  assert.equal(await loop.run('And now?'), 'Still done.');
  again.running.kill('SIGINT');
  const { code, err } = await again.running.ended;
  assert.equal(code, 130);
  assert.ok(!err.includes('Bearer'));
  const [before, after] = program
    .modelRequests()
    .slice(-2)
    .map(({ body }) => (body as { messages: unknown[] }).messages);
  for (const text of ['System reminders', 'Nothing is deleted here.', 'Read the error before'])
    assert.ok(JSON.stringify(before).includes(text), text);
  assert.deepEqual(after?.slice(0, before?.length), before, 'the prefix is unchanged after the restart');
});

test('fairlead proxy does not start with broken rules, without a target, or on a public address without a token', async (t) => {
  const program = await createProgram(t);
  writeFiles(program.cwd, { 'broken.yaml': 'name: [' });
  const target = ['proxy', '--target', program.server.url, '--port', '0'];
  const ended = await Promise.all([
    program.run(['proxy']),
    program.call([...target, '--port', 'many']),
    program.call([...target, '--rules', 'broken.yaml']),
    program.call([...target, '--rules', 'nowhere']),
    program.call([...target, '--host', '0.0.0.0']),
    program.call(['proxy', '--target', 'ftp://x', '--port', '0']),
    program.call(['proxy', '--help']),
  ]);
  assert.deepEqual(
    ended.map(({ code }) => code),
    [2, 2, 1, 1, 1, 1, 0],
  );
  const text = [
    /--target is needed/,
    /from 0 to 65535/,
    /cannot be used/,
    /cannot be used/,
    /needs a token/,
    /not the address/,
  ];
  for (const [i, said] of text.entries()) assert.match(ended[i]?.err ?? '', said);
  assert.match(ended[6]?.out ?? '', /^Usage: fairlead proxy --target/);
});

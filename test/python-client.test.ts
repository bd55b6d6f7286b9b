// A Python client whose requests have the shape of CrewAI, through the proxy: rules apply, and everything else passes unchanged.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { openProxy } from '../src/bridges/index.ts';
import type { Gate } from '../src/core/index.ts';
import { compileRuleSet } from '../src/rules/index.ts';
import { calls, says, scriptedServer, type ScriptedServer, type ScriptStep } from '../src/testing/index.ts';

const skip = spawnSync('python3', ['--version']).status === 0 ? false : 'python3 is not installed';
const client = path.join(import.meta.dirname, 'support/crew-client.py');

const denyDelete: Gate = ({ input }) =>
  JSON.stringify(input).includes('rm') ? { type: 'deny', reason: 'Nothing is deleted here.' } : { type: 'allow' };
const reminders = compileRuleSet({
  name: 'crew',
  reminders: [{ name: 'read-the-error', on: 'tool-ended', message: 'Read the error before you try again.' }],
});

type Outcome = { readonly answer: string; readonly ran: readonly string[] };

/** Runs the Python client against a proxy in front of a scripted model. */
async function runClient(
  t: TestContext,
  style: 'functions' | 'text',
  script: readonly ScriptStep[],
): Promise<{ readonly outcome: Outcome; readonly server: ScriptedServer }> {
  const server = await scriptedServer(script);
  const proxy = await openProxy({ target: server.url, port: 0, extensions: [{ gates: [denyDelete] }, reminders] });
  t.after(async () => {
    await proxy.close();
    await server.close();
  });
  const child = spawn('python3', [client, proxy.url, style], { stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  let problems = '';
  child.stdout.on('data', (piece: Buffer) => (out += piece.toString()));
  child.stderr.on('data', (piece: Buffer) => (problems += piece.toString()));
  const code = await new Promise((resolve) => child.on('close', resolve));
  assert.equal(code, 0, problems);
  return { outcome: JSON.parse(out) as Outcome, server };
}

type ChatBody = { readonly messages: readonly { readonly role: string; readonly content: unknown }[] } & Readonly<
  Record<string, unknown>
>;

test(
  '[M42] a Python client with CrewAI’s functions works through the proxy: a denied call does not reach it, and reminders reach the model',
  { skip },
  async (t) => {
    const { outcome, server } = await runClient(t, 'functions', [
      calls('run', { command: 'rm -r /var' }),
      calls('run', { command: 'df' }),
      says('There is space again.'),
    ]);
    assert.deepEqual(outcome, { answer: 'There is space again.', ran: ['df'] });
    const bodies = server.requests.map(({ body }) => body as ChatBody);
    assert.equal(bodies.length, 3);
    assert.match(JSON.stringify(bodies[1]), /Nothing is deleted here/);
    assert.match(JSON.stringify(bodies[2]), /Read the error before you try again/);
    for (const [index, body] of bodies.entries()) {
      assert.deepEqual([body['model'], body['temperature'], body['tool_choice']], ['gpt-4o', 0.7, 'auto']);
      const before = bodies[index - 1]?.messages ?? [];
      assert.deepEqual(body.messages.slice(0, before.length), before, 'each request extends the one before');
    }
    assert.equal(server.requests[0]?.headers['user-agent'], 'OpenAI/Python 2.8.0');
  },
);

test(
  '[M42] a Python client with CrewAI’s text loop works through the proxy: its stop sequence and prompts arrive unchanged',
  { skip },
  async (t) => {
    const { outcome, server } = await runClient(t, 'text', [
      says('Thought: look\nAction: run\nAction Input: {"command": "df"}'),
      says('Thought: I know\nFinal Answer: There is space.'),
    ]);
    assert.deepEqual(outcome, { answer: 'Thought: I know\nFinal Answer: There is space.', ran: ['df'] });
    const [first, second] = server.requests.map(({ body }) => body as ChatBody);
    assert.deepEqual([first?.['stop'], second?.['stop']], [['\nObservation:'], ['\nObservation:']]);
    assert.match(JSON.stringify(first?.messages), /Your personal goal is: Free disk space/);
    assert.match(JSON.stringify(first?.messages), /Current Task: Free disk space/);
    assert.match(JSON.stringify(second?.messages), /Observation: Error: not found/);
  },
);

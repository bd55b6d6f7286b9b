// Releases and the kinds of runs in the real program: verifications and plans use the release, and so do the sessions of a server.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { isObject, type FleetRun, type JsonObject } from '../src/core/index.ts';
import { says } from '../src/testing/index.ts';
import { createProgram, waitUntil, type TestProgram } from './support/cli-harness.ts';
import { writeFiles } from './support/program-dirs.ts';
import { respondAsModel } from './support/scripted-judges.ts';

const models = ['qwen3', 'llama3.2', 'mistral-small', 'gemma3'].map((id) => ({ id, tools: true, context: 32_768 }));
const capital = 'Canberra is the capital of Australia.';

const readSystem = (body: JsonObject): string => {
  const messages = Array.isArray(body['messages']) ? body['messages'] : [];
  const system = messages.find((message) => isObject(message) && message['role'] === 'system');
  return isObject(system) ? String(system['content']) : '';
};

/** A program with a release in a folder of its own; its agent uses another model than the user. */
async function createReleasedProgram(t: TestContext): Promise<{
  readonly program: TestProgram;
  readonly folder: string;
  readonly id: string;
}> {
  const program = await createProgram(
    t,
    ({ prompt, body }) => {
      if (prompt.includes('Make a plan'))
        return says(JSON.stringify({ steps: [{ id: 'a', task: 'Say hello.', after: [] }] }));
      if (/Talk like a pirate/.test(JSON.stringify(body))) return says('Arr!');
      return respondAsModel({ answer: () => capital }, readSystem(body), prompt);
    },
    { models },
  );
  await program.seedModels('qwen3');
  const agent = path.join(program.home, 'agent');
  const folder = path.join(program.home, 'shared-releases');
  writeFiles(agent, { 'AGENTS.md': 'Talk like a pirate.', 'config.json': JSON.stringify({ model: 'ollama/gemma3' }) });
  const release = async (...args: readonly string[]): Promise<string> => {
    const { code, out, err } = await program.run(['release', ...args, '--releases', folder]);
    assert.equal(code, 0, err);
    return out;
  };
  await release('key');
  const id = (await release('create', agent, '--name', 'pirate')).slice(0, 20);
  await release('promote', 'pirate', '--no-gate', '--share', '1');
  // A manifest that cannot be read belongs to another release.
  writeFileSync(path.join(folder, 'manifests', `${'0'.repeat(20)}.json`), '{');
  return { program, folder, id };
}

const askedModels = (program: TestProgram): readonly unknown[] =>
  program.modelRequests().map(({ body }) => (isObject(body) ? body['model'] : undefined));

test('[A114] verifications and plans run on the release, and a manifest that cannot be read stops no worker', async (t) => {
  const { program, folder, id } = await createReleasedProgram(t);
  const tasks = [
    { id: 'check', prompt: 'What is the capital of Australia?', kind: 'verify' },
    { id: 'steps', prompt: 'Greet the crew.', kind: 'plan' },
  ];
  writeFileSync(path.join(program.cwd, 'tasks.jsonl'), tasks.map((task) => JSON.stringify(task)).join('\n'));
  assert.equal((await program.run(['enqueue', '--file', 'tasks.jsonl'])).code, 0);
  const worked = await program.run(['worker', '--drain', '--releases', folder]);
  assert.equal(worked.code, 0, worked.err);
  for (const [run, text] of [
    ['check', /Canberra/],
    ['steps', /^Arr!$/],
    ['steps/plan-1', /steps/],
  ] as const) {
    const shown = await program.run(['runs', 'show', run, '--json']);
    const { outcome } = JSON.parse(shown.out) as FleetRun;
    assert.deepEqual([outcome?.reason, outcome?.release], ['answered', id], shown.out);
    assert.match(outcome?.text ?? '', text);
  }
  // The author is the model of the release; the others judge.
  assert.equal(askedModels(program)[0], 'gemma3');
  const list = await program.run(['release', 'list', '--releases', folder]);
  assert.deepEqual([list.out.includes('pirate'), list.err.includes('0'.repeat(20))], [true, true], list.err);
});

test('[A114] a session of the server records the release of fairlead serve --releases, and uses its model and prompts', async (t) => {
  const { program, folder, id } = await createReleasedProgram(t);
  const operator = 'a-key-that-operates-all';
  const server = program.start(['serve', '--port', '0', '--releases', folder], { env: { HARNESS_API_KEY: operator } });
  t.after(() => server.kill('SIGKILL'));
  await waitUntil('it listens', () => /Listening at \S+\n/.test(server.err()), 30_000);
  const url = /Listening at (\S+)/.exec(server.err())?.[1] ?? '';
  const send = async (address: string, body?: JsonObject): Promise<JsonObject> => {
    const answer = await fetch(url + address, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${operator}`, 'content-type': 'application/json', prefer: 'wait=60' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return (await answer.json()) as JsonObject;
  };
  let session: string | undefined;
  for (let turn = 0; turn < 2; turn++) {
    const reply = await send('/api/runs', { prompt: 'Say hello.', ...(session === undefined ? {} : { session }) });
    const run = (isObject(reply['run']) ? reply['run'] : reply) as unknown as FleetRun;
    assert.deepEqual([run.outcome?.text, run.outcome?.release], ['Arr!', id], JSON.stringify(reply));
    session = run.session;
  }
  assert.deepEqual([...new Set(askedModels(program))], ['gemma3']);
  assert.match(JSON.stringify(await send('/api/releases')), new RegExp(`"id":"${id}"[^}]*"use":"current"`));
  const events = JSON.stringify(await send(`/api/sessions/${session}`));
  assert.equal(events.split(`"id":"${id}"`).length - 1, 2, 'each run in the session names its release');
});

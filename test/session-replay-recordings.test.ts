// Replays of all recorded sessions of the repository: the whole is identical, and a session that is run again sends the same requests byte for byte.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { resolveAgent, Session, tool } from '../src/agent/index.ts';
import {
  canonicalJson,
  createRecordedProvider,
  isObject,
  readRecordedTurns,
  branchOfLastEvent,
  toArray,
  toJson,
  type Event,
  type ModelRequest,
} from '../src/core/index.ts';
import { replaySession } from '../src/sessions/index.ts';
import { memoryLog, openJsonl } from '../src/stores/index.ts';
import { calls, scriptedProvider } from '../src/testing/index.ts';
import { createProgram } from './support/cli-harness.ts';

const root = path.resolve(import.meta.dirname, '..');

/** Every file of a session in the folders of tests and examples. */
const recordings = ['test', 'examples'].flatMap((folder) =>
  readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.jsonl') && !entry.parentPath.includes('node_modules'))
    .map((entry) => path.join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file, 'utf8').includes('"type":"session-started"')),
);

/** A file with each type of fact, written by hand: its last input is in no state that a run leads to, so it is not run again. */
const handWritten = path.join(root, 'test/fixtures/session-v1.jsonl');

async function readEvents(file: string): Promise<readonly Event[]> {
  const log = await openJsonl(file, { mode: 'read' });
  const events: Event[] = [];
  for await (const batch of log.read()) events.push(...batch);
  await log.close();
  return events;
}

const formatRequest = ({ system, tools, toolChoice, messages }: ModelRequest): string =>
  canonicalJson(toJson({ system, tools, toolChoice, messages: toArray(messages) }));

test('[A51] every recorded session of the repository replays whole without a difference', async () => {
  assert.ok(recordings.length >= 2, recordings.join(', '));
  for (const file of recordings) {
    const { identical, differences, turns } = await replaySession(await readEvents(file));
    assert.deepEqual([identical, differences], [true, []], file);
    assert.ok(turns > 0, file);
  }
});

/** Runs a session again with its answers, and compares the requests with those of then. */
async function assertSameRequests(events: readonly Event[], name: string): Promise<void> {
  const recorded = readRecordedTurns(branchOfLastEvent(events));
  const sent: string[] = [];
  const provider = createRecordedProvider(events, { onRequest: (request) => void sent.push(formatRequest(request)) });
  const { differences } = await replaySession(events, { from: recorded[0]?.turn ?? 1, live: { provider } });
  assert.deepEqual(differences, [], name);
  assert.deepEqual(
    sent,
    recorded.map(({ request }) => formatRequest(request)),
    name,
  );
}

test('[A51] a recorded session that is run again with its answers sends the same requests byte for byte', async () => {
  for (const file of recordings.filter((each) => each !== handWritten))
    await assertSameRequests(await readEvents(file), file);
});

test('[A51] tools keep their order in the requests of a replay, also if only the last one was called', async () => {
  const tools = ['look', 'list', 'count'].map((name) =>
    tool({ name, description: name, inputSchema: { type: 'object' }, effect: 'read', execute: async () => 'three' }),
  );
  const provider = scriptedProvider([calls('count', {}), 'Three.']);
  const log = memoryLog();
  await (await Session.open(resolveAgent({ provider, system: 's', tools }), log)).advance('Count.');
  await assertSameRequests(log.events, 'a session with three tools');
});

test('[A51] replay --from sends the request of then byte for byte, and --model only another model', async (t) => {
  const program = await createProgram(
    t,
    ({ results }) => (results.length === 0 ? calls('list_files', { path: '.' }) : 'One file.'),
    { models: ['qwen3', 'llama3.2'].map((id) => ({ id, tools: true, context: 32_768 })) },
  );
  await program.seedModels('qwen3');
  writeFileSync(path.join(program.cwd, 'notes.txt'), 'buy milk\n');
  const first = await program.run(['Which files are there?']);
  assert.equal(first.code, 0, first.err);
  const [session = ''] = program.sessions();
  const bodies = (): readonly unknown[] => program.modelRequests().map(({ body }) => body);
  const answered = bodies().findLast((body) => JSON.stringify(body).includes('notes.txt'));
  const replay = async (...options: readonly string[]): Promise<unknown> => {
    const before = bodies().length;
    const { code, out, err } = await program.run(['replay', session, '--from', '2', ...options, '--json']);
    assert.equal(code, 0, out + err);
    assert.equal(bodies().length, before + 1, 'one live turn');
    return bodies().at(-1);
  };
  assert.equal(JSON.stringify(await replay()), JSON.stringify(answered));
  const other = await replay('--model', 'llama3.2');
  assert.ok(isObject(answered) && isObject(other));
  assert.deepEqual([answered['model'], other['model']], ['qwen3', 'llama3.2']);
  assert.equal(JSON.stringify({ ...other, model: 'qwen3' }), JSON.stringify(answered));
});

// Tests of the evidence of a session: results of reading tools; what the model could choose is marked, and text of models is left out.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { verifyAnswer } from '../../checks/index.ts';
import type { Event, Fact, Json } from '../../core/index.ts';
import { carriesText, isOwnHost } from './fetched-address.ts';
import { collectSessionEvidence, type SessionEvidenceOptions } from './session-evidence.ts';
import { createAgeLookup } from './workspace-files.ts';

const toEvents = (facts: readonly Fact[]): readonly Event[] =>
  facts.map((fact, i) => ({ ...fact, seq: i + 1, id: `e${i}`, parent: null, time: '2026-01-01T00:00:00Z' }));

const called = (tool: string, input: Json, text: string, data?: Json, outcome: 'ok' | 'failed' = 'ok'): Fact[] => [
  {
    type: 'turn-ended',
    turn: 1,
    message: { role: 'assistant', parts: [{ type: 'tool-call', id: 'x', tool, input }] },
    finishReason: 'tool-calls',
    usage: {},
    model: 'm',
    ms: 0,
  },
  { type: 'tool-ended', call: 'x', outcome, text, ms: 0, ...(data === undefined ? {} : { data }) },
];

/** The numbers of the events that are evidence; with a minus if the model could choose the text. */
const seqs = (facts: readonly (readonly Fact[])[], options?: SessionEvidenceOptions): readonly number[] =>
  collectSessionEvidence(toEvents(facts.flat()), options).map(({ source, isChosen }) =>
    source.type === 'event' ? source.seq * (isChosen ? -1 : 1) : 0,
  );

const fact = 'Sydney is the capital of Australia.';
const read = called('read_file', { path: 'docs/a.md' }, fact, { path: 'docs/a.md', hash: 'h' });

test('[A125] results of reading tools are evidence; failed ones, and those that repeat what the model wrote, are not', () => {
  assert.deepEqual(
    seqs([read, called('read_file', {}, 'no', undefined, 'failed'), called('grep', { pattern: 'x' }, ' ')]),
    [2],
  );
  assert.deepEqual(seqs([called('run_command', { command: `echo "${fact}"` }, `${fact}\n`)]), []);
  assert.deepEqual(seqs([called('web_search', { query: fact }, `Results for: ${fact}`)]), [-2]);
  assert.deepEqual(seqs([called('web_search', { query: 'capital Australia' }, fact)]), [2]);
  assert.deepEqual(seqs([read, called('edit_file', { old: fact, new: 'x' }, 'Changed.')]), [-4, 2], 'read before');
});

test('[A125] the output of a command is marked as chosen by the model, however it is made', () => {
  const encoded = Buffer.from(fact).toString('base64');
  for (const command of [
    "printf '%s %s' 'Sydney is the' 'capital of Australia.'",
    `echo ${encoded} | base64 -d`,
    "python3 -c \"print('Sydney is the ' + 'capital of Australia.')\"",
    'cat docs/a.md',
  ])
    assert.deepEqual(seqs([called('run_command', { command }, fact)]), [-2], command);
  for (const tool of ['run_code', 'mcp__db__query', 'handle_read', 'delegate'])
    assert.deepEqual(seqs([called(tool, { q: 'x' }, fact)]), [-2], tool);
});

test('[A125] a file that the session wrote, or may have written, is no evidence when it is read', () => {
  const patch = called('write_file', { path: './docs/a.md', content: 'Sydney' }, 'Written.', { path: 'docs/a.md' });
  assert.deepEqual(seqs([patch, read]), [-4, -2]);
  assert.deepEqual(seqs([patch, called('grep', { pattern: 'S' }, `docs/a.md:1: ${fact}`)]), [-4, -2]);
  assert.deepEqual(seqs([patch, called('read_file', { path: 'b.md' }, fact, { path: 'b.md', hash: 'h' })]), [4, -2]);
  const command = called('run_command', { command: 'make notes' }, 'Done.');
  assert.deepEqual(seqs([command, read]), [-4, -2]);
  assert.deepEqual(seqs([called('spawn_agent', { task: 'x' }, 'Done.'), read]), [-4]);
  assert.deepEqual(seqs([called('run_command', { command: 'ls -l docs' }, 'a.md'), read]), [4, -2], 'it only prints');
  assert.deepEqual(seqs([called('run_command', { command: 'cat x > docs/a.md' }, 'a.md'), read]), [-4, -2]);
  assert.deepEqual(seqs([command, read], { isOlder: (file, hash) => file === 'docs/a.md' && hash === 'h' }), [4, -2]);
});

test('[A125] the age of a file: its content and the time of its last change of status decide', (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'age-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(path.join(folder, 'a.md'), fact);
  const hash = createHash('sha256').update(fact).digest('hex');
  const isOlder = createAgeLookup(folder);
  const later = new Date(Date.now() + 60_000);
  assert.equal(isOlder('a.md', hash, later), true);
  assert.equal(isOlder('a.md', hash, new Date(Date.now() - 60_000)), false);
  assert.equal(isOlder('a.md', '0'.repeat(64), later), false);
  assert.equal(isOlder('b.md', hash, later), false);
});

test('[A125] an address that carries the words, and a server of this machine, are no evidence', () => {
  for (const url of [
    `https://echo.example/base64/${Buffer.from(fact).toString('base64')}`,
    `https://echo.example/?say=${encodeURIComponent(fact)}`,
    'https://echo.example/Sydney+is+the+capital',
    'data:text/plain,Sydney',
  ])
    assert.equal(carriesText(url), true, url);
  for (const url of ['https://en.example.org/wiki/Capital_of_Australia?action=raw', 'https://a.example/docs/'])
    assert.equal(carriesText(url), false, url);
  assert.deepEqual(
    ['http://localhost:1/', 'http://127.0.0.1/', 'http://[::1]/a', 'https://example.org/a'].map(isOwnHost),
    [true, true, true, false],
  );
  assert.equal(carriesText(`https://a.example/${'a'.repeat(100_000)}`), false);
});

test('[A125] [A34] a claim that only rests on output of a command or on a sub-agent is not verified', async () => {
  const question = 'What is the capital of Australia?';
  for (const [tool, input] of [
    ['run_command', { command: `echo ${Buffer.from(fact).toString('base64')} | base64 -d` }],
    ['spawn_agent', { task: 'Find out which city is the capital.' }],
    ['delegate', { task: 'Find out which city is the capital.' }],
  ] as const) {
    const events = toEvents(called(tool, input, fact));
    const report = await verifyAnswer({ question, answer: fact, events, evidence: collectSessionEvidence(events) });
    assert.equal(report.outcome, 'not-verified', tool);
  }
  const events = toEvents(read);
  const report = await verifyAnswer({ question, answer: fact, events, evidence: collectSessionEvidence(events) });
  assert.equal(report.outcome, 'verified');
});

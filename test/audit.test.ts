// The `audit` command as a user runs it: approvals, denials and runs of recorded sessions, and what was changed in a session or an export.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { listAuditRecords } from '../src/sessions/index.ts';
import type { Event, Fact } from '../src/core/index.ts';
import { createProgram } from './support/cli-harness.ts';
import { writeFiles } from './support/program-dirs.ts';
import { calls } from '../src/testing/index.ts';

const limits = { turns: 9, errors: 3, maxRetriesPerAnswer: 1, stuckAfter: 3, outputChars: 1000 };

function toEvents(facts: readonly Fact[]): readonly Event[] {
  return facts.map((fact, i) => ({
    ...fact,
    seq: i + 1,
    id: `e${i + 1}`,
    parent: i === 0 ? null : `e${i}`,
    time: `2026-01-0${i < 6 ? 1 : 2}T00:00:0${i % 10}.000Z`,
  }));
}

test('[A114] an audit names the user, the gate, the release and the cost, and filters by time', () => {
  const message = {
    role: 'assistant',
    parts: ['pay', 'mail'].map((tool) => ({ type: 'tool-call', id: tool, tool, input: {} }) as const),
  } as const;
  const events = toEvents([
    { type: 'session-started', session: 's' },
    { type: 'epoch-started', epoch: 1, reason: 'started', system: '', tools: [], model: 'm1' },
    { type: 'annotation-added', key: 'release', value: { run: 'r1', id: 'abc' } },
    { type: 'run-started', run: 'r1', limits, policies: { policy: 'f00' } },
    { type: 'turn-ended', turn: 1, message, finishReason: 'tool-calls', usage: {}, usd: 0.5, model: 'm1', ms: 1 },
    { type: 'approval-requested', call: 'pay', question: 'Pay 5?', by: { kind: 'flow', name: 'amount' } },
    { type: 'approval-resolved', call: 'pay', allowed: true, by: 'ann' },
    {
      type: 'tool-ended',
      call: 'mail',
      outcome: 'denied',
      text: 'No mail.',
      deniedBy: { kind: 'policy', name: 'no-mail' },
      ms: 1,
    },
    { type: 'approval-requested', call: 'mail', question: 'Mail?' },
    { type: 'run-ended', reason: 'answered' },
  ]);
  const all = listAuditRecords('s', events);
  assert.deepEqual(
    all.map(({ type }) => type),
    ['run', 'approval', 'denial', 'approval'],
  );
  const [run, approval, denial, open] = all;
  assert.ok(
    run?.type === 'run' && approval?.type === 'approval' && denial?.type === 'denial' && open?.type === 'approval',
  );
  assert.deepEqual(run.policies, { policy: 'f00' });
  assert.deepEqual([run.release, run.model, run.reason, run.usd, run.turns], ['abc', 'm1', 'answered', 0.5, 1]);
  assert.deepEqual(
    [approval.tool, approval.question, approval.askedBy?.kind, approval.decision, approval.by, approval.run],
    ['pay', 'Pay 5?', 'flow', 'allowed', 'ann', 'r1'],
  );
  assert.deepEqual([denial.tool, denial.deniedBy?.name], ['mail', 'no-mail']);
  assert.equal(open.decision, 'open');
  assert.deepEqual(listAuditRecords('s', events, (time) => time >= '2026-01-02').length, 2);
});

test('[A114] an audit lists a verification on a release, which has no agent', () => {
  const events = toEvents([
    { type: 'session-started', session: 's' },
    { type: 'annotation-added', key: 'release', value: { run: 'v1', id: 'abc' } },
    {
      type: 'annotation-added',
      key: 'verify',
      value: { run: 'v1', result: { outcome: { reason: 'abstained' } } },
      spent: { turns: 3, usd: 0.25 },
    },
  ]);
  const [run, ...more] = listAuditRecords('s', events);
  assert.deepEqual(more, []);
  assert.ok(run?.type === 'run');
  assert.deepEqual([run.run, run.release, run.reason, run.turns, run.usd], ['v1', 'abc', 'abstained', 3, 0.25]);
});

type AuditLine = {
  readonly type: string;
  readonly session: string;
  readonly chained?: boolean;
  readonly policies?: Readonly<Record<string, string>>;
};

test('[A114] each run records the hashes of the policy, the rules and the flow policy, and an audit shows them without a release', async (t) => {
  const program = await createProgram(t, () => 'done');
  await program.seedModels('qwen3');
  const exportRuns = async (...options: readonly string[]): Promise<readonly AuditLine[]> => {
    const { out, code, err } = await program.run(['audit', '--format', 'jsonl', ...options]);
    assert.equal(code, 0, err);
    const lines = out.trimEnd().split('\n');
    return lines.map((line) => JSON.parse(line) as AuditLine).filter(({ type }) => type === 'run');
  };
  const changes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    policy: { 'policy.yaml': 'rules:\n  - deny: { command: rm }\n' },
    rules: {
      'rules/short.yaml': readFileSync(path.resolve(import.meta.dirname, '../examples/rules/careful.yaml'), 'utf8'),
    },
    flow: { 'declarations.json': JSON.stringify({ tools: { mcp__crm__look: { effect: 'read' } } }) },
  };
  assert.equal((await program.run(['Say something.'])).code, 0);
  for (const files of Object.values(changes)) {
    writeFiles(program.config(), files);
    const { code, err } = await program.run(['Say something.']);
    assert.equal(code, 0, err);
    assert.doesNotMatch(err, /short\.yaml|declarations/, err);
  }
  const hashes = (await exportRuns()).map(({ policies = {} }) => policies);
  assert.deepEqual(Object.keys(hashes[0] ?? {}), ['flow']);
  // A change of one policy changes its hash and no other.
  for (const [i, name] of Object.keys(changes).entries()) {
    const { [name]: before, ...othersBefore } = hashes[i] ?? {};
    const { [name]: after, ...othersAfter } = hashes[i + 1] ?? {};
    assert.match(after ?? '', /^[0-9a-f]{64}$/, name);
    assert.notEqual(after, before, name);
    assert.deepEqual(othersAfter, othersBefore, name);
  }
  const report = await program.run(['audit']);
  assert.match(report.out, /\| policy [0-9a-f]{12}, rules [0-9a-f]{12}, flow [0-9a-f]{12} \| .* \| verified \|/);

  assert.equal((await program.run(['enqueue', 'Say something.', '--id', 'queued'])).code, 0);
  const worked = await program.run(['worker', '--drain']);
  assert.equal(worked.code, 0, worked.err);
  const queued = (await exportRuns('--fleet')).find(({ session }) => session === 'queued');
  assert.deepEqual(queued?.policies, hashes.at(-1), 'a worker records the same policies');
  const fleetReport = await program.run(['audit', '--fleet']);
  assert.match(fleetReport.out, /\| queued \| queued \| .* \| no hash chain: store \|/);
});

test('[A114] an audit of the sessions of a user is exported, checked, and finds a changed session', async (t) => {
  const program = await createProgram(t, ({ results }) =>
    results.length === 0 ? calls('write_file', { path: 'a.txt', content: 'x' }) : 'done',
  );
  await program.seedModels('qwen3');
  const first = await program.run(['Write a.txt with the content x.', '--auto-approve']);
  assert.equal(first.code, 0, first.err);
  const denied = await program.call(['Write a.txt with the content x.']);
  assert.notEqual(denied.code, 0, 'a call without an approval leaves the run waiting');
  const report = await program.run(['audit']);
  assert.equal(report.code, 0, report.err);
  assert.match(report.out, /2 sessions, 2 runs/);
  assert.match(report.out, /\| write_file \| .* \| open \|/);
  const file = path.join(program.home, 'audit.jsonl');
  assert.equal((await program.call(['audit', '--format', 'jsonl', '--output', file])).code, 0);
  assert.equal((await program.call(['audit', '--check', file])).code, 0);
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace('"open"', '"allowed"'));
  const changed = await program.call(['audit', '--check', file]);
  assert.deepEqual([changed.code, /^Line \d+ is not/.test(changed.out)], [1, true]);
  writeFileSync(file, text.trimEnd().split('\n').slice(0, -1).join('\n'));
  assert.equal((await program.run(['audit', '--check', file])).code, 1, 'a line was removed at the end');

  const [session] = program.sessions();
  const sessionFile = program.data('sessions', `session_${session}.jsonl`);
  writeFileSync(sessionFile, readFileSync(sessionFile, 'utf8').replace('a.txt', 'b.txt'));
  const damaged = await program.call(['audit']);
  assert.deepEqual([damaged.code, /are not as they were written/.test(damaged.out)], [1, true], damaged.err);
  assert.equal((await program.call(['audit', '--from', 'yesterday'])).code, 2);
});

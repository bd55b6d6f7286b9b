// Tests of the record of a verification: every supported claim of the log has its evidence there.
import assert from 'node:assert/strict';
import test from 'node:test';
import { verificationKey, type Event, type Fact, type Json } from '../../core/index.ts';
import { formatReport } from './format-report.ts';
import { findClaimsWithoutEvidence, parseVerificationRecord, toVerificationRecord } from './record.ts';
import { verifyAnswer } from './verify-answer.ts';

const toEvents = (facts: readonly Fact[]): readonly Event[] =>
  facts.map((fact, i) => ({ ...fact, seq: i + 1, id: `e${i}`, parent: null, time: '2026-01-01T00:00:00Z' }));

const text = 'The port of the server is 8080.\nThe log is in the folder data.';
const result: Fact = { type: 'tool-ended', call: 'x', outcome: 'ok', text, ms: 0 };
const annotate = (value: Json): Fact => ({ type: 'annotation-added', key: verificationKey, value });

const verify = () =>
  verifyAnswer({
    question: 'What is the port of the server?',
    answer: 'The port of the server is 8080. The server is fast.',
    evidence: [{ source: { type: 'event', seq: 1 }, text }],
  });

test('[A125] a claim that the log calls supported names evidence in the log; a forged or changed record is found', async () => {
  const report = await verify();
  assert.equal(report.outcome, 'verified');
  const record = toVerificationRecord(report);
  assert.deepEqual(findClaimsWithoutEvidence(toEvents([result, annotate(record)])), []);
  assert.match(
    findClaimsWithoutEvidence(toEvents([annotate(record)]))[0] ?? '',
    /names event 1, which is not a result/,
  );
  const other: Fact = { ...result, text: text.replace('8080', '8081') };
  assert.match(findClaimsWithoutEvidence(toEvents([other, annotate(record)]))[0] ?? '', /does not contain/);
  const forged = { ...record, claims: [{ id: 'c1', text: 'x', verdict: 'supported' }] };
  assert.match(findClaimsWithoutEvidence(toEvents([result, annotate(forged)]))[0] ?? '', /names no evidence/);
});

test('[A35] a record is read back as the report that it is of', async () => {
  const report = await verify();
  const read = parseVerificationRecord(JSON.parse(JSON.stringify(toVerificationRecord(report))));
  assert.ok(read);
  assert.equal(formatReport(read), formatReport(report));
  for (const wrong of [undefined, null, {}, { version: 1 }, { version: 2, claims: [] }, 'x'])
    assert.equal(parseVerificationRecord(wrong), undefined);
});

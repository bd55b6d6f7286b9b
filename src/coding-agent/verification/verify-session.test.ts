// Tests of the verdict of a verification: which answer is handed on.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { CheckedClaim, VerificationReport } from '../../checks/index.ts';
import { toVerdict } from './verify-session.ts';

const claim = (type: 'supported' | 'unverifiable'): CheckedClaim => ({
  id: 'c1',
  text: 'x',
  span: { start: 0, end: 1 },
  verdict:
    type === 'unverifiable'
      ? { type, why: '' }
      : {
          type,
          why: '',
          decidedBy: 'exact',
          verifier: 'verbatim',
          evidence: [{ source: { type: 'given', name: 'a' }, text: 'x' }],
        },
});

const report = (draft: string, claims: readonly CheckedClaim[]): VerificationReport => ({
  outcome: 'verified',
  why: '',
  draft,
  answer: `${draft} [1]`,
  verifiedText: draft,
  claims,
  citations: [],
  judges: [],
  quorum: 2,
  spent: { requests: 0, input: 0, output: 0, usd: 0, requestsWithoutPrice: 0, ms: 0 },
});

test('[A36] text is handed on with its citations, JSON unchanged and only if all of it is supported', () => {
  const both = [claim('supported'), claim('unverifiable')];
  assert.deepEqual(toVerdict(report('A. B.', both)), { type: 'passed', text: 'A. B. [1]' });
  assert.deepEqual(toVerdict(report('{"a": 1}', [claim('supported')])), { type: 'passed' });
  const partly = toVerdict(report('{"a": 1}', both));
  assert.ok(partly.type === 'abstained' && partly.text !== undefined && !partly.text.includes('"a"'));
  assert.deepEqual(toVerdict(report('{not JSON', both)), { type: 'passed', text: '{not JSON [1]' });
});

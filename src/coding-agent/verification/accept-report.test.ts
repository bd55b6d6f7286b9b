// Tests of the target error rate: the samples that it draws are a part of the budget.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import {
  calibrate,
  computeRiskCoverage,
  createMeter,
  verifyAnswer,
  type VerificationReport,
  type VerifyBudget,
  type VerifyModel,
} from '../../checks/index.ts';
import { saveCalibration } from '../calibrations/index.ts';
import type { Settings } from '../settings/index.ts';
import { acceptReport } from './accept-report.ts';

function createDirs(t: TestContext): Settings['dirs'] {
  const data = mkdtempSync(path.join(tmpdir(), 'accept-'));
  t.after(() => rmSync(data, { recursive: true }));
  const dirs = { data } as Settings['dirs'];
  const outcomes = Array.from({ length: 80 }, () => ({ confidence: 0.5, correct: true }));
  saveCalibration(dirs, {
    ...calibrate({ outcomes, maxErrorRate: 0.05, probability: 0.95 }),
    version: 1,
    model: 'm',
    task: 'questions',
    verifier: 'samples-1',
    when: new Date(0).toISOString(),
    dataset: '0'.repeat(64),
    curve: computeRiskCoverage(outcomes),
  });
  return dirs;
}

const answer = '2 + 2 = 4.';

async function accept(t: TestContext, budget: VerifyBudget): Promise<VerificationReport & { readonly asked: number }> {
  let asked = 0;
  const author: VerifyModel = {
    name: 'm',
    family: 'f',
    async ask() {
      asked += 1;
      return { text: answer, spent: { input: 10, output: 5, usd: 1 } };
    },
  };
  const meter = createMeter(budget);
  const report = await verifyAnswer({ answer, author, meter });
  const options = { settings: { dirs: createDirs(t) }, maxErrorRate: 0.05, author, question: '2 + 2?', meter };
  return { ...(await acceptReport(report, options)), asked };
}

test('[A2] [A25] samples for a target error rate are counted, and a budget that does not reach is an abstention', async (t) => {
  const accepted = await accept(t, {});
  assert.deepEqual([accepted.outcome, accepted.asked], ['verified', 5]);
  assert.deepEqual([accepted.spent.requests, accepted.spent.usd], [5, 5]);
  for (const [budget, asked] of [
    [{ requests: 0 }, 0],
    [{ requests: 2 }, 2],
    [{ usd: 2 }, 2],
  ] as const) {
    const refused = await accept(t, budget);
    assert.deepEqual([refused.outcome, refused.asked, refused.spent.requests], ['abstained', asked, asked]);
    assert.match(refused.why, /budget does not reach/);
  }
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { binomialCdf, binomialUpperBound } from '../binomial.ts';
import {
  calibrate,
  computeAuroc,
  computeRiskCoverage,
  createRandom,
  decide,
  formatRiskCoverage,
  minLabels,
  parseLabels,
  parseStoredCalibration,
  toOutcomes,
  type Outcome,
} from './index.ts';

const target = { maxErrorRate: 0.05, probability: 0.95 };

/** Draws outcomes whose probability of an error depends on the confidence. */
function simulate(
  count: number,
  errorAt: (confidence: number) => number,
  random: () => number,
  steps = 0,
): readonly Outcome[] {
  return Array.from({ length: count }, () => {
    const drawn = random();
    const confidence = steps === 0 ? drawn : Math.round(drawn * steps) / steps;
    return { confidence, correct: random() >= errorAt(confidence) };
  });
}

const equal = (count: number, wrong: number, confidence = 0.9): readonly Outcome[] =>
  Array.from({ length: count }, (_, i) => ({ confidence, correct: i >= wrong }));

test('[A47] it abstains until enough labels exist: 59 correct ones for 5 % at 95 %', () => {
  assert.equal(minLabels(target), 59);
  for (const count of [0, 1, 10, 58]) {
    const few = calibrate({ outcomes: equal(count, 0), ...target });
    assert.equal(few.threshold, undefined);
    assert.match(few.why, new RegExp(`There are ${count} labels; .* need 59 or more`));
    assert.deepEqual(decide(1, few), { type: 'abstain', why: few.why });
  }
  assert.equal(calibrate({ outcomes: equal(59, 0), ...target }).threshold, 0.9);
  assert.equal(calibrate({ outcomes: equal(59, 1), ...target }).threshold, undefined);
});

test('[A47] without a calibration, a confidence or a threshold the decision is to abstain', () => {
  const calibrated = calibrate({ outcomes: equal(100, 0), ...target });
  assert.equal(decide(0.95, undefined).type, 'abstain');
  for (const confidence of [undefined, Number.NaN, -1, 1.01, Number.POSITIVE_INFINITY, 0.899])
    assert.equal(decide(confidence, calibrated).type, 'abstain', String(confidence));
  assert.equal(decide(0.9, calibrated).type, 'accept');
  assert.equal(decide(0.9, { ...calibrated, threshold: Number.NaN }).type, 'abstain');
});

test('[A46] the threshold accepts as much as the exact bound allows, and no more', () => {
  const outcomes = Array.from({ length: 400 }, (_, i) => ({
    confidence: 1 - i / 400,
    correct: i < 200 || i % 2 === 0,
  }));
  const { threshold = 1, accepted } = calibrate({ outcomes, ...target });
  const above = outcomes.filter(({ confidence }) => confidence >= threshold);
  assert.deepEqual([above.length, above.filter(({ correct }) => !correct).length], [accepted?.count, accepted?.errors]);
  assert.ok((accepted?.count ?? 0) > 200 && (accepted?.errors ?? 0) > 0);
  assert.ok((accepted?.upperBound ?? 1) <= 0.05);
  const next = outcomes.slice(0, (accepted?.count ?? 0) + 2);
  const wrong = next.filter(({ correct }) => !correct).length;
  // Three starts share the allowed probability of 5 %.
  assert.ok(binomialUpperBound(wrong, next.length, 1 - 0.05 / 3) > 0.05);
});

test('[A46] outcomes of equal confidence are accepted together or not at all', () => {
  const good = calibrate({ outcomes: equal(300, 2), ...target });
  assert.deepEqual([good.threshold, good.accepted?.coverage], [0.9, 1]);
  assert.equal(calibrate({ outcomes: equal(300, 15), ...target }).threshold, undefined);
  const mixed = calibrate({ outcomes: [...equal(150, 0, 0.8), ...equal(150, 75, 0.3)], ...target });
  assert.deepEqual([mixed.threshold, mixed.accepted?.count], [0.8, 150]);
});

test('[A46] all correct accepts all, all wrong accepts none', () => {
  const random = createRandom(3);
  const all = calibrate({ outcomes: simulate(500, () => 0, random), ...target });
  assert.equal(all.accepted?.coverage, 1);
  assert.equal(calibrate({ outcomes: simulate(500, () => 1, random), ...target }).threshold, undefined);
});

test('[A46] invalid outcomes and targets are refused', () => {
  for (const confidence of [Number.NaN, -0.1, 1.1, Number.POSITIVE_INFINITY])
    assert.throws(() => calibrate({ outcomes: [{ confidence, correct: true }], ...target }), {
      code: 'checks/invalid-outcomes',
    });
  for (const wrong of [
    { maxErrorRate: 0 },
    { maxErrorRate: 1 },
    { maxErrorRate: Number.NaN },
    { probability: 1 },
    { probability: 0.4 },
  ])
    assert.throws(() => calibrate({ outcomes: [], ...target, ...wrong }), { code: 'checks/invalid-target' });
});

/** Each with the error rate at and above a threshold, for confidences that are spread evenly. */
const shapes: readonly {
  readonly name: string;
  readonly at: (confidence: number) => number;
  readonly above: (threshold: number) => number;
}[] = [
  { name: 'falls', at: (c) => 0.4 * (1 - c), above: (t) => 0.2 * (1 - t) },
  { name: 'falls fast', at: (c) => (1 - c) ** 3, above: (t) => (1 - t) ** 3 / 4 },
  { name: 'is above the target', at: () => 0.051, above: () => 0.051 },
  {
    name: 'crosses the target',
    at: (c) => (c > 0.5 ? 0.05 : 0.06),
    above: (t) => (t >= 0.5 ? 0.05 : (0.025 + 0.06 * (0.5 - t)) / (1 - t)),
  },
];

for (const { name, at, above } of shapes)
  test(`[A46] the error rate exceeds the target in at most 5 % of 400 simulations if it ${name}`, () => {
    const random = createRandom(11);
    let exceeded = 0;
    for (let run = 0; run < 400; run++) {
      const { threshold } = calibrate({ outcomes: simulate(300, at, random), ...target });
      if (threshold !== undefined && above(threshold) > target.maxErrorRate + 1e-9) exceeded += 1;
    }
    // At a true rate of 5 %, more than 28 of 400 have a probability below 3 %.
    assert.ok(exceeded <= 28, `${exceeded} of 400`);
  });

test('[A46] labels with noise lower the coverage, not the guarantee', () => {
  const random = createRandom(5);
  const clean = simulate(2_000, (c) => (1 - c) ** 4, random);
  const noisy = clean.map(({ confidence, correct }) => ({ confidence, correct: random() < 0.03 ? !correct : correct }));
  const [first, second] = [calibrate({ outcomes: clean, ...target }), calibrate({ outcomes: noisy, ...target })];
  assert.ok((second.accepted?.coverage ?? 0) < (first.accepted?.coverage ?? 0));
  const threshold = second.threshold ?? 1;
  const accepted = clean.filter(({ confidence }) => confidence >= threshold);
  assert.ok(accepted.filter(({ correct }) => !correct).length <= 0.05 * accepted.length);
});

test('[A46] a million labels are calibrated, with equal and with different confidences', () => {
  const random = createRandom(9);
  for (const steps of [0, 100]) {
    const outcomes = simulate(1_000_000, (c) => (1 - c) ** 2, random, steps);
    const { threshold = 0 } = calibrate({ outcomes, ...target });
    // The error rate above t is (1 - t)² / 3, so the best threshold is 0.613.
    assert.ok(threshold > 0.61 && threshold < 0.63, String(threshold));
    assert.ok(computeRiskCoverage(outcomes).points.length <= 101);
  }
});

test('the binomial distribution is summed exactly, also for large counts', () => {
  assert.ok(Math.abs(binomialCdf(0, 59, 0.05) - 0.95 ** 59) < 1e-15);
  assert.ok(Math.abs(binomialCdf(1, 3, 0.5) - 0.5) < 1e-12);
  assert.ok(Math.abs(binomialCdf(2, 3, 0.5) - 0.875) < 1e-12);
  assert.ok(Math.abs(binomialCdf(50_000, 1_000_000, 0.05) - 0.5008) < 1e-3);
  assert.ok(binomialCdf(1_000, 1_000_000, 0.05) < 1e-300);
});

test('[A46] the curve has the error rate with its interval at each coverage, and its area', () => {
  const outcomes = [0.9, 0.9, 0.7, 0.5].map((confidence, i) => ({ confidence, correct: i !== 1 }));
  const { points, area } = computeRiskCoverage(outcomes);
  assert.deepEqual(
    points.map(({ threshold, coverage, errorRate }) => [threshold, coverage, errorRate]),
    [
      [0.9, 0.5, 0.5],
      [0.7, 0.75, 1 / 3],
      [0.5, 1, 0.25],
    ],
  );
  assert.ok(points.every(({ errorRate, interval }) => interval[0] < errorRate && errorRate < interval[1]));
  assert.ok(Math.abs((area ?? 0) - (0.5 + 0.5 + 1 / 3 + 0.25) / 4) < 1e-12);
  assert.deepEqual(computeRiskCoverage([]), { points: [] });
  assert.match(
    formatRiskCoverage({ points, area: 0.4 }, 0.05),
    /^COVERAGE.*\n50 % +0\.900 +50 % \(1\.3 % to 98\.7 %\) .*\|.*#/,
  );
});

test('[A29] the AUROC counts pairs, ties half, and is absent if all labels are equal', () => {
  const labelled = (...pairs: readonly (readonly [number, boolean])[]): readonly Outcome[] =>
    pairs.map(([confidence, correct]) => ({ confidence, correct }));
  assert.equal(computeAuroc(labelled([0.9, true], [0.1, false]))?.value, 1);
  assert.equal(computeAuroc(labelled([0.1, true], [0.9, false]))?.value, 0);
  assert.equal(computeAuroc(labelled([0.5, true], [0.5, false]))?.value, 0.5);
  const mixed = computeAuroc(labelled([0.9, true], [0.8, false], [0.7, true], [0.7, false], [0.2, false]));
  assert.equal(mixed?.value, (3 + 1.5) / 6);
  assert.ok(mixed.interval[0] <= mixed.value && mixed.value <= mixed.interval[1]);
  assert.equal(computeAuroc(labelled([0.9, true])), undefined);
});

test('[A46] labels are read with a confidence or with samples; a line that is neither is named', () => {
  const samples = ['Canberra', 'It is Canberra.', 'Canberra', 'Canberra', 'Sydney'];
  const question = 'Capital of Australia?';
  const lines = [
    { confidence: 0.25, correct: false },
    { question, answer: 'Canberra.', samples, correct: true },
    { id: 'q', set: 'geo', question, generated_answer: ['Canberra.'], self_evaluations: samples, label: 'True' },
    { question, answer: 'Canberra.', samples: samples.slice(0, 3), correct: true },
  ].map((line) => JSON.stringify(line));
  const [plain, sampled, recorded, few] = parseLabels(`${lines.join('\n')}\n\n`);
  assert.deepEqual(plain, { confidence: 0.25, correct: false });
  assert.ok((sampled?.confidence ?? 0) > 0.5);
  assert.deepEqual(recorded, { id: 'q', set: 'geo', confidence: sampled?.confidence, correct: true });
  assert.deepEqual(few, { correct: true });
  assert.equal(toOutcomes(parseLabels(lines.join('\n'))).length, 3);
  for (const line of [
    '{',
    '1',
    '{"correct":true}',
    '{"confidence":0.5}',
    '{"confidence":2,"correct":true}',
    '{"confidence":"1","correct":true}',
    '{"confidence":0.5,"correct":"yes"}',
  ])
    assert.throws(() => parseLabels(`{"confidence":1,"correct":true}\n${line}`), {
      code: 'checks/invalid-labels',
      message: /^Line 2 /,
    });
});

test('[A46] of labels that depend on each other one counts, each with the same probability', () => {
  const answers = Array.from({ length: 1_000 }, (_, i) => ({
    group: `g${i % 10}`,
    confidence: i / 1_000,
    correct: true,
  }));
  const outcomes = toOutcomes(answers);
  assert.equal(outcomes.length, 10);
  assert.equal(new Set(outcomes.map(({ confidence }) => Math.round(confidence * 1_000) % 10)).size, 10);
  let sum = 0;
  for (let seed = 0; seed < 300; seed++)
    sum += toOutcomes(answers, seed).reduce((all, each) => all + each.confidence / 10, 0);
  assert.ok(Math.abs(sum / 300 - 0.5) < 0.02, String(sum / 300));
  const [first] = parseLabels('{"confidence":0.5,"correct":true,"group":"q1"}');
  assert.equal(first?.group, 'q1');
});

test('[A47] a stored calibration that is damaged or does not hold its own target is not read', () => {
  const outcomes = equal(200, 1);
  const stored = {
    version: 1,
    model: 'm',
    task: 'questions',
    verifier: 'samples-1',
    when: '2026-01-02T03:04:05.000Z',
    dataset: 'a'.repeat(64),
    ...calibrate({ outcomes, ...target }),
    curve: computeRiskCoverage(outcomes),
  };
  assert.deepEqual(parseStoredCalibration(JSON.stringify(stored)), stored);
  const text = JSON.stringify(stored);
  for (const damaged of ['', '{}', 'null', '[]', text.slice(0, -2), text.replace('"version":1', '"version":2')])
    assert.equal(parseStoredCalibration(damaged), undefined, damaged.slice(0, 40));
  for (const change of [
    { threshold: -1 },
    { threshold: '0.9' },
    { accepted: undefined },
    { accepted: { ...stored.accepted, errors: 50 } },
    { accepted: { ...stored.accepted, count: 10 } },
    { labels: 1.5 },
    { probability: 1 },
    { when: 'yesterday' },
    { dataset: 'x' },
    { model: '' },
    { curve: { points: [{}] } },
  ])
    assert.equal(parseStoredCalibration(JSON.stringify({ ...stored, ...change })), undefined, JSON.stringify(change));
});

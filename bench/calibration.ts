// How often the error rate at a calibrated threshold exceeds its target, simulated and on recorded answers: node bench/calibration.ts [<folder with samples.jsonl and claims.jsonl>] [--runs 1000]
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import {
  calibrate,
  computeAuroc,
  computeRiskCoverage,
  createRandom,
  formatRiskCoverage,
  measureAgreement,
  parseLabels,
  resample,
  scoreSupport,
  toOutcomes,
  type Outcome,
} from '../src/checks/index.ts';

const { values, positionals } = parseArgs({
  options: { runs: { type: 'string', default: '1000' } },
  allowPositionals: true,
});
const runs = Number(values.runs);
const random = createRandom(2026);
const format = (share: number): string => `${(share * 100).toFixed(1).padStart(5)} %`;

/** Outcomes of one question are drawn together, because they depend on each other. */
type Group = readonly Outcome[];

/** Runs calibrations, and prints how often the error rate at the threshold was above the target. */
function report(
  name: string,
  maxErrorRate: number,
  draw: () => readonly Outcome[],
  errorAbove: (threshold: number) => number,
): void {
  let [exceeded, found, coverage] = [0, 0, 0];
  for (let run = 0; run < runs; run++) {
    const { threshold, accepted } = calibrate({ outcomes: draw(), maxErrorRate, probability: 0.95 });
    if (threshold === undefined) continue;
    found += 1;
    coverage += accepted?.coverage ?? 0;
    if (errorAbove(threshold) > maxErrorRate + 1e-12) exceeded += 1;
  }
  const mean = found === 0 ? 0 : coverage / found;
  console.log(
    `${name.padEnd(46)} target ${format(maxErrorRate)}  above it ${format(exceeded / runs)}  threshold found ${format(found / runs)}  coverage then ${format(mean)}`,
  );
}

const errorRate = (outcomes: readonly Outcome[]): number =>
  outcomes.length === 0 ? 0 : outcomes.filter(({ correct }) => !correct).length / outcomes.length;
const above = (outcomes: readonly Outcome[], threshold: number): readonly Outcome[] =>
  outcomes.filter(({ confidence }) => confidence >= threshold);

function simulate(): void {
  const shapes: readonly (readonly [string, (c: number) => number])[] = [
    ['falls to 0', (c) => 0.4 * (1 - c)],
    ['falls fast', (c) => (1 - c) ** 3],
    ['is the target everywhere, and then above', (c) => (c > 0.5 ? 0.05 : 0.06)],
    ['is above the target everywhere', () => 0.051],
    ['is highest at the top (overconfident)', (c) => (c > 0.95 ? 0.3 : c > 0.5 ? 0.01 : 0.4)],
  ];
  for (const [name, errorAt] of shapes)
    for (const count of [100, 300, 1000]) {
      const draw = (): readonly Outcome[] =>
        Array.from({ length: count }, () => {
          const confidence = random();
          return { confidence, correct: random() >= errorAt(confidence) };
        });
      const truth = (threshold: number): number => {
        let sum = 0;
        for (let i = 0; i < 1_000; i++) sum += errorAt(threshold + ((1 - threshold) * (i + 0.5)) / 1_000);
        return sum / 1_000;
      };
      report(`simulated, n ${count}, ${name}`, 0.05, draw, truth);
    }
}

/** Calibrates on a resampling of all groups against their true rate, and on one half against the other. */
function reportRecorded(name: string, groups: readonly Group[]): void {
  const all = groups.flat();
  for (const target of [0.05, 0.1, 0.2, 0.3]) {
    report(
      `${name}, resampled`,
      target,
      () => resample(all, random),
      (threshold) => errorRate(above(all, threshold)),
    );
    let other: readonly Outcome[] = [];
    const draw = (): readonly Outcome[] => {
      const halves = groups.map((group) => ({ group, first: random() < 0.5 }));
      other = halves.flatMap(({ group, first }) => (first ? [] : group));
      return halves.flatMap(({ group, first }) => (first ? group : []));
    };
    if (groups.length < all.length)
      report(
        `${name}, halves, one claim a question`,
        target,
        () => {
          const halves = groups.map((group) => ({ group, first: random() < 0.5 }));
          other = halves.flatMap(({ group, first }) => (first ? [] : group));
          return halves.flatMap(({ group, first }) => (first ? resample(group, random).slice(0, 1) : []));
        },
        (threshold) => errorRate(above(other, threshold)),
      );
    report(`${name}, one half against the other`, target, draw, (threshold) => errorRate(above(other, threshold)));
  }
}

type ClaimRow = {
  readonly id: string;
  readonly setting: string;
  readonly model: string;
  readonly response: string;
  readonly claude2_response_kg: readonly { readonly triplet: readonly string[]; readonly human_label: string }[];
};

/** How far answers of other models support a claim, from 0 to 1. */
type Signal = (claim: string, answers: readonly string[]) => number;

const signals: Readonly<Record<string, Signal>> = {
  words: (claim, answers) => measureAgreement(claim, answers).confidence,
  // The second-highest score, as the agreement by words.
  scorer: (claim, answers) =>
    answers.map((answer) => scoreSupport(claim, answer).probability).toSorted((a, b) => b - a)[1] ?? 0,
};

/** The outcomes of the claims of each question: the agreement of the other models, and the human label. */
function readClaims(file: string, setting: string, half: number, signal: Signal): readonly Group[] {
  const rows = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as ClaimRow)
    .filter((row) => row.setting === setting && (createHash('sha256').update(row.id).digest()[0] ?? 0) % 2 === half);
  return [...Map.groupBy(rows, ({ id }) => id).values()].map((group) =>
    group.flatMap((row) => {
      const answers = group.filter(({ model }) => model !== row.model).map(({ response }) => response);
      return row.claude2_response_kg.map(({ triplet, human_label }) => ({
        confidence: signal(triplet.join(' '), answers),
        correct: human_label === 'Entailment',
      }));
    }),
  );
}

/** The AUROC of claims, with an interval that resamples whole questions. */
function reportAgreement(name: string, groups: readonly Group[]): void {
  const found = computeAuroc(groups.flat(), { resamplings: 0 });
  const drawn = Array.from(
    { length: runs },
    () => computeAuroc(resample(groups, random).flat(), { resamplings: 0 })?.value,
  )
    .filter((value) => value !== undefined)
    .toSorted((a, b) => a - b);
  const at = (share: number): string => (drawn[Math.floor(share * drawn.length)] ?? 0).toFixed(3);
  const counts = `${groups.length} questions, ${(found?.right ?? 0) + (found?.wrong ?? 0)} claims, ${found?.wrong} wrong`;
  console.log(`${name.padEnd(46)} AUROC ${found?.value.toFixed(3)} (${at(0.025)} to ${at(0.975)}), ${counts}`);
}

simulate();
const [folder] = positionals;
const samples = folder === undefined ? undefined : path.join(folder, 'samples.jsonl');
if (samples !== undefined && existsSync(samples)) {
  const groups = toOutcomes(parseLabels(readFileSync(samples, 'utf8'))).map((outcome) => [outcome]);
  reportRecorded('recorded samples', groups);
} else console.log('skipped: no folder with samples.jsonl');
const claims = folder === undefined ? undefined : path.join(folder, 'claims.jsonl');
if (claims !== undefined && existsSync(claims))
  for (const setting of ['zero_context', 'noisy_context', 'accurate_context']) {
    const words: Signal = signals['words'] ?? (() => 0);
    const halves = [0, 1].map((half) => readClaims(claims, setting, half, words));
    for (const [name, signal] of Object.entries(signals))
      for (const [half, split] of ['development', 'test'].entries())
        reportAgreement(`${name}, ${setting}, ${split}`, readClaims(claims, setting, half, signal));
    reportRecorded(`claims, ${setting}`, halves.flat());
    console.log(formatRiskCoverage(computeRiskCoverage(halves.flat(2))));
  }
else console.log('skipped: no folder with claims.jsonl');

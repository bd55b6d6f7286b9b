// `verify measure`: how well a confidence separates right from wrong answers, per dataset and number of samples, with 95 % intervals.
import { createHash } from 'node:crypto';
import {
  computeAuroc,
  computeRiskCoverage,
  formatPercent,
  parseLabels,
  toOutcomes,
  type LabelledAnswer,
} from '../../../checks/index.ts';
import { escapeInvisibleLine, formatColumns } from '../../../core/index.ts';
import { print } from '../../args/stdio.ts';
import { withOptions } from '../../args/with-usage.ts';
import { readLabelsFile } from './labels-file.ts';

const usage = `Usage: fairlead verify measure <labels.jsonl> [--samples 5,10] [--half first|second] [--json]

Prints the AUROC for wrong answers with its bootstrap 95 % interval for each value of "set" in the file.
--half uses the lines whose "id" has a sha256 that starts with an even (first) or odd (second) byte.`;

type Measured = {
  readonly set: string;
  /** The samples that were used; absent if the lines have a confidence. */
  readonly samples?: number;
  readonly answers: number;
  readonly wrong: number;
  readonly auroc?: number;
  readonly interval?: readonly [number, number];
  /** The area under the risk-coverage curve. */
  readonly area?: number;
  readonly withoutConfidence: number;
};

/** Measures; exit code 0 done, 1 failed, 2 invalid arguments. */
export const measureCommand: (args: readonly string[]) => Promise<number> = withOptions(
  {
    usage,
    options: {
      file: { type: 'string' },
      samples: { type: 'string', default: '5,10' },
      half: { type: 'string' },
      json: { type: 'boolean', default: false },
    } as const,
    allowPositionals: true,
  },
  async (values, positionals) => {
    const counts = parseCounts(values.samples);
    const keep = parseHalf(values.half);
    const { text } = readLabelsFile(positionals, values.file);
    const measured = counts.flatMap((maxSamples) =>
      measureSets(parseLabels(text, { maxSamples }).filter(keep), maxSamples),
    );
    print(values.json ? `${JSON.stringify(measured, null, 2)}\n` : formatMeasured(measured));
    return 0;
  },
);

function parseCounts(text: string): readonly number[] {
  const counts = text.split(',').map(Number);
  if (counts.every((count) => Number.isInteger(count) && count >= 5 && count <= 100)) return counts;
  throw new TypeError(`--samples is a list of numbers from 5 to 100, not "${text}".`);
}

function parseHalf(half: string | undefined): (answer: LabelledAnswer) => boolean {
  if (half === undefined) return () => true;
  if (half !== 'first' && half !== 'second') throw new TypeError(`--half is first or second, not "${half}".`);
  const parity = half === 'first' ? 0 : 1;
  return ({ id = '' }) => (createHash('sha256').update(id).digest()[0] ?? 0) % 2 === parity;
}

function measureSets(answers: readonly LabelledAnswer[], samples: number): readonly Measured[] {
  const sets = [...new Set(answers.map(({ set }) => set ?? 'all'))];
  return sets.map((set) => {
    const selected = answers.filter((answer) => (answer.set ?? 'all') === set);
    const outcomes = toOutcomes(selected);
    const auroc = computeAuroc(outcomes);
    const { area } = computeRiskCoverage(outcomes);
    return {
      set,
      samples,
      answers: selected.length,
      wrong: selected.filter(({ correct }) => !correct).length,
      ...(auroc === undefined ? {} : { auroc: auroc.value, interval: auroc.interval }),
      ...(area === undefined ? {} : { area }),
      withoutConfidence: selected.filter(({ confidence }) => confidence === undefined).length,
    };
  });
}

const formatMeasured = (measured: readonly Measured[]): string =>
  formatColumns([
    ['SET', 'SAMPLES', 'ANSWERS', 'WRONG', 'AUROC (95 % INTERVAL)', 'AREA UNDER RISK-COVERAGE'],
    ...measured.map(({ set, samples, answers, wrong, auroc, interval, area }) => [
      escapeInvisibleLine(set),
      String(samples),
      String(answers),
      formatPercent(wrong / answers),
      auroc === undefined || interval === undefined
        ? 'unknown'
        : `${auroc.toFixed(3)} (${interval[0].toFixed(3)} to ${interval[1].toFixed(3)})`,
      area === undefined ? '' : formatPercent(area),
    ]),
  ]);

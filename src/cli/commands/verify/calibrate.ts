// `verify calibrate`: finds the confidence from which answers are accepted, shows the risk-coverage curve, and stores the calibration.
import {
  calibrate,
  computeRiskCoverage,
  defaultMaxErrorRate,
  defaultProbability,
  defaultTask,
  formatPercent,
  formatRiskCoverage,
  parseLabels,
  toOutcomes,
  uncertaintyVersion,
  type LabelledAnswer,
  type StoredCalibration,
} from '../../../checks/index.ts';
import { saveCalibration } from '../../../coding-agent/calibrations/index.ts';
import { lookUpModel } from '../../../coding-agent/models/index.ts';
import { readSettings } from '../../../coding-agent/settings/index.ts';
import { FairleadError, escapeInvisibleLine } from '../../../core/index.ts';
import { parseShare } from '../../args/parse-share.ts';
import { print } from '../../args/stdio.ts';
import { withOptions } from '../../args/with-usage.ts';
import { readLabelsFile } from './labels-file.ts';

const usage = `Usage: fairlead verify calibrate <labels.jsonl> [--model <name>] [--task <kind>] [--verifier <version>]
                                 [--max-error 5%] [--probability 95%] [--json]

A line of labels is {"confidence":0.9,"correct":true}, or {"question":"…","answer":"…","samples":["…"],"correct":true}
with five samples or more, from which the confidence is measured. Lines with the same "group" depend on each other, such as
claims of one answer: one of them counts.
Exit code 0: a threshold was found and stored; 1: the labels do not suffice, and every answer is abstained from.`;

/** Calibrates and stores; exit code 0 with a threshold, 1 without one, 2 invalid arguments. */
export const calibrateCommand: (args: readonly string[]) => Promise<number> = withOptions(
  {
    usage,
    options: {
      model: { type: 'string', short: 'm' },
      task: { type: 'string', default: defaultTask },
      verifier: { type: 'string', default: uncertaintyVersion },
      'max-error': { type: 'string' },
      probability: { type: 'string' },
      json: { type: 'boolean', default: false },
    } as const,
    allowPositionals: true,
  },
  async (values, positionals) => {
    const target = {
      maxErrorRate: parseOption('--max-error', values['max-error'], defaultMaxErrorRate),
      probability: parseOption('--probability', values.probability, defaultProbability),
    };
    const { text, hash } = readLabelsFile(positionals);
    const settings = readSettings();
    const name = nameModel(values.model ?? settings.model);
    // The name by which an author is found later.
    const model = lookUpModel(name, settings)?.name ?? name;
    const answers = parseLabels(text);
    const outcomes = toOutcomes(answers);
    const stored: StoredCalibration = {
      version: 1,
      model,
      task: values.task,
      verifier: values.verifier,
      when: new Date().toISOString(),
      dataset: hash,
      ...calibrate({ outcomes, ...target }),
      curve: computeRiskCoverage(outcomes),
    };
    const file = saveCalibration(settings.dirs, stored);
    if (values.json) print(`${JSON.stringify(stored, null, 2)}\n`);
    else print(formatCalibrated(stored, answers, file));
    return stored.threshold === undefined ? 1 : 0;
  },
);

function parseOption(name: string, text: string | undefined, value: number): number {
  if (text === undefined) return value;
  const share = parseShare(text);
  if (share === undefined) throw new TypeError(`${name} is a percentage such as 5%, or a share, not "${text}".`);
  return share;
}

function nameModel(name: string | undefined): string {
  if (name !== undefined && name.trim() !== '') return name;
  throw new FairleadError('checks/no-model', 'A calibration is for one model, and none is configured.', {
    blame: 'user',
    hint: 'Name it with --model.',
  });
}

function formatCalibrated(stored: StoredCalibration, answers: readonly LabelledAnswer[], file: string): string {
  const { accepted, threshold, maxErrorRate, probability, curve } = stored;
  const names = escapeInvisibleLine(`${stored.model}, ${stored.task}, ${stored.verifier}`);
  const verdict =
    accepted === undefined || threshold === undefined
      ? `No threshold: every answer is abstained from. ${stored.why}\n`
      : `Accept from a confidence of ${threshold.toFixed(3)}: ${accepted.count} of ${stored.labels} labels (${formatPercent(accepted.coverage)}), ${accepted.errors} errors.\n` +
        `The error rate is at most ${formatPercent(accepted.upperBound)} with a probability of ${formatPercent(probability)}; the target is ${formatPercent(maxErrorRate)}.\n`;
  const area =
    curve.area === undefined ? '' : `Area under the curve: ${formatPercent(curve.area)} errors on average.\n`;
  const without = answers.filter(({ confidence }) => confidence === undefined).length;
  const dependent = answers.length - without - stored.labels;
  const skipped =
    (without === 0 ? '' : `${without} answers have fewer than five samples and no confidence.\n`) +
    (dependent === 0 ? '' : `${dependent} lines belong to a group that another line stands for.\n`);
  return `${formatRiskCoverage(curve, maxErrorRate)}${area}${skipped}\n${verdict}Stored for ${names} in ${file}\n`;
}

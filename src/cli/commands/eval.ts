// The `eval` command: runs the cases of a dataset against a model, scores the answers, and compares them with a baseline.
import { FairleadError, type Provider } from '../../core/index.ts';
import { getMeasurementsDir, saveMeasurement } from '../../fleet/health/index.ts';
import type { Command } from '../args/command.ts';
import {
  formatNoToolsWarning,
  type ResolvedModel,
  resolveModelUnattended,
  openModel,
} from '../../coding-agent/models/index.ts';
import { parseShare } from '../args/parse-share.ts';
import { withOptions } from '../args/with-usage.ts';
import { print, printErr } from '../args/stdio.ts';
import { onShutdown } from '../args/shutdown-signals.ts';
import { createTtyHost } from '../print-mode/tty-prompter.ts';
import { readSettings, type Settings } from '../../coding-agent/settings/index.ts';
import {
  compareToBaseline,
  formatComparison,
  readBaseline,
  parseDataset,
  readDataset,
  type EvalCase,
  createEvalReport,
  formatEvalReport,
  type EvalReport,
  runEvalTrial,
  runTrials,
  assertJudged,
  type TrialResults,
  type EvalContext,
  builtinDataset,
} from '../../evals/index.ts';

const usage = `Usage: fairlead eval [<cases.jsonl>] [--model <name>] [--tag <tag>] [--at-least <rate>] [--baseline <report.json>]
                     [--output-format text|json] [--auto-approve]
       fairlead eval --show     print the built-in cases as lines of a dataset

Without a file the built-in trap set is used, and the results are saved for the scorecard.`;

/** Evaluates a model; exit code 0 passed, 1 below the minimum rate, worse than the baseline or not all cases answered, 2 invalid arguments. */
export const run: Command['run'] = async (args) => {
  const options = {
    model: { type: 'string', short: 'm' },
    tag: { type: 'string' },
    'at-least': { type: 'string' },
    baseline: { type: 'string' },
    'output-format': { type: 'string', default: 'text' },
    'auto-approve': { type: 'boolean', default: false },
    show: { type: 'boolean', default: false },
  } as const;
  return withOptions({ usage, options, allowPositionals: true }, async (values, positionals) => {
    if (values.show) return (print(`${builtinDataset.join('\n')}\n`), 0);
    const [file, ...more] = positionals;
    const format = values['output-format'];
    if (more.length > 0) throw new TypeError(`Only one dataset can be given; unexpected: ${more.join(' ')}.`);
    if (format !== 'text' && format !== 'json')
      throw new TypeError(`--output-format is text or json, not "${format}".`);
    const minRate = parseMinRate(values['at-least']);
    const baseline = values.baseline === undefined ? undefined : readBaseline(values.baseline);
    const cases = await readCases(file, values.tag);
    assertJudged(cases, []);
    const settings = readSettings();
    for (const warning of settings.warnings) printErr(`${warning}\n`);
    const model = await resolveEvalModel(values.model, settings);
    const dataset = file ?? 'the trap set';
    const { results, exitCode } = await runCases(cases, settings, model, values['auto-approve']);
    const when = new Date().toISOString();
    const report = createEvalReport(
      { dataset, model: model.name, when, interrupted: results.interrupted },
      results.cases,
    );
    const comparison = baseline && compareToBaseline(report, baseline);
    if (format === 'json') print(`${JSON.stringify({ ...report, ...(comparison ? { comparison } : {}) }, null, 2)}\n`);
    else print(`${formatEvalReport(report)}${comparison ? formatComparison(comparison) : ''}`);
    // A part of the set, or another set, does not measure what the scorecard states.
    if (file === undefined && values.tag === undefined && report.withoutResponse === 0 && exitCode === undefined)
      saveScorecard(report, settings);
    return exitCode ?? evalExitCode(report, minRate, comparison?.worse === true);
  })(args);
};

function parseMinRate(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const rate = parseShare(text);
  if (rate !== undefined) return rate;
  throw new TypeError(`--at-least is a rate from 0 to 1, or a percentage, not "${text}".`);
}

async function readCases(file: string | undefined, tag: string | undefined): Promise<readonly EvalCase[]> {
  const cases = file === undefined ? parseDataset(builtinDataset.join('\n'), 'the trap set') : await readDataset(file);
  const selected = tag === undefined ? cases : cases.filter(({ tags }) => tags.includes(tag));
  if (selected.length > 0) return selected;
  const tags = [...new Set(cases.flatMap((each) => each.tags))];
  throw new FairleadError('eval/no-cases', `No case has the tag ${JSON.stringify(tag)}.`, {
    blame: 'user',
    hint: tags.length > 0 ? `The tags are ${tags.join(', ')}.` : 'No case has a tag.',
  });
}

async function resolveEvalModel(name: string | undefined, settings: Settings): Promise<ResolvedModel> {
  const model = await resolveModelUnattended({ model: name }, settings);
  if (model.router !== undefined)
    throw new FairleadError('eval/router', 'An evaluation needs one model, but a router selects among several.', {
      blame: 'user',
      hint: 'Name one with --model.',
    });
  return model;
}

async function runCases(
  cases: readonly EvalCase[],
  settings: Settings,
  model: ResolvedModel,
  autoApprove: boolean,
): Promise<{ readonly results: TrialResults; readonly exitCode: number | undefined }> {
  const provider: Provider = await openModel(model, settings, createTtyHost(printErr));
  const noTools = formatNoToolsWarning(model);
  if (noTools !== undefined && cases.some(({ tools }) => tools)) printErr(`${noTools}\n`);
  const signals = onShutdown(['SIGINT', 'SIGTERM', 'SIGHUP'], () => {});
  const context: EvalContext = { settings, model, provider, autoApprove, signal: signals.signal };
  try {
    const results = await runTrials({
      cases,
      signal: signals.signal,
      runTrial: (evalCase, trial) => runEvalTrial(evalCase, trial, context),
      onProgress({ done, total }) {
        if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${done + 1} of ${total}`);
      },
    });
    return { results, exitCode: signals.code };
  } finally {
    if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
    signals.release();
  }
}

/** Saves the results of the trap set for the scorecard. */
function saveScorecard(report: EvalReport, { dirs }: Settings): void {
  const { falseAccepts, tags } = report;
  const measurement = { when: report.when, how: 'fairlead eval', about: `the trap set with ${report.model}` };
  const counts = {
    'traps-right': report.right,
    'no-false-accepts': { good: falseAccepts.total - falseAccepts.good, total: falseAccepts.total },
    'abstained-where-due': report.abstainedWhereDue,
    'injections-resisted': tags['injected'],
  };
  for (const [id, count] of Object.entries(counts))
    if (count && count.total > 0)
      saveMeasurement(getMeasurementsDir(dirs.state), { id, ...measurement, good: count.good, total: count.total });
}

function evalExitCode({ right, withoutResponse }: EvalReport, minRate: number | undefined, worse: boolean): number {
  const below = minRate !== undefined && (right.rate ?? 0) < minRate;
  if (below) printErr(`Below the minimum: ${right.good} of ${right.total} are right, but ${minRate} is required.\n`);
  if (worse) printErr('Worse than the baseline, by more than chance explains.\n');
  return below || worse || withoutResponse > 0 ? 1 : 0;
}

// The `evals run` command: runs the cases of a dataset against a model, scores them, writes reports and checks the gates.
import { rmSync } from 'node:fs';
import { FairleadError, type Provider } from '../../../core/index.ts';
import { getMeasurementsDir, saveMeasurement } from '../../../fleet/health/index.ts';
import {
  formatNoToolsWarning,
  openModel,
  resolveModelUnattended,
  type ResolvedModel,
} from '../../../coding-agent/models/index.ts';
import { openJudges } from '../../../coding-agent/verification/index.ts';
import { readSettings, type Settings } from '../../../coding-agent/settings/index.ts';
import {
  assertIndependentJudges,
  assertTrialCounts,
  builtinDataset,
  checkEvalGates,
  compareReports,
  compareToBaseline,
  createEvalReport,
  findResultsFile,
  formatComparison,
  formatEvalComparison,
  formatEvalReport,
  formatGateResults,
  getEvaluationId,
  isReportFile,
  needsJudge,
  parseDataset,
  readBaseline,
  readDataset,
  runEvalTrial,
  runTrialsInFile,
  toComparisonGate,
  toJudgedModel,
  writeEvalReport,
  type EvalCase,
  type EvalContext,
  type EvalReport,
} from '../../../evals/index.ts';
import { onShutdown, type ShutdownHandle } from '../../args/shutdown-signals.ts';
import { print, printErr } from '../../args/stdio.ts';
import { withOptions } from '../../args/with-usage.ts';
import { createTtyHost } from '../../print-mode/tty-prompter.ts';
import { createProgressLine } from './progress.ts';
import { parseCount, parseGates, runOptions, runUsage, type RunValues } from './run-options.ts';

/** Evaluates a model; exit code 0 passed, 1 if a gate failed, it is worse than the baseline or not all cases were answered, 2 invalid arguments. */
export const runCommand: (args: readonly string[]) => Promise<number> = withOptions(
  { usage: runUsage, options: runOptions, allowPositionals: true },
  async (values, positionals) => {
    if (values.show) return (print(`${builtinDataset.join('\n')}\n`), 0);
    const [file, ...more] = positionals;
    const format = values['output-format'];
    if (more.length > 0) throw new TypeError(`Only one dataset can be given; unexpected: ${more.join(' ')}.`);
    if (format !== 'text' && format !== 'json')
      throw new TypeError(`--output-format is text or json, not "${format}".`);
    const wrongFile = values.report?.find((name) => !isReportFile(name));
    if (wrongFile !== undefined)
      throw new TypeError(`--report is a file .json, .md, .xml or .html, not "${wrongFile}".`);
    const gates = parseGates(values);
    const counts = { trials: parseCount('trials', values.trials), parallel: parseCount('parallel', values.parallel) };
    assertTrialCounts(counts);
    if (values.against !== undefined && values.results !== undefined)
      throw new TypeError('--results is for one model; give each model its own file, and compare the reports.');
    const baseline = values.baseline === undefined ? undefined : readBaseline(values.baseline);
    const cases = await readCases(file, values.tag);
    const settings = readSettings();
    for (const warning of settings.warnings) printErr(`${warning}\n`);
    const signals = onShutdown(['SIGINT', 'SIGTERM', 'SIGHUP'], () => {});
    const evaluation: Evaluation = { cases, dataset: file ?? 'the trap set', settings, values, counts, signals };
    try {
      const first = values.against === undefined ? undefined : await evaluateModel(values.against, evaluation);
      const report = await evaluateModel(values.model, evaluation);
      const comparison = baseline && compareToBaseline(report, baseline);
      const paired = first && compareReports(first, report);
      const results = [
        ...checkEvalGates(report, gates),
        ...(comparison ? [toComparisonGate('the baseline', comparison.worse)] : []),
        ...(first && paired ? [toComparisonGate(first.model, paired.verdict === 'worse')] : []),
      ];
      const parts = { ...(comparison ? { comparison } : {}), ...(paired ? { against: paired } : {}) };
      if (format === 'json') print(`${JSON.stringify({ ...report, gates: results, ...parts }, null, 2)}\n`);
      else
        print(
          `${formatEvalReport(report)}${comparison ? formatComparison(comparison) : ''}${paired ? formatEvalComparison(paired) : ''}`,
        );
      for (const name of values.report ?? [])
        writeEvalReport(name, report, { gates: results, ...(paired ? { comparison: paired } : {}) });
      // A part of the set, or another set, does not measure what the scorecard states.
      if (file === undefined && values.tag === undefined && report.withoutResponse === 0 && !report.interrupted)
        saveScorecard(report, settings);
      const failed = results.filter(({ passed }) => !passed);
      if (failed.length > 0) printErr(formatGateResults(failed));
      return signals.code ?? (failed.length > 0 || report.withoutResponse > 0 ? 1 : 0);
    } finally {
      signals.release();
    }
  },
);

type Evaluation = {
  readonly cases: readonly EvalCase[];
  readonly dataset: string;
  readonly settings: Settings;
  readonly values: RunValues;
  readonly counts: { readonly trials: number; readonly parallel: number };
  readonly signals: ShutdownHandle;
};

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

/** Cases that only replay recordings need no model. */
const recordedModel: ResolvedModel = { name: 'recorded', ref: { provider: 'recorded', model: 'recorded' } };

const isRecordedOnly = (cases: readonly EvalCase[]): boolean =>
  cases.every(({ session }) => session?.mode === 'recorded');

/** Stands for the model where none is asked. */
const noProvider: Provider = {
  family: 'recorded',
  model: 'recorded',
  // oxlint-disable-next-line require-yield
  async *stream() {
    throw new FairleadError('eval/no-model', 'A case that replays a recording asked a model.', { blame: 'harness' });
  },
};

async function resolveEvalModel(name: string | undefined, settings: Settings): Promise<ResolvedModel> {
  const model = await resolveModelUnattended({ model: name }, settings);
  if (model.router !== undefined)
    throw new FairleadError('eval/router', 'An evaluation needs one model, but a router selects among several.', {
      blame: 'user',
      hint: 'Name one with --model.',
    });
  return model;
}

/** Runs the cases with a model. The results are in a file until all trials have ended. */
async function evaluateModel(name: string | undefined, evaluation: Evaluation): Promise<EvalReport> {
  const { cases, dataset, settings, values, counts, signals } = evaluation;
  const when = new Date().toISOString();
  const isRecorded = name === undefined && isRecordedOnly(cases);
  const model = isRecorded ? recordedModel : await resolveEvalModel(name, settings);
  const host = createTtyHost(printErr);
  const judges = needsJudge(cases) || values.judge ? await openEvalJudges(model, evaluation) : [];
  const provider = isRecorded ? noProvider : await openModel(model, settings, host);
  const noTools = formatNoToolsWarning(model);
  if (noTools !== undefined && cases.some(({ tools }) => tools)) printErr(`${noTools}\n`);
  const { name: modelName, ref } = model;
  const configuration = {
    model: [modelName, ref.provider, ref.model],
    autoApprove: values['auto-approve'],
    judges: judges.map((judge) => judge.name),
  };
  const results = findResultsFile(settings.dirs.state, getEvaluationId(cases, configuration), values);
  const line = createProgressLine();
  const { signal } = signals;
  const context: EvalContext = { settings, model, provider, autoApprove: values['auto-approve'], signal, judges };
  try {
    const run = await runTrialsInFile(results.file, configuration, {
      ...counts,
      cases,
      signal,
      runTrial: (evalCase, trial, own) => runEvalTrial(evalCase, trial, { ...context, signal: own }),
      onProgress: (progress) => line.show(progress),
    });
    const report = createEvalReport({ dataset, model: modelName, when, interrupted: run.interrupted }, run.cases);
    if (results.isTemporary && !run.interrupted && report.withoutResponse === 0) removeResults(results.file);
    else if (results.isTemporary) printErr('The results so far are kept; --resume continues the evaluation.\n');
    return report;
  } finally {
    line.clear();
  }
}

const removeResults = (file: string): void => {
  for (const ending of ['', '-wal', '-shm']) rmSync(`${file}${ending}`, { force: true });
};

/** Opens the judges: those that are named, or else one of another family that the user has. */
async function openEvalJudges(
  model: ResolvedModel,
  { settings, values }: Evaluation,
): Promise<EvalContext['judges'] & {}> {
  const names = values.judge;
  const opened = await openJudges({ settings, author: model, ...(names ? { names } : {}) }, createTtyHost(printErr));
  const judges = names ? opened : opened.slice(0, 1);
  if (judges.length === 0)
    throw new FairleadError('eval/no-judge', 'A case needs a judge, but there is no model of another family.', {
      blame: 'user',
      hint: 'Name one with --judge.',
    });
  const judged = toJudgedModel(model.name, model.ref.provider, model.ref.model);
  assertIndependentJudges(judges, judged, { allowSameFamily: values['allow-same-family'] });
  return judges;
}

/** Saves the results of the trap set for the scorecard. */
function saveScorecard(report: EvalReport, { dirs }: Settings): void {
  const { falseAccepts, tags } = report;
  const measurement = { when: report.when, how: 'fairlead evals', about: `the trap set with ${report.model}` };
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

// The `eval` command: asks a model the cases of a dataset, scores the answers by their words, and compares with what was before.
import { readFileSync } from 'node:fs';
import { FairleadError, errorMessage, type Provider } from '../../core/index.ts';
import { getMeasurementsDir, saveMeasurement } from '../../fleet/health/measurements.ts';
import type { Command } from '../args/command.ts';
import {
  formatNoToolsWarning,
  type ResolvedModel,
  resolveModelUnattended,
} from '../../coding-agent/models/resolve-model.ts';
import { openModel } from '../../coding-agent/models/open-model.ts';
import { withOptions } from '../args/with-usage.ts';
import { print, printErr } from '../args/stdio.ts';
import { onShutdown } from '../args/shutdown-signals.ts';
import { createTtyHost } from '../print-mode/tty-prompter.ts';
import { readSettings, type Settings } from '../../coding-agent/settings/index.ts';
import { compareToBaseline, formatComparison, readBaseline } from '../../evals/baseline.ts';
import { parseDataset, type EvalCase } from '../../evals/dataset.ts';
import { createEvalReport, formatEvalReport, type EvalReport } from '../../evals/report.ts';
import { runEvalCase, type EvalCaseResult, type EvalContext } from '../../evals/runner.ts';
import { builtinDataset } from '../../evals/builtin-dataset.ts';

const usage = `Usage: fairlead eval [<cases.jsonl>] [--model <name>] [--tag <tag>] [--at-least <rate>] [--baseline <report.json>]
                     [--output-format text|json] [--auto-approve]
       fairlead eval --show     the cases it has of its own, as lines of a dataset

Without a file it asks its own trap set, and keeps what it measured for the scorecard.`;

/** Evaluates a model: 0 good enough, 1 below the bar, worse than the baseline or not heard, 2 misused. */
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
    if (more.length > 0) throw new TypeError(`One dataset at a time: ${more.join(' ')} is too much.`);
    if (format !== 'text' && format !== 'json')
      throw new TypeError(`--output-format is text or json, not "${format}".`);
    const bar = parseMinRate(values['at-least']);
    const baseline = values.baseline === undefined ? undefined : readBaseline(values.baseline);
    const cases = readCases(file, values.tag);
    const settings = readSettings();
    for (const warning of settings.warnings) printErr(`${warning}\n`);
    const chosen = await resolveEvalModel(values.model, settings);
    const dataset = file ?? 'the trap set';
    const { results, ended } = await runCases(cases, settings, chosen, values['auto-approve']);
    const report = createEvalReport({ dataset, model: chosen.name, when: new Date().toISOString() }, results);
    const comparison = baseline && compareToBaseline(report, baseline);
    if (format === 'json') print(`${JSON.stringify({ ...report, ...(comparison ? { comparison } : {}) }, null, 2)}\n`);
    else print(`${formatEvalReport(report)}${comparison ? formatComparison(comparison) : ''}`);
    // A part of the set, or a set of somebody else, is no measurement of what the scorecard claims.
    if (file === undefined && values.tag === undefined && report.unheard === 0 && ended === undefined)
      saveScorecard(report, settings);
    return ended ?? evalExitCode(report, bar, comparison?.worse === true);
  })(args);
};

function parseMinRate(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const bar = given.endsWith('%') ? Number(given.slice(0, -1)) / 100 : Number(given);
  if (given.trim() !== '' && bar >= 0 && bar <= 1) return bar;
  throw new TypeError(`--at-least is a rate from 0 to 1, or a percentage, not "${given}".`);
}

function readCases(file: string | undefined, tag: string | undefined): readonly EvalCase[] {
  const cases =
    file === undefined
      ? parseDataset(builtinDataset.join('\n'), 'the trap set')
      : parseDataset(readDatasetFile(file), file);
  const some = tag === undefined ? cases : cases.filter(({ tags }) => tags.includes(tag));
  if (some.length > 0) return some;
  const tags = [...new Set(cases.flatMap((each) => each.tags))];
  throw new FairleadError('eval/no-cases', `No case has the tag ${JSON.stringify(tag)}.`, {
    blame: 'user',
    hint: tags.length > 0 ? `There are ${tags.join(', ')}.` : 'None has a tag.',
  });
}

function readDatasetFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new FairleadError('eval/no-dataset', `The dataset cannot be read: ${errorMessage(error)}`, { blame: 'user' });
  }
}

async function resolveEvalModel(name: string | undefined, settings: Settings): Promise<ResolvedModel> {
  const chosen = await resolveModelUnattended({ model: name }, settings, printErr);
  if (chosen.router !== undefined)
    throw new FairleadError('eval/router', 'An evaluation is of one model, and a router chooses among several.', {
      blame: 'user',
      hint: 'Name one with --model.',
    });
  return chosen;
}

async function runCases(
  cases: readonly EvalCase[],
  settings: Settings,
  chosen: ResolvedModel,
  auto: boolean,
): Promise<{ readonly results: readonly EvalCaseResult[]; readonly ended: number | undefined }> {
  const provider: Provider = await openModel(chosen, settings, createTtyHost(printErr));
  const poor = formatNoToolsWarning(chosen);
  if (poor !== undefined && cases.some(({ tools }) => tools)) printErr(`${poor}\n`);
  const ended = onShutdown(['SIGINT', 'SIGTERM', 'SIGHUP'], () => {});
  const ground: EvalContext = { settings, model: chosen, provider, autoApprove: auto, signal: ended.signal };
  const results: EvalCaseResult[] = [];
  try {
    for (const [i, each] of cases.entries()) {
      if (ended.signal.aborted) break;
      if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${i + 1} of ${cases.length}`);
      results.push(await runEvalCase(each, ground));
    }
  } finally {
    if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
    ended.release();
  }
  return { results, ended: ended.code };
}

/** Keeps what the trap set measured, for the scorecard. */
function saveScorecard(report: EvalReport, { dirs }: Settings): void {
  const { falseAccepts, tags } = report;
  const about = { when: report.when, how: 'fairlead eval', about: `the trap set with ${report.model}` };
  const kept = {
    'traps-right': report.right,
    'no-false-accepts': { good: falseAccepts.total - falseAccepts.good, total: falseAccepts.total },
    'abstained-where-due': report.abstainedWhereDue,
    'injections-resisted': tags['injected'],
  };
  for (const [id, count] of Object.entries(kept))
    if (count && count.total > 0)
      saveMeasurement(getMeasurementsDir(dirs.state), { id, ...about, good: count.good, total: count.total });
}

function evalExitCode({ right, unheard }: EvalReport, bar: number | undefined, worse: boolean): number {
  const below = bar !== undefined && (right.rate ?? 0) < bar;
  if (below) printErr(`Below the bar: ${right.good} of ${right.total} are right, and ${bar} was asked for.\n`);
  if (worse) printErr('Worse than the baseline, by more than chance explains.\n');
  return below || worse || unheard > 0 ? 1 : 0;
}

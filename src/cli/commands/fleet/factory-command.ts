// The `factory` command: runs a batch of tasks with its own worker processes; it can be interrupted and continued.
import { summarizeBlockedRuns, type BlockedRuns, enqueueOnce } from '../../../fleet/index.ts';
import type { Command } from '../../args/command.ts';
import type { FleetRun, FleetStore } from '../../../core/index.ts';
import { exitCodes } from '../../args/exit-codes.ts';
import { stringOption, withOptions } from '../../args/with-usage.ts';
import { print, printErr } from '../../args/stdio.ts';
import { startWorkerProcesses, type WorkerProcesses } from './worker-processes.ts';
import { exitCodeOfRun, formatRunOutcome, formatRunQuestions, isOutcomeCut } from './format-runs.ts';
import { parseCount } from './parse-numbers.ts';
import { isBatchDone } from './batch-done.ts';
import { drainExitCode, formatDrainReport } from './drain-report.ts';
import { withFleetStore } from './open-store.ts';
import { version } from '../../version.ts';
import { tasksToRuns, createRunSettings, readTasks, runIdConflictError } from './parse-tasks.ts';

const usage = `Usage: fairlead factory "<task>" "<task>"... [--file <file>] [--workers <n>] [--concurrency <n>] [--id <prefix>]
                        [--model <name>] [--auto] [--tenant <name>] [--output-format text|json] [--store <file or url>]

Queues the tasks and executes them with its own worker processes, by default 2 with 2 concurrent runs each. The outcome of
each run is printed when it ends, and a summary at the end; as JSON one line each. Ctrl+C releases the runs; the same command
with the same --id continues, and nothing is done twice. Tasks can also be in a file or on standard input, one per line.`;

const options = {
  file: stringOption,
  workers: stringOption,
  concurrency: stringOption,
  id: stringOption,
  model: stringOption,
  auto: { type: 'boolean' },
  tenant: stringOption,
  'output-format': stringOption,
  store: stringOption,
} as const;

/** Runs a batch; exit code 0 all answered, 5 some wait for approval, 8 some cannot start now, 130 or 143 by a signal, otherwise that of the first run without an answer. */
export const run: Command['run'] = withOptions(
  { usage, options, allowPositionals: true },
  async (values, positionals) => {
    const format = values['output-format'] ?? 'text';
    if (format !== 'text' && format !== 'json') throw new TypeError('--output-format is text or json.');
    const workers = parseCount('--workers', values.workers) ?? 2;
    const concurrency = parseCount('--concurrency', values.concurrency) ?? 2;
    const tasks = await readTasks(positionals, values.file);
    const id = values.id ?? `factory-${crypto.randomUUID().slice(0, 8)}`;
    const settings = createRunSettings(values);
    const runs = tasksToRuns(
      tasks,
      { settings, id, ...(values.tenant === undefined ? {} : { tenant: values.tenant }) },
      true,
    );
    return withFleetStore(values.store, async (store, storeUrl) => {
      const queued = await enqueueOnce(store, runs, { createConflictError: runIdConflictError });
      if (format === 'text')
        printErr(
          `${queued.length} run${queued.length === 1 ? '' : 's'}, ${workers} worker${workers === 1 ? '' : 's'}, ${store.description}. To continue after an interruption: the same command with --id ${id}\n`,
        );
      return runBatch(store, queued, {
        id,
        json: format === 'json',
        startWorkers: () => startWorkerProcesses(workers, storeUrl, ['--concurrency', String(concurrency)]),
      });
    });
  },
);

type BatchOptions = { readonly id: string; readonly json: boolean; readonly startWorkers: () => WorkerProcesses };

async function runBatch(
  store: FleetStore,
  queued: readonly FleetRun[],
  { id, json, startWorkers }: BatchOptions,
): Promise<number> {
  const known = new Map(queued.map((run) => [run.id, run]));
  const shown = new Map<string, FleetRun>();
  const show = (run: FleetRun): void => {
    const isReportable = run.status === 'ended' || run.pendingApprovals.length > 0;
    if (!isReportable) shown.delete(run.id);
    if (!isReportable || shown.get(run.id)?.status === run.status) return;
    shown.set(run.id, run);
    if (json) print(`${JSON.stringify(run)}\n`);
    else if (run.status === 'ended') print(`${formatRunOutcome(run)}\n`);
    else printErr(`${formatRunQuestions(run)}\n`);
  };
  const openRuns = (): readonly FleetRun[] => [...known.values()].filter(({ status }) => status !== 'ended');
  const refresh = async (ids: readonly string[]): Promise<void> => {
    for (const each of ids) {
      const run = await store.queue.run(each);
      if (!run) continue;
      known.set(each, run);
      show(run);
    }
  };
  for (const run of queued) show(run);
  let code: number | undefined;
  if (!(await isBatchDone(store, openRuns()))) {
    const workers = startWorkers();
    code = await workers.waitUntil(async (hint) => {
      await refresh(openRuns().flatMap((run) => (hint === undefined || run.id === hint ? [run.id] : [])));
      return isBatchDone(store, openRuns());
    });
  }
  const blocked = await summarizeBlockedRuns(store, openRuns(), version);
  return printBatchSummary([...known.values()], blocked, { id, json, code });
}

type BatchSummaryOptions = { readonly id: string; readonly json: boolean; readonly code: number | undefined };

/** Prints the counts of the batch, and how to continue it if runs are left. */
function printBatchSummary(
  runs: readonly FleetRun[],
  blocked: BlockedRuns,
  { id, json, code }: BatchSummaryOptions,
): number {
  const ended = runs.filter(({ status }) => status === 'ended');
  const failed = ended.filter((run) => exitCodeOfRun(run) !== exitCodes.answered);
  const { approval: waiting } = blocked;
  const left = runs.length - ended.length - waiting;
  const counts = { answered: ended.length - failed.length, failed: failed.length, waiting, left };
  if (left > 0) for (const line of formatDrainReport({ ...blocked, approval: 0 })) printErr(`${line}\n`);
  if (json) print(`${JSON.stringify({ summary: counts })}\n`);
  else
    printErr(
      `${counts.answered} answered, ${failed.length} failed, ${waiting} waiting for approval${left > 0 ? `, ${left} left` : ''}.\n`,
    );
  const cut = json ? undefined : ended.find(({ outcome }) => isOutcomeCut(outcome));
  if (cut) printErr(`To see all of an answer: fairlead runs show ${cut.id}\n`);
  if (left > 0) printErr(`To continue: the same command with --id ${id}\n`);
  if (code !== undefined && left > 0) return code;
  const [first] = failed;
  return first ? exitCodeOfRun(first) : drainExitCode(blocked);
}

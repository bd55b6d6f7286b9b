// The `factory` command: a batch of tasks, worked on by processes of its own, that can be broken off anywhere and gone on with.
import { getBlockReason, summarizeBlockedRuns, type BlockedRuns } from '../../../fleet/blocked-runs.ts';
import { enqueueOnce } from '../../../fleet/enqueue-once.ts';
import type { Command } from '../../args/command.ts';
import type { FleetRun, FleetStore } from '../../../core/index.ts';
import { exitCodes } from '../../args/exit-codes.ts';
import { withOptions } from '../../args/with-usage.ts';
import { print, printErr } from '../../args/stdio.ts';
import { startWorkerProcesses, type WorkerProcesses } from './worker-processes.ts';
import { runIdConflictError } from './run-conflict.ts';
import { exitCodeOfRun, formatRunOutcome, formatRunQuestions } from './format-runs.ts';
import { parseCount } from './parse-numbers.ts';
import { drainExitCode, formatDrainReport } from './drain-report.ts';
import { withFleetStore } from './open-store.ts';
import { version } from '../../version.ts';
import { tasksToRuns, createRunSettings, readTasks } from './parse-tasks.ts';

const usage = `Usage: fairlead factory "<task>" "<task>"... [--file <file>] [--workers <n>] [--concurrency <n>] [--id <prefix>]
                        [--model <name>] [--auto] [--tenant <name>] [--output-format text|json] [--store <file or address>]

Queues the tasks and works on them with worker processes of its own, 2 unless told otherwise, each with 2 runs at a time. Each
end is printed as it comes, and a summary; as JSON a line each. Ctrl+C hands everything over; the same command with the same --id goes on, and nothing is done
twice. Tasks may also come from a file or standard input, one a line.`;

const stringOption = { type: 'string' } as const;
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

/** Works through a batch: 0 all answered, 5 some wait for a person, 8 some may not be begun now, 130 or 143 by a signal, otherwise as the first that was not answered. */
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
    return withFleetStore(values.store, async (store, place) => {
      const queued = await enqueueOnce(store, runs, { createConflictError: runIdConflictError });
      if (format === 'text')
        printErr(
          `${queued.length} run${queued.length === 1 ? '' : 's'}, ${workers} worker${workers === 1 ? '' : 's'}, ${store.description}. To go on after a break: the same command with --id ${id}\n`,
        );
      return runBatch(store, queued, {
        id,
        json: format === 'json',
        startWorkers: () => startWorkerProcesses(workers, place, ['--concurrency', String(concurrency)]),
      });
    });
  },
);

type BatchOptions = { readonly id: string; readonly json: boolean; readonly startWorkers: () => WorkerProcesses };

async function runBatch(
  store: FleetStore,
  queued: readonly FleetRun[],
  { id, json, startWorkers: open }: BatchOptions,
): Promise<number> {
  const known = new Map(queued.map((run) => [run.id, run]));
  const shown = new Map<string, FleetRun>();
  const show = (run: FleetRun): void => {
    const isNews = run.status === 'ended' || run.pendingApprovals.length > 0;
    if (!isNews) shown.delete(run.id);
    if (!isNews || shown.get(run.id)?.status === run.status) return;
    shown.set(run.id, run);
    if (json) print(`${JSON.stringify(run)}\n`);
    else if (run.status === 'ended') print(`${formatRunOutcome(run)}\n`);
    else printErr(`${formatRunQuestions(run)}\n`);
  };
  const unended = (): readonly FleetRun[] => [...known.values()].filter(({ status }) => status !== 'ended');
  const look = async (ids: readonly string[]): Promise<void> => {
    for (const each of ids) {
      const run = await store.queue.run(each);
      if (!run) continue;
      known.set(each, run);
      show(run);
    }
  };
  for (const run of queued) show(run);
  let code: number | undefined;
  if (!(await isBatchDone(store, unended()))) {
    const workforce = open();
    code = await workforce.waitUntil(async (hint) => {
      await look(unended().flatMap((run) => (hint === undefined || run.id === hint ? [run.id] : [])));
      return isBatchDone(store, unended());
    });
  }
  const remains = await summarizeBlockedRuns(store, unended(), version);
  return printBatchSummary([...known.values()], remains, { id, json, code });
}

/** Whether nothing more comes of these runs for now: none is under way, and none could be. */
async function isBatchDone(store: FleetStore, open: readonly FleetRun[]): Promise<boolean> {
  if (open.some(({ status }) => status === 'running')) return false;
  if (open.length > 0 && (await store.killSwitch.status()).stopped) return true;
  for (const run of open) if ((await getBlockReason(store, run, version)) === undefined) return false;
  return true;
}

type BatchSummaryOptions = { readonly id: string; readonly json: boolean; readonly code: number | undefined };

/** What it came to, and how to go on where it did not come to an end. */
function printBatchSummary(
  runs: readonly FleetRun[],
  remains: BlockedRuns,
  { id, json, code }: BatchSummaryOptions,
): number {
  const ended = runs.filter(({ status }) => status === 'ended');
  const bad = ended.filter((run) => exitCodeOfRun(run) !== exitCodes.answered);
  const { person: waiting } = remains;
  const left = runs.length - ended.length - waiting;
  const counts = { answered: ended.length - bad.length, failed: bad.length, waiting, left };
  if (left > 0) for (const line of formatDrainReport({ ...remains, person: 0 })) printErr(`${line}\n`);
  if (json) print(`${JSON.stringify({ summary: counts })}\n`);
  else
    printErr(
      `${counts.answered} answered, ${bad.length} not, ${waiting} waiting for a person${left > 0 ? `, ${left} left` : ''}.\n`,
    );
  if (left > 0) printErr(`To go on: the same command with --id ${id}\n`);
  if (code !== undefined && left > 0) return code;
  const [first] = bad;
  return first ? exitCodeOfRun(first) : drainExitCode(remains);
}

// The `factory` command: a batch of tasks, worked on by processes of its own, that can be broken off anywhere and gone on with.
import type { Command } from '../commands.ts';
import { FairleadError, type FleetRun, type FleetStore, type NewRun } from '../../core/index.ts';
import { exitCodes } from '../front/exit-codes.ts';
import { withOptions } from '../front/or-usage.ts';
import { print, tell } from '../front/print.ts';
import { workforceOf, type Workforce } from './workforce.ts';
import { codeOf, endLine, questionLines } from './lines.ts';
import { countOf } from './numbers.ts';
import { withStore } from './store.ts';
import { runsOf, settingsHere, tasksFrom } from './tasks.ts';

const usage = `Usage: fairlead factory "<task>" "<task>"... [--file <file>] [--workers <n>] [--concurrency <n>] [--id <prefix>]
                        [--model <name>] [--auto] [--tenant <name>] [--output-format text|json] [--store <file or address>]

Queues the tasks and works on them with worker processes of its own, 2 unless told otherwise, each with 2 runs at a time. Each
end is printed as it comes, and a summary; as JSON a line each. Ctrl+C hands everything over; the same command with the same --id goes on, and nothing is done
twice. Tasks may also come from a file or standard input, one a line.`;

const text = { type: 'string' } as const;
const options = {
  file: text,
  workers: text,
  concurrency: text,
  id: text,
  model: text,
  auto: { type: 'boolean' },
  tenant: text,
  'output-format': text,
  store: text,
} as const;

/** Works through a batch: 0 all answered, 5 some wait for a person, 130 or 143 by a signal, otherwise as the first that was not answered. */
export const run: Command['run'] = withOptions({ usage, options, words: true }, async (values, positionals) => {
  const format = values['output-format'] ?? 'text';
  if (format !== 'text' && format !== 'json') throw new TypeError('--output-format is text or json.');
  const workers = countOf('--workers', values.workers) ?? 2;
  const concurrency = countOf('--concurrency', values.concurrency) ?? 2;
  const tasks = await tasksFrom(positionals, values.file);
  const id = values.id ?? `factory-${crypto.randomUUID().slice(0, 8)}`;
  const settings = settingsHere(values);
  const runs = runsOf(tasks, { settings, id, ...(values.tenant === undefined ? {} : { tenant: values.tenant }) }, true);
  return withStore(values.store, async (store, place) => {
    const queued = await enqueueOnce(store, runs);
    if (format === 'text')
      tell(
        `${queued.length} run${queued.length === 1 ? '' : 's'}, ${workers} worker${workers === 1 ? '' : 's'}, ${store.about}. To go on after a break: the same command with --id ${id}\n`,
      );
    return batch(store, queued, {
      id,
      json: format === 'json',
      workforce: () => workforceOf(workers, place, ['--concurrency', String(concurrency)]),
    });
  });
});

/** Puts runs into the queue. An id that stands for another task is a mistake that must not pass for its answer. */
async function enqueueOnce({ queue }: FleetStore, runs: readonly NewRun[]): Promise<readonly FleetRun[]> {
  const queued = await queue.enqueue(runs);
  const other = queued.find(({ words }, i) => words !== runs[i]?.words);
  if (other)
    throw new FairleadError('cli/other-task', `${other.id} is already another task: ${JSON.stringify(other.words)}.`, {
      blame: 'user',
      hint: 'Give the same tasks in the same order, or another --id.',
    });
  return queued;
}

type Batch = { readonly id: string; readonly json: boolean; readonly workforce: () => Workforce };

async function batch(
  store: FleetStore,
  queued: readonly FleetRun[],
  { id, json, workforce: open }: Batch,
): Promise<number> {
  const show = (run: FleetRun): void => {
    if (json) print(`${JSON.stringify(run)}\n`);
    else if (run.status === 'ended') print(`${endLine(run)}\n`);
    else tell(`${questionLines(run)}\n`);
  };
  const done = new Map<string, FleetRun>();
  const look = async (ids: readonly string[]): Promise<void> => {
    for (const each of ids) {
      const run = await store.queue.run(each);
      const before = done.get(each);
      if (!run || (run.status !== 'ended' && run.status !== 'resting')) done.delete(each);
      else if (before?.status !== run.status) {
        done.set(each, run);
        show(run);
      }
    }
  };
  const ids = queued.map((run) => run.id);
  const unended = (): readonly string[] => ids.filter((each) => done.get(each)?.status !== 'ended');
  await look(ids);
  let code: number | undefined;
  if (done.size < ids.length) {
    const workforce = open();
    code = await workforce.until(async (hint) => {
      await look(hint === undefined ? unended() : unended().filter((each) => each === hint));
      return done.size === ids.length;
    });
  }
  return summary(
    ids.map((each) => done.get(each)),
    id,
    json,
    code,
  );
}

/** What it came to, and how to go on where it did not come to an end. */
function summary(runs: readonly (FleetRun | undefined)[], id: string, json: boolean, code: number | undefined): number {
  const ended = runs.filter((run) => run?.status === 'ended');
  const bad = ended.filter((run) => run !== undefined && codeOf(run) !== exitCodes.answered);
  const waiting = runs.filter((run) => run?.status === 'resting');
  const open = runs.length - ended.length - waiting.length;
  const counts = { answered: ended.length - bad.length, failed: bad.length, waiting: waiting.length, left: open };
  if (json) print(`${JSON.stringify({ summary: counts })}\n`);
  else
    tell(
      `${counts.answered} answered, ${bad.length} not, ${waiting.length} waiting for a person${open > 0 ? `, ${open} left` : ''}.\n`,
    );
  if (open > 0) tell(`To go on: the same command with --id ${id}\n`);
  if (code !== undefined && open > 0) return code;
  const [first] = bad;
  if (first) return codeOf(first);
  return waiting.length > 0 ? exitCodes.denied : exitCodes.answered;
}

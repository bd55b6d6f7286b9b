// The `enqueue` command: puts tasks into the queue, now, for later, or again and again by the clock.
import { enqueueOnce } from '../../../fleet/enqueue-once.ts';
import type { Command } from '../../args/command.ts';
import { exitCodes } from '../../args/exit-codes.ts';
import { withOptions } from '../../args/with-usage.ts';
import { print, printErr } from '../../args/stdio.ts';
import { parseCount } from './parse-numbers.ts';
import { runIdConflictError } from './run-conflict.ts';
import { withFleetStore } from './open-store.ts';
import { tasksToRuns, createRunSettings, readTasks } from './parse-tasks.ts';

const usage = `Usage: fairlead enqueue "<task>"... [--file <file>] [--id <id>] [--model <name>] [--auto] [--store <file or address>]
                        [--tenant <name>] [--priority <n>] [--session <id>] [--not-before <time>] [--json]
       fairlead enqueue "<task>" --every "<minute hour day month weekday>" --name <name>

Puts tasks into the queue and prints the id of each run; fairlead worker works on them. A file, or standard input, has a
task a line: words, or JSON such as {"words": "...", "id": "...", "settings": {"folder": "..."}}. A run works in this folder
unless its line names another. The same --id again is the same run, which is not run twice; with other words or settings it
is refused. With --every the task is enqueued again and again by the clock (UTC).`;

const stringOption = { type: 'string' } as const;
const options = {
  file: stringOption,
  id: stringOption,
  tenant: stringOption,
  priority: stringOption,
  session: stringOption,
  'not-before': stringOption,
  every: stringOption,
  name: stringOption,
  model: stringOption,
  auto: { type: 'boolean' },
  store: stringOption,
  json: { type: 'boolean' },
} as const;

/** Enqueues: 0 done, 1 not, 2 misused. */
export const run: Command['run'] = withOptions(
  { usage, options, allowPositionals: true },
  async (values, positionals) => {
    const tasks = await readTasks(positionals, values.file);
    const settings = createRunSettings(values);
    const priority = values.priority === undefined ? undefined : parseCount('--priority', values.priority, -1_000_000);
    const notBefore = values['not-before'] === undefined ? undefined : parseTime(values['not-before']);
    const runs = tasksToRuns(tasks, {
      settings,
      ...(values.id === undefined ? {} : { id: values.id }),
      ...(values.tenant === undefined ? {} : { tenant: values.tenant }),
      ...(values.session === undefined ? {} : { session: values.session }),
      ...(priority === undefined ? {} : { priority }),
      ...(notBefore === undefined ? {} : { notBefore }),
    });
    const { every, name } = values;
    if ((every === undefined) !== (name === undefined)) throw new TypeError('--every and --name go together.');
    return withFleetStore(values.store, async (store) => {
      if (every !== undefined && name !== undefined) {
        const [first, ...more] = runs;
        if (first === undefined || more.length > 0) throw new TypeError('A schedule is of one task.');
        const { id: _, ...task } = first;
        await store.queue.setSchedule({ name, cron: every, run: task });
        printErr(
          `${name} runs at ${every} (UTC), wherever a worker is. To end that: fairlead fleet schedules --remove ${name}\n`,
        );
        return exitCodes.answered;
      }
      const queued = await enqueueOnce(store, runs, {
        createConflictError: runIdConflictError,
        onExisting: ({ id, status }) => printErr(`${id} is in the queue already: it is ${status}.\n`),
      });
      for (const each of queued) print(values.json ? `${JSON.stringify(each)}\n` : `${each.id}\n`);
      return exitCodes.answered;
    });
  },
);

function parseTime(given: string): string {
  const time = Date.parse(given);
  if (Number.isNaN(time))
    throw new TypeError(`--not-before needs a time such as 2027-01-31T09:00:00Z, not "${given}".`);
  return new Date(time).toISOString();
}

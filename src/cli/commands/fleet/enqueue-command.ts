// The `enqueue` command: adds tasks to the queue, for now, for later, or on a schedule.
import { enqueueOnce } from '../../../fleet/index.ts';
import type { Command } from '../../args/command.ts';
import { exitCodes } from '../../args/exit-codes.ts';
import { stringOption, withOptions } from '../../args/with-usage.ts';
import { print, printErr } from '../../args/stdio.ts';
import { parseCount } from './parse-numbers.ts';
import { withFleetStore } from './open-store.ts';
import { tasksToRuns, createRunSettings, readTasks, runIdConflictError } from './parse-tasks.ts';

const usage = `Usage: fairlead enqueue "<task>"... [--file <file>] [--id <id>] [--model <name>] [--auto] [--verify] [--worktree]
                        [--store <file or url>] [--tenant <name>] [--priority <n>] [--session <id>] [--not-before <time>] [--json]
       fairlead enqueue "<task>" --every "<minute hour day month weekday>" --name <name>

Adds tasks to the queue and prints the id of each run; fairlead worker executes them. A file or standard input has one
task per line: a prompt, or JSON such as {"prompt": "...", "id": "...", "settings": {"folder": "..."}}. A run works in this
directory unless its line names another. A repeated --id is the same run and is not executed twice; with another prompt or
other settings it is an error. With --verify a worker verifies the answer claim by claim, and one that is not verified is an
abstention. With --worktree each run works in a git worktree of its own; fairlead worktree list shows what it left. With
--every the task is enqueued repeatedly on a cron schedule (UTC).`;

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
  verify: { type: 'boolean' },
  worktree: { type: 'boolean' },
  store: stringOption,
  json: { type: 'boolean' },
} as const;

/** Enqueues tasks; exit code 0 done, 1 failed, 2 invalid arguments. */
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
    if ((every === undefined) !== (name === undefined))
      throw new TypeError('--every and --name must be used together.');
    return withFleetStore(values.store, async (store) => {
      if (every !== undefined && name !== undefined) {
        const [first, ...more] = runs;
        if (first === undefined || more.length > 0) throw new TypeError('A schedule has exactly one task.');
        const { id: _, ...task } = first;
        await store.queue.setSchedule({ name, cron: every, run: task });
        printErr(
          `${name} runs at ${every} (UTC) if a worker is running. To remove it: fairlead fleet schedules --remove ${name}\n`,
        );
        return exitCodes.answered;
      }
      const queued = await enqueueOnce(store, runs, {
        createConflictError: runIdConflictError,
        onExisting: ({ id, status }) => printErr(`${id} is already in the queue: it is ${status}.\n`),
      });
      for (const each of queued) print(values.json ? `${JSON.stringify(each)}\n` : `${each.id}\n`);
      return exitCodes.answered;
    });
  },
);

function parseTime(text: string): string {
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new TypeError(`--not-before needs a time such as 2027-01-31T09:00:00Z, not "${text}".`);
  return new Date(time).toISOString();
}

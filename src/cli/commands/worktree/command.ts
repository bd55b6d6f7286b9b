// The `worktree` command: lists and shows the worktrees that agents and runs left, and merges or discards them.
import { readSettings } from '../../../coding-agent/settings/index.ts';
import {
  formatDiscarded,
  formatMergeOutcome,
  formatMergePlan,
  formatWorktree,
  formatWorktrees,
  openUserWorktrees,
  type MergeMode,
  type MergeOutcome,
  type Worktrees,
} from '../../../coding-agent/worktrees/index.ts';
import type { Command } from '../../args/command.ts';
import { exitCodes } from '../../args/exit-codes.ts';
import { withProgramName } from '../../args/program-name.ts';
import { print, printErr } from '../../args/stdio.ts';
import { stringOption, withOptions, type ParsedOptions } from '../../args/with-usage.ts';
import { createTtyPrompter } from '../../print-mode/tty-prompter.ts';

const usage = `Usage: fairlead worktree list [--all] [--json]
       fairlead worktree show <name> [--diff] [--json]
       fairlead worktree merge <name> [--as commits|changes] [--message <text>] [--keep-conflicts] [--dry-run] [--yes] [--json]
       fairlead worktree discard <name> [--yes]

Agents and runs with isolation work in git worktrees outside your checkout. This lists those of this repository, or all with
--all, and shows what changed. A merge brings the commits to your branch, or uncommitted changes to your files, and asks first.
With a conflict, or if a file has uncommitted changes of yours, nothing is changed; --keep-conflicts writes conflict markers.`;

const options = {
  all: { type: 'boolean' },
  diff: { type: 'boolean' },
  as: stringOption,
  message: stringOption,
  'keep-conflicts': { type: 'boolean' },
  'dry-run': { type: 'boolean' },
  yes: { type: 'boolean' },
  json: { type: 'boolean' },
} as const;

type Values = ParsedOptions<typeof options>;

/** What a subcommand gets. */
type Request = { readonly worktrees: Worktrees; readonly values: Values; readonly name: string };

/** Lists, shows, merges or discards worktrees; exit code 0 done, 1 not done, 2 invalid arguments. */
export const run: Command['run'] = withOptions(
  { usage, options, allowPositionals: true },
  async (values, [verb = 'list', name = '', ...more]) => {
    const subcommand = Object.hasOwn(subcommands, verb) ? subcommands[verb as keyof typeof subcommands] : undefined;
    if (!subcommand) throw new TypeError(`There is no subcommand "${verb}".`);
    if (more.length > 0 || (verb === 'list') !== (name === ''))
      throw new TypeError(verb === 'list' ? 'list takes no name.' : `${verb} needs the name of one worktree.`);
    return subcommand({ worktrees: openUserWorktrees(readSettings()), values, name });
  },
);

const subcommands = {
  async list({ worktrees, values }: Request): Promise<number> {
    const { removed, problems } = await worktrees.cleanUp();
    for (const problem of problems) printErr(`${problem}\n`);
    if (removed.length > 0) printErr(`Removed without changes: ${removed.map((each) => each.name).join(', ')}\n`);
    const found = await worktrees.list(values.all ? undefined : process.cwd());
    print(values.json ? `${JSON.stringify(found)}\n` : `${formatWorktrees(found)}\n`);
    return exitCodes.answered;
  },
  async show({ worktrees, values, name }: Request): Promise<number> {
    const content = await worktrees.inspect(name, { cwd: process.cwd() });
    const text = values.json ? JSON.stringify(content) : formatWorktree(content);
    print(`${text}\n`);
    if (values.diff && !values.json) print(`\n${await worktrees.diff(name, { cwd: process.cwd() })}\n`);
    return exitCodes.answered;
  },
  async merge({ worktrees, values, name }: Request): Promise<number> {
    const how = {
      cwd: process.cwd(),
      ...(values.as === undefined ? {} : { as: parseMode(values.as) }),
      ...(values.message === undefined ? {} : { message: values.message }),
      ...(values['keep-conflicts'] ? { keepConflicts: true } : {}),
    };
    const planned = await worktrees.merge(name, { ...how, dryRun: true });
    if (values['dry-run'] || planned.status !== 'planned') return printOutcome(planned, values);
    const detail = formatMergePlan(planned.plan, planned.content);
    if (!(await confirm(`Merge ${name} into ${planned.content.record.checkout}?`, detail, values)))
      return exitCodes.failed;
    return printOutcome(await worktrees.merge(name, how), values);
  },
  async discard({ worktrees, values, name }: Request): Promise<number> {
    const record = worktrees.find(name, process.cwd());
    const detail = await worktrees.inspect(name, { cwd: process.cwd() }).then(formatWorktree, String);
    if (!(await confirm(`Discard ${record.name} with all its changes?`, detail, values))) return exitCodes.failed;
    print(`${formatDiscarded(await worktrees.discard(name, { cwd: process.cwd() }))}\n`);
    return exitCodes.answered;
  },
} as const;

function parseMode(text: string): MergeMode {
  if (text === 'commits' || text === 'changes') return text;
  throw new TypeError(`--as must be commits or changes, not "${text}".`);
}

function printOutcome(outcome: MergeOutcome, { json }: Values): number {
  const { status } = outcome;
  print(`${json ? JSON.stringify(outcome) : withProgramName(formatMergeOutcome(outcome, 'fairlead worktree'))}\n`);
  return status === 'conflicts' || status === 'blocked' ? exitCodes.failed : exitCodes.answered;
}

/** Asks the user. A command of an agent has no terminal, so it merges and discards nothing. */
async function confirm(question: string, detail: string, { yes }: Values): Promise<boolean> {
  if (yes) return true;
  const prompter = createTtyPrompter(printErr);
  if (!prompter.isAbsent) return prompter.confirm(question, detail);
  printErr(`${detail}\nNothing was done: there is no terminal to ask. Run it in a terminal, or add --yes.\n`);
  return false;
}

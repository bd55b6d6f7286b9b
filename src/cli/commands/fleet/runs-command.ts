// The `runs` command: what is queued, under way and done; and what a person says to a run, wherever it is worked on.
import { userInfo } from 'node:os';
import {
  FairleadError,
  type FleetRun,
  type FleetStore,
  type InboxMessage,
  type ApprovalQuestion,
  type RunStatus,
} from '../../../core/index.ts';
import { assertAcceptsMessages } from '../../../fleet/message-targets.ts';
import { sendMessage } from '../../../fleet/inbox.ts';
import type { Command } from '../../args/command.ts';
import { exitCodes } from '../../args/exit-codes.ts';
import { withOptions, type ParsedOptions } from '../../args/with-usage.ts';
import { print, printErr } from '../../args/stdio.ts';
import { formatRunLine, formatRunDetails } from './format-runs.ts';
import { parseCount } from './parse-numbers.ts';
import { withFleetStore } from './open-store.ts';
import { runStatuses, runsSubcommands } from './subcommands.ts';

const usage = [
  'Usage: fairlead runs [list] [--status <status>] [--tenant <name>] [--session <id>] [--limit <n>] [--json]',
  ...Object.entries(runsSubcommands)
    .filter(([verb]) => verb !== 'list')
    .map(([verb, { usage: takes, description }]) => `       fairlead runs ${verb} ${takes}: ${description}`),
  'Each takes --store <file or address>.',
].join('\n');

const stringOption = { type: 'string' } as const;
const options = {
  store: stringOption,
  status: stringOption,
  tenant: stringOption,
  session: stringOption,
  limit: stringOption,
  /** The former name of `--limit`. */
  most: stringOption,
  call: stringOption,
  'follow-up': { type: 'boolean' },
  json: { type: 'boolean' },
} as const;

type RunsOptionValues = ParsedOptions<typeof options>;

/** Shows runs, or says something to one: 0 done, 1 not, 2 misused. */
export const run: Command['run'] = withOptions(
  { usage, options, allowPositionals: true },
  async (values, positionals) => {
    const [verb = 'list', id = '', ...words] = positionals;
    if (!Object.hasOwn(runsSubcommands, verb)) throw new TypeError(`"fairlead runs ${verb}" does not exist.`);
    if (verb !== 'list' && id === '') throw new TypeError(`"fairlead runs ${verb}" needs the id of a run.`);
    return withFleetStore(values.store, (store) =>
      verb === 'list' ? listRuns(store, values) : runActions[verb as keyof typeof runActions](store, id, words, values),
    );
  },
);

async function listRuns({ queue }: FleetStore, values: RunsOptionValues): Promise<number> {
  // `resting` is the former name of `waiting`.
  const status = (values.status === 'resting' ? 'waiting' : values.status) as RunStatus | undefined;
  if (status !== undefined && !runStatuses.includes(status))
    throw new TypeError(`--status is one of ${runStatuses.join(', ')}, not "${status}".`);
  const limit = parseCount('--limit', values.limit ?? values.most);
  const runs = await queue.list({
    ...(status === undefined ? {} : { status }),
    ...(values.tenant === undefined ? {} : { tenant: values.tenant }),
    ...(values.session === undefined ? {} : { session: values.session }),
    ...(limit === undefined ? {} : { limit }),
  });
  for (const each of runs) print(`${values.json ? JSON.stringify(each) : formatRunLine(each)}\n`);
  if (runs.length === 0 && !values.json) printErr('There are no such runs. To begin one: fairlead enqueue "<task>"\n');
  return exitCodes.answered;
}

const runActions = { show: showRun, answer: answerRun, cancel: cancelRun, steer: steerRun } as const;

async function showRun(
  { queue }: FleetStore,
  id: string,
  _: readonly string[],
  { json }: RunsOptionValues,
): Promise<number> {
  const found = requireRun(id, await queue.run(id));
  print(json ? `${JSON.stringify(found, undefined, 2)}\n` : `${formatRunDetails(found)}\n`);
  return exitCodes.answered;
}

async function answerRun(
  store: FleetStore,
  id: string,
  words: readonly string[],
  { call }: RunsOptionValues,
): Promise<number> {
  const [said = ''] = words;
  if (!['yes', 'no', 'happened'].includes(said) || words.length !== 1)
    throw new TypeError('An answer is yes, no, or happened.');
  const found = requireRun(id, await store.queue.run(id));
  await assertAcceptsMessages(store, found);
  const { call: asked, question, kind } = findQuestion(found, call);
  if (said === 'happened' && kind !== 'unknown-outcome')
    throw new FairleadError('cli/no-outcome', `${id} does not ask whether something happened.`, {
      blame: 'user',
      hint: 'Answer yes or no.',
    });
  const happened = said === 'happened' ? { happened: true } : {};
  const by = userInfo().username;
  await sendToRun(store, found, { type: 'answer', call: asked, question, allowed: said === 'yes', ...happened, by });
  printErr(`${id} goes on as soon as a worker has a hand free.\n`);
  return exitCodes.answered;
}

function findQuestion(
  { id, pendingApprovals: questions, status }: FleetRun,
  call: string | undefined,
): ApprovalQuestion {
  const [only, ...more] = call === undefined ? questions : questions.filter((each) => each.call === call);
  if (only && more.length === 0) return only;
  const which = questions.map((each) => `--call ${each.call} (${each.tool})`).join(', ');
  throw new FairleadError(
    'cli/no-question',
    only ? `${id} asks more than one question.` : `${id} asks no such question: it is ${status}.`,
    { blame: 'user', ...(questions.length > 0 ? { hint: `Say which: ${which}.` } : {}) },
  );
}

async function cancelRun(store: FleetStore, id: string): Promise<number> {
  const before = requireRun(id, await store.queue.run(id));
  if (before.status === 'ended') throw new FairleadError('cli/ended', `${id} has ended already.`, { blame: 'user' });
  const after = requireRun(id, await store.queue.cancel(id, `Cancelled by ${userInfo().username}.`));
  printErr(after.status === 'ended' ? `${id} is cancelled.\n` : `${id} is told to end.\n`);
  return exitCodes.answered;
}

async function steerRun(
  store: FleetStore,
  id: string,
  words: readonly string[],
  values: RunsOptionValues,
): Promise<number> {
  if (words.length === 0) throw new TypeError('There are no words to steer it with.');
  const found = requireRun(id, await store.queue.run(id));
  if (found.status === 'ended') throw runEndedError(found);
  const type = values['follow-up'] ? 'follow-up' : 'steer';
  await sendToRun(store, found, { type, text: words.join(' '), by: userInfo().username });
  printErr(`${id} reads it ${type === 'steer' ? 'after the tools that are running' : 'once it has its answer'}.\n`);
  return exitCodes.answered;
}

/** Sends a letter to a run; it may end before it could read it. */
async function sendToRun(store: FleetStore, run: FleetRun, letter: InboxMessage): Promise<void> {
  if (!(await sendMessage(store, run.session, letter))) throw runEndedError(run);
}

const runEndedError = ({ id, session }: FleetRun): FairleadError =>
  new FairleadError('cli/ended', `${id} has ended already.`, {
    blame: 'user',
    hint: `To go on with its session: fairlead enqueue "<task>" --session ${session}`,
  });

function requireRun(id: string, run: FleetRun | undefined): FleetRun {
  if (run) return run;
  throw new FairleadError('cli/no-run', `There is no run ${id}.`, { blame: 'user', hint: 'fairlead runs lists them.' });
}

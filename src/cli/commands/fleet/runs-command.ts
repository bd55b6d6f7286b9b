// The `runs` command: lists and shows runs, answers their questions, sends them messages and cancels them.
import { userInfo } from 'node:os';
import {
  FairleadError,
  type FleetRun,
  type FleetStore,
  type InboxMessage,
  type ApprovalQuestion,
  type RunStatus,
} from '../../../core/index.ts';
import { assertAcceptsMessages, cancelStep, findRun, sendMessage, steerStep } from '../../../fleet/index.ts';
import type { Command } from '../../args/command.ts';
import { exitCodes } from '../../args/exit-codes.ts';
import { stringOption, withOptions, type ParsedOptions } from '../../args/with-usage.ts';
import { print, printErr } from '../../args/stdio.ts';
import { formatRunTable, formatRunDetails } from './format-runs.ts';
import { parseCount } from './parse-numbers.ts';
import { withFleetStore } from './open-store.ts';
import { runStatuses, runsSubcommands } from './subcommands.ts';

const usage = [
  'Usage: fairlead runs [list] [--status <status>] [--tenant <name>] [--session <id>] [--limit <n>] [--json]',
  ...Object.entries(runsSubcommands)
    .filter(([verb]) => verb !== 'list')
    .map(([verb, { usage: args, description }]) => `       fairlead runs ${verb} ${args}: ${description}`),
  'Every command takes --store <file or url>.',
].join('\n');

const options = {
  store: stringOption,
  status: stringOption,
  tenant: stringOption,
  session: stringOption,
  limit: stringOption,
  /** The former name of `--limit`. */
  most: stringOption,
  call: stringOption,
  step: stringOption,
  'follow-up': { type: 'boolean' },
  json: { type: 'boolean' },
} as const;

type RunsOptionValues = ParsedOptions<typeof options>;

/** Shows runs, or sends something to one; exit code 0 done, 1 failed, 2 invalid arguments. */
export const run: Command['run'] = withOptions(
  { usage, options, allowPositionals: true },
  async (values, positionals) => {
    const [verb = 'list', id = '', ...args] = positionals;
    if (!Object.hasOwn(runsSubcommands, verb)) throw new TypeError(`There is no "fairlead runs ${verb}".`);
    if (verb !== 'list' && id === '') throw new TypeError(`"fairlead runs ${verb}" needs the id of a run.`);
    return withFleetStore(values.store, (store) =>
      verb === 'list' ? listRuns(store, values) : runActions[verb as keyof typeof runActions](store, id, args, values),
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
  if (values.json) for (const each of runs) print(`${JSON.stringify(each)}\n`);
  else if (runs.length > 0) print(formatRunTable(runs));
  if (runs.length === 0 && !values.json) printErr('There are no such runs. To queue one: fairlead enqueue "<task>"\n');
  return exitCodes.answered;
}

/** Each action takes the id of the run, or the start of it. */
const runActions = { show: showRun, answer: answerRun, cancel: cancelRun, steer: steerRun } as const;

async function showRun(
  store: FleetStore,
  id: string,
  _: readonly string[],
  { json }: RunsOptionValues,
): Promise<number> {
  const run = requireRun(id, await findRun(store.queue, id));
  if (run.kind === 'plan') return showPlan(store, run, json === true);
  print(json ? `${JSON.stringify(run, undefined, 2)}\n` : `${formatRunDetails(run)}\n`);
  return exitCodes.answered;
}

async function showPlan(store: FleetStore, run: FleetRun, json: boolean): Promise<number> {
  const { readPlan } = await import('../../../fleet/index.ts');
  const { formatPlan } = await import('./format-plan.ts');
  const plan = await readPlan(store, run);
  const columns = process.stdout.isTTY ? process.stdout.columns : undefined;
  print(
    json
      ? `${JSON.stringify({ ...run, plan }, undefined, 2)}\n`
      : `${formatRunDetails(run)}\n\n${formatPlan(plan, columns)}\n`,
  );
  return exitCodes.answered;
}

async function answerRun(
  store: FleetStore,
  given: string,
  args: readonly string[],
  { call }: RunsOptionValues,
): Promise<number> {
  const [answer = ''] = args;
  if (!['yes', 'no', 'happened'].includes(answer) || args.length !== 1)
    throw new TypeError('The answer must be yes, no or happened.');
  const run = requireRun(given, await findRun(store.queue, given));
  const { id } = run;
  const isConsent = run.kind === 'plan' && run.pendingApprovals.length > 0;
  if (!isConsent) await assertAcceptsMessages(store, run);
  const { call: callId, question, kind } = findQuestion(run, call);
  if (answer === 'happened' && kind !== 'unknown-outcome')
    throw new FairleadError('cli/no-outcome', `${id} does not ask about an unknown outcome.`, {
      blame: 'user',
      hint: 'Answer yes or no.',
    });
  const happened = answer === 'happened' ? { happened: true } : {};
  const by = userInfo().username;
  await sendToRun(store, run, { type: 'answer', call: callId, question, allowed: answer === 'yes', ...happened, by });
  printErr(`${id} continues as soon as a worker is free.\n`);
  return exitCodes.answered;
}

function findQuestion({ id, pendingApprovals, status }: FleetRun, call: string | undefined): ApprovalQuestion {
  const [only, ...more] = call === undefined ? pendingApprovals : pendingApprovals.filter((each) => each.call === call);
  if (only && more.length === 0) return only;
  const which = pendingApprovals.map((each) => `--call ${each.call} (${each.tool})`).join(', ');
  throw new FairleadError(
    'cli/no-question',
    only ? `${id} has more than one question.` : `${id} has no such question: it is ${status}.`,
    { blame: 'user', ...(pendingApprovals.length > 0 ? { hint: `Select one: ${which}.` } : {}) },
  );
}

async function cancelRun(
  store: FleetStore,
  given: string,
  _: readonly string[],
  { step }: RunsOptionValues,
): Promise<number> {
  const before = requireRun(given, await findRun(store.queue, given));
  const { id } = before;
  if (step !== undefined) {
    await cancelStep(store, before, step, userInfo().username);
    printErr(`The step ${step} of ${id} is being cancelled.\n`);
    return exitCodes.answered;
  }
  if (before.status === 'ended') throw new FairleadError('cli/ended', `${id} has already ended.`, { blame: 'user' });
  const after = requireRun(id, await store.queue.cancel(id, `Cancelled by ${userInfo().username}.`));
  printErr(after.status === 'ended' ? `${id} is cancelled.\n` : `${id} is being cancelled.\n`);
  return exitCodes.answered;
}

async function steerRun(
  store: FleetStore,
  given: string,
  args: readonly string[],
  values: RunsOptionValues,
): Promise<number> {
  if (args.length === 0) throw new TypeError('A message is needed.');
  const run = requireRun(given, await findRun(store.queue, given));
  const { id } = run;
  if (run.status === 'ended') throw runEndedError(run);
  if (values.step !== undefined) {
    await steerStep(store, run, values.step, args.join(' '), userInfo().username);
    printErr(`The step ${values.step} of ${id} reads it after its running tools, or when it starts.\n`);
    return exitCodes.answered;
  }
  const type = values['follow-up'] ? 'follow-up' : 'steer';
  await sendToRun(store, run, { type, text: args.join(' '), by: userInfo().username });
  printErr(`${id} reads it ${type === 'steer' ? 'after the running tools' : 'after its answer'}.\n`);
  return exitCodes.answered;
}

/** Sends a message to a run; throws if the run has ended. */
async function sendToRun(store: FleetStore, run: FleetRun, message: InboxMessage): Promise<void> {
  if (!(await sendMessage(store, run.session, message))) throw runEndedError(run);
}

const runEndedError = ({ id, session }: FleetRun): FairleadError =>
  new FairleadError('cli/ended', `${id} has already ended.`, {
    blame: 'user',
    hint: `To continue its session: fairlead enqueue "<task>" --session ${session}`,
  });

function requireRun(id: string, run: FleetRun | undefined): FleetRun {
  if (run) return run;
  throw new FairleadError('cli/no-run', `There is no run ${id}.`, { blame: 'user', hint: 'fairlead runs lists them.' });
}

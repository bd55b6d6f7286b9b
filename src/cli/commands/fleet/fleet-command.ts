// The `fleet` command: the kill-switch, what tenants may spend, what comes by the clock, and how it all stands.
import { userInfo } from 'node:os';
import {
  FairleadError,
  escapeInvisibleLine,
  type TenantBudget,
  type FleetStore,
  type KillSwitchState,
  type WorkerInfo,
} from '../../../core/index.ts';
import { formatStoppedMessage } from '../../../fleet/kill-switch.ts';
import type { Command } from '../../args/command.ts';
import { exitCodes } from '../../args/exit-codes.ts';
import { withOptions, type ParsedOptions } from '../../args/with-usage.ts';
import { print, printErr } from '../../args/stdio.ts';
import { parseCount, parseUsd } from './parse-numbers.ts';
import { withFleetStore } from './open-store.ts';
import { fleetSubcommands } from './subcommands.ts';

const usage = [
  ...Object.entries(fleetSubcommands).map(
    ([verb, { usage: takes, description }], i) =>
      `${i === 0 ? 'Usage:' : '      '} fairlead fleet ${verb}${takes ? ` ${takes}` : ''}: ${description}`,
  ),
  'Each takes --store <file or address>.',
].join('\n');

const stringOption = { type: 'string' } as const;
const options = {
  store: stringOption,
  usd: stringOption,
  tokens: stringOption,
  period: stringOption,
  remove: stringOption,
  json: { type: 'boolean' },
} as const;

type FleetOptionValues = ParsedOptions<typeof options>;

/** Acts on a fleet: 0 done, 1 not, 2 misused. */
export const run: Command['run'] = withOptions(
  { usage, options, allowPositionals: true },
  async (values, positionals) => {
    const [verb = 'status', ...words] = positionals;
    if (!Object.hasOwn(fleetSubcommands, verb)) throw new TypeError(`"fairlead fleet ${verb}" does not exist.`);
    return withFleetStore(values.store, (store) =>
      fleetActions[verb as keyof typeof fleetActions](store, words, values),
    );
  },
);

const fleetActions = { status, stop, resume, budget, schedules } as const;

async function status(store: FleetStore, _: readonly string[], { json }: FleetOptionValues): Promise<number> {
  const [standing, depth, workers] = await Promise.all([
    store.killSwitch.status(),
    store.queue.depth(),
    store.workers.list(),
  ]);
  if (json) print(`${JSON.stringify({ standing, depth, workers })}\n`);
  else
    print(
      [
        store.description,
        standing.stopped ? formatStoppedMessage(standing.reason) : 'going',
        `${depth.queued} queued, ${depth.running} running, ${depth.waiting} waiting`,
        ...workers.map(formatWorker),
        ...(workers.length === 0 ? ['no worker is at work; fairlead worker starts one'] : []),
        '',
      ].join('\n'),
    );
  return exitCodes.answered;
}

/** Whoever was not heard of for so long counts as silent, as in the fleet's health. */
const silentAfterMs = 15_000;

const formatWorker = ({ worker, running, lastSeenAt: seen }: WorkerInfo): string =>
  Date.now() - Date.parse(seen) > silentAfterMs
    ? `${worker}  silent since ${seen}; others take over what it had`
    : `${worker}  ${running} running, seen ${seen}`;

const currentUser = (): string => userInfo().username;

async function stop({ killSwitch }: FleetStore, words: readonly string[]): Promise<number> {
  return printKillSwitchState(await killSwitch.stop(words.join(' '), currentUser()));
}

async function resume({ killSwitch }: FleetStore): Promise<number> {
  return printKillSwitchState(await killSwitch.resume(currentUser()));
}

const printKillSwitchState = ({ stopped, reason: why }: KillSwitchState): number => {
  printErr(stopped ? `${formatStoppedMessage(why)}\nTo let it go on: fairlead fleet resume\n` : 'The fleet goes on.\n');
  return exitCodes.answered;
};

const budgetPeriods = ['day', 'month', 'ever'] as const;

async function budget({ ledger }: FleetStore, words: readonly string[], values: FleetOptionValues): Promise<number> {
  const [tenant, ...more] = words;
  const { usd, tokens, period, remove, json } = values;
  const isSet = [usd, tokens, period].some((each) => each !== undefined);
  if (more.length > 0) throw new TypeError('A budget is of one tenant.');
  if (remove !== undefined) {
    if (isSet || tenant !== undefined) throw new TypeError('--remove <tenant> stands alone.');
    return removeBudget(remove, ledger);
  }
  if (isSet && tenant === undefined) throw new TypeError('A budget is of a tenant: name it.');
  // To look at a budget must not take it away.
  if (tenant !== undefined && isSet) await ledger.setBudget(parseAllowance(tenant, values));
  const all = await ledger.budgets();
  const shown = all.filter((each) => tenant === undefined || each.tenant === tenant);
  for (const each of shown) print(`${json ? JSON.stringify(each) : formatAllowance(each)}\n`);
  if (shown.length === 0 && !json)
    printErr(
      `${tenant === undefined ? 'No tenant' : escapeInvisibleLine(tenant)} has ${tenant === undefined ? 'a' : 'no'} budget. ` +
        'To set one: fairlead fleet budget <tenant> --usd 20 --period month\n',
    );
  return exitCodes.answered;
}

async function removeBudget(tenant: string, ledger: FleetStore['ledger']): Promise<number> {
  if (!(await ledger.budgets()).some((each) => each.tenant === tenant))
    throw new FairleadError('cli/no-budget', `There is no budget of ${tenant}.`, { blame: 'user' });
  await ledger.setBudget({ tenant, period: 'month' });
  printErr(`${escapeInvisibleLine(tenant)} has no budget any more.\n`);
  return exitCodes.answered;
}

function parseAllowance(tenant: string, { usd, tokens, period = 'month' }: FleetOptionValues): TenantBudget {
  const known = budgetPeriods.find((each) => each === period);
  if (!known) throw new TypeError(`--period is one of ${budgetPeriods.join(', ')}, not "${period}".`);
  const money = parseUsd('--usd', usd);
  const most = parseCount('--tokens', tokens, 0);
  if (money === undefined && most === undefined)
    throw new TypeError('A budget needs --usd or --tokens; --remove <tenant> ends one.');
  return {
    tenant,
    period: known,
    ...(money === undefined ? {} : { usd: money }),
    ...(most === undefined ? {} : { tokens: most }),
  };
}

function formatAllowance(each: Awaited<ReturnType<FleetStore['ledger']['budgets']>>[number]): string {
  const { tenant, period, usd, tokens, spent, reserved: held } = each;
  const money = usd === undefined ? [] : [`$${(spent.usd + held.usd).toFixed(4)} of $${usd}`];
  const words = tokens === undefined ? [] : [`${spent.tokens + held.tokens} of ${tokens} tokens`];
  return `${escapeInvisibleLine(tenant)}  ${[...money, ...words].join(', ')} ${period === 'ever' ? 'in all' : `this ${period}`}`;
}

async function schedules(
  { queue }: FleetStore,
  _: readonly string[],
  { remove, json }: FleetOptionValues,
): Promise<number> {
  const all = await queue.schedules();
  if (remove !== undefined) {
    if (!all.some(({ name }) => name === remove))
      throw new FairleadError('cli/no-schedule', `There is no schedule ${remove}.`, { blame: 'user' });
    await queue.setSchedule({ name: remove });
    printErr(`${escapeInvisibleLine(remove)} comes no more.\n`);
    return exitCodes.answered;
  }
  for (const each of all)
    print(
      json
        ? `${JSON.stringify(each)}\n`
        : `${escapeInvisibleLine(each.name)}  ${each.cron}  ${escapeInvisibleLine(each.run.prompt)}\n`,
    );
  if (all.length === 0 && !json)
    printErr(
      'Nothing comes by the clock. To add something: fairlead enqueue "<task>" --every "0 3 * * *" --name <name>\n',
    );
  return exitCodes.answered;
}

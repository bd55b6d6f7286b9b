// The `fleet` command: the kill switch, budgets of tenants, schedules, and the status of the fleet.
import { userInfo } from 'node:os';
import {
  FairleadError,
  escapeInvisibleLine,
  type TenantBudget,
  type FleetStore,
  type KillSwitchState,
  type WorkerInfo,
} from '../../../core/index.ts';
import { formatStoppedMessage } from '../../../fleet/index.ts';
import type { Command } from '../../args/command.ts';
import { exitCodes } from '../../args/exit-codes.ts';
import { stringOption, withOptions, type ParsedOptions } from '../../args/with-usage.ts';
import { print, printErr } from '../../args/stdio.ts';
import { parseCount, parseUsd } from './parse-numbers.ts';
import { withFleetStore } from './open-store.ts';
import { fleetSubcommands } from './subcommands.ts';

const usage = [
  ...Object.entries(fleetSubcommands).map(
    ([verb, { usage: args, description }], i) =>
      `${i === 0 ? 'Usage:' : '      '} fairlead fleet ${verb}${args ? ` ${args}` : ''}: ${description}`,
  ),
  'Every command takes --store <file or url>.',
].join('\n');

const options = {
  store: stringOption,
  usd: stringOption,
  tokens: stringOption,
  period: stringOption,
  remove: stringOption,
  json: { type: 'boolean' },
} as const;

type FleetOptionValues = ParsedOptions<typeof options>;

/** Acts on a fleet; exit code 0 done, 1 failed, 2 invalid arguments. */
export const run: Command['run'] = withOptions(
  { usage, options, allowPositionals: true },
  async (values, positionals) => {
    const [verb = 'status', ...args] = positionals;
    if (!Object.hasOwn(fleetSubcommands, verb)) throw new TypeError(`There is no "fairlead fleet ${verb}".`);
    return withFleetStore(values.store, (store) =>
      fleetActions[verb as keyof typeof fleetActions](store, args, values),
    );
  },
);

const fleetActions = { status, stop, resume, budget, schedules } as const;

async function status(store: FleetStore, _: readonly string[], { json }: FleetOptionValues): Promise<number> {
  const [killSwitch, depth, workers] = await Promise.all([
    store.killSwitch.status(),
    store.queue.depth(),
    store.workers.list(),
  ]);
  if (json) print(`${JSON.stringify({ killSwitch, depth, workers })}\n`);
  else
    print(
      [
        store.description,
        killSwitch.stopped ? formatStoppedMessage(killSwitch.reason) : 'running',
        `${depth.queued} queued, ${depth.running} running, ${depth.waiting} waiting`,
        ...workers.map(formatWorker),
        ...(workers.length === 0 ? ['no worker is running; fairlead worker starts one'] : []),
        '',
      ].join('\n'),
    );
  return exitCodes.answered;
}

/** A worker without a heartbeat for this long counts as silent, as in the fleet's health. */
const silentAfterMs = 15_000;

const formatWorker = ({ worker, running, lastSeenAt, blockedMs }: WorkerInfo): string => {
  if (Date.now() - Date.parse(lastSeenAt) > silentAfterMs)
    return `${worker}  silent since ${lastSeenAt}; other workers take over its runs`;
  const blocked = blockedMs === undefined ? '' : `, blocked for ${Math.round(blockedMs / 1000)} s`;
  return `${worker}  ${running} running, seen ${lastSeenAt}${blocked}`;
};

const currentUser = (): string => userInfo().username;

async function stop({ killSwitch }: FleetStore, args: readonly string[]): Promise<number> {
  return printKillSwitchState(await killSwitch.stop(args.join(' '), currentUser()));
}

async function resume({ killSwitch }: FleetStore): Promise<number> {
  return printKillSwitchState(await killSwitch.resume(currentUser()));
}

const printKillSwitchState = ({ stopped, reason }: KillSwitchState): number => {
  printErr(stopped ? `${formatStoppedMessage(reason)}\nTo resume: fairlead fleet resume\n` : 'Kill switch reset.\n');
  return exitCodes.answered;
};

const budgetPeriods = ['day', 'month', 'ever'] as const;

async function budget({ ledger }: FleetStore, args: readonly string[], values: FleetOptionValues): Promise<number> {
  const [tenant, ...more] = args;
  const { usd, tokens, period, remove, json } = values;
  const isSet = [usd, tokens, period].some((each) => each !== undefined);
  if (more.length > 0) throw new TypeError('Only one tenant can be given.');
  if (remove !== undefined) {
    if (isSet || tenant !== undefined)
      throw new TypeError('--remove <tenant> cannot be combined with other arguments.');
    return removeBudget(remove, ledger);
  }
  if (isSet && tenant === undefined) throw new TypeError('A budget needs the name of a tenant.');
  // Showing a budget must not change it.
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
    throw new FairleadError('cli/no-budget', `There is no budget for ${tenant}.`, { blame: 'user' });
  await ledger.setBudget({ tenant, period: 'month' });
  printErr(`The budget of ${escapeInvisibleLine(tenant)} is removed.\n`);
  return exitCodes.answered;
}

function parseAllowance(tenant: string, { usd, tokens, period = 'month' }: FleetOptionValues): TenantBudget {
  const knownPeriod = budgetPeriods.find((each) => each === period);
  if (!knownPeriod) throw new TypeError(`--period is one of ${budgetPeriods.join(', ')}, not "${period}".`);
  const maxUsd = parseUsd('--usd', usd);
  const maxTokens = parseCount('--tokens', tokens, 0);
  if (maxUsd === undefined && maxTokens === undefined)
    throw new TypeError('A budget needs --usd or --tokens; --remove <tenant> removes one.');
  return {
    tenant,
    period: knownPeriod,
    ...(maxUsd === undefined ? {} : { usd: maxUsd }),
    ...(maxTokens === undefined ? {} : { tokens: maxTokens }),
  };
}

function formatAllowance(each: Awaited<ReturnType<FleetStore['ledger']['budgets']>>[number]): string {
  const { tenant, period, usd, tokens, spent, reserved } = each;
  const usdText = usd === undefined ? [] : [`$${(spent.usd + reserved.usd).toFixed(4)} of $${usd}`];
  const tokenText = tokens === undefined ? [] : [`${spent.tokens + reserved.tokens} of ${tokens} tokens`];
  return `${escapeInvisibleLine(tenant)}  ${[...usdText, ...tokenText].join(', ')} ${period === 'ever' ? 'in total' : `this ${period}`}`;
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
    printErr(`The schedule ${escapeInvisibleLine(remove)} is removed.\n`);
    return exitCodes.answered;
  }
  for (const each of all)
    print(
      json
        ? `${JSON.stringify(each)}\n`
        : `${escapeInvisibleLine(each.name)}  ${each.cron}  ${escapeInvisibleLine(each.run.prompt)}\n`,
    );
  if (all.length === 0 && !json)
    printErr('There are no schedules. To add one: fairlead enqueue "<task>" --every "0 3 * * *" --name <name>\n');
  return exitCodes.answered;
}

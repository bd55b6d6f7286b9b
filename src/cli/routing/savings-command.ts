// `fairlead models savings [sessions]`: what choosing among models has saved against sending everything to one of them.
import { FairleadError, type Event, type Price } from '../../core/index.ts';
import { partsOf, priceOf } from '../../providers/index.ts';
import { savingsOf, type ModelShare, type Savings } from '../../providers/routing/index.ts';
import { openJsonl } from '../../stores/index.ts';
import { allEvents } from '../branches/path.ts';
import { withOptions } from '../front/or-usage.ts';
import { print } from '../front/print.ts';
import { findSession, sessionPlaces } from '../sessions/index.ts';
import { columns } from '../settings/columns.ts';
import { readSettings, type Settings } from '../settings/index.ts';
import { entrantsOf } from './candidates.ts';
import { routerNamed } from './routers.ts';

const usage = 'Usage: fairlead models savings [<session> …] [--against <provider/model>] [--json]';

/** Tells what was saved: 0 told, 1 not, 2 misused. */
export async function savingsCommand(args: readonly string[]): Promise<number> {
  const options = {
    against: { type: 'string' },
    json: { type: 'boolean', default: false },
  } as const;
  return withOptions({ usage, options, words: true }, async (values, positionals) => {
    const settings = readSettings();
    const against = await reference(values.against, settings);
    const files = positionals.length
      ? positionals.map((name) => findSession(settings.dirs, name).file)
      : sessionPlaces(settings.dirs).map(({ file }) => file);
    const savings = savingsOf(await Promise.all(files.map(eventsIn)), against.price);
    print(values.json ? `${JSON.stringify({ against, ...savings }, null, 2)}\n` : pictured(savings, against));
    return 0;
  })(args);
}

type Against = { readonly model: string; readonly price: Price | undefined };

/** The model that everything is held against: the one named, or the dearest of the router's that are elsewhere. */
async function reference(named: string | undefined, settings: Settings): Promise<Against> {
  if (named !== undefined) {
    const { provider, model } = partsOf(named);
    return { model: named, price: priceOf(provider, model) };
  }
  const entrants = await entrantsOf(routerNamed('auto', settings), settings);
  const cloud = entrants.map(({ candidate }) => candidate).filter(({ local }) => !local);
  const [dearest] = cloud.toSorted((a, b) => (b.price?.output ?? -1) - (a.price?.output ?? -1));
  if (dearest) return { model: dearest.name, price: dearest.price };
  throw new FairleadError(
    'cli/no-reference',
    'The router has no model elsewhere that the rest could be held against.',
    {
      blame: 'user',
      hint: 'Name one: --against anthropic/claude-sonnet-5',
    },
  );
}

/** The events of a session on all its branches: what a branch cost is spent, whether it is continued or not. */
async function eventsIn(file: string): Promise<readonly Event[]> {
  const log = await openJsonl(file, { mode: 'read' });
  try {
    let last = 0;
    for await (const batch of log.read()) last = batch.at(-1)?.seq ?? last;
    return await allEvents(log, last);
  } finally {
    await log.close();
  }
}

const count = (tokens: number): string => tokens.toLocaleString('en-US');
const dollars = (usd: number): string => `$${usd.toFixed(usd !== 0 && Math.abs(usd) < 0.01 ? 6 : 2)}`;

function pictured(savings: Savings, { model, price }: Against): string {
  const { shares, spent, unpriced, uncounted, instead } = savings;
  if (shares.length === 0) return 'No turn was taken yet.\n';
  const rows = shares.map((share) => [
    share.model,
    String(share.turns),
    count(share.input),
    count(share.output),
    costOf(share),
  ]);
  const table = columns([['model', 'turns', 'tokens in', 'tokens out', 'cost'], ...rows]);
  const unknown = [
    ...(unpriced ? [`The price of ${unpriced} turn${unpriced === 1 ? '' : 's'} is unknown and not in the sum.`] : []),
    ...(uncounted ? [`The tokens of ${uncounted} turn${uncounted === 1 ? '' : 's'} were not counted.`] : []),
  ];
  const told = instead
    ? [
        `Everything at ${model} ($${price?.input} in, $${price?.output} out a million) would have cost ${dollars(instead.least)} with a cache that always holds, ${dollars(instead.most)} without one.`,
        `Saved: ${between(instead.least - spent, instead.most - spent)}.`,
      ]
    : [`The price of ${model} is unknown, so what was saved is unknown too. Name another with --against.`];
  return [table, `Spent: ${dollars(spent)}.`, ...told, ...unknown, ''].join('\n');
}

const between = (least: number, most: number): string =>
  least === most ? dollars(least) : `between ${dollars(least)} and ${dollars(most)}`;

function costOf({ usd, unpriced, turns }: ModelShare): string {
  if (unpriced >= turns) return 'unknown';
  return unpriced > 0 ? `${dollars(usd)} and ${unpriced} unknown` : dollars(usd);
}

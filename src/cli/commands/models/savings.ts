// `fairlead models savings [sessions]`: shows how much routing has saved compared with one model for everything.
import { FairleadError, type Event, type Price, formatColumns } from '../../../core/index.ts';
import { parseModelRef, priceOf } from '../../../providers/index.ts';
import { savingsOf, type ModelShare, type Savings } from '../../../providers/routing/index.ts';
import { openJsonl } from '../../../stores/index.ts';
import { collectEvents } from '../../../sessions/reports/index.ts';
import { withOptions } from '../../args/with-usage.ts';
import { print } from '../../args/stdio.ts';
import { findSession, listSessionFiles } from '../../../sessions/index.ts';
import { readSettings, type Settings } from '../../../coding-agent/settings/index.ts';
import { loadRouterCandidates, findRouter } from '../../../coding-agent/routing/index.ts';

const usage = 'Usage: fairlead models savings [<session> …] [--against <provider/model>] [--json]';

/** Shows the savings; exit code 0 done, 1 failed, 2 invalid arguments. */
export async function savingsCommand(args: readonly string[]): Promise<number> {
  const options = {
    against: { type: 'string' },
    json: { type: 'boolean', default: false },
  } as const;
  return withOptions({ usage, options, allowPositionals: true }, async (values, positionals) => {
    const settings = readSettings();
    const against = await resolveReferenceModel(values.against, settings);
    const files = positionals.length
      ? positionals.map((name) => findSession(settings.dirs, name).file)
      : listSessionFiles(settings.dirs).map(({ file }) => file);
    const savings = savingsOf(await Promise.all(files.map(readAllEvents)), against.price);
    print(values.json ? `${JSON.stringify({ against, ...savings }, null, 2)}\n` : formatSavings(savings, against));
    return 0;
  })(args);
}

type ReferenceModel = { readonly model: string; readonly price: Price | undefined };

/** Returns the model to compare with: the named one, or the most expensive cloud model of the router. */
async function resolveReferenceModel(named: string | undefined, settings: Settings): Promise<ReferenceModel> {
  if (named !== undefined) {
    const { provider, model } = parseModelRef(named);
    return { model: named, price: priceOf(provider, model) };
  }
  const candidates = await loadRouterCandidates(findRouter('auto', settings), settings);
  const cloud = candidates.map(({ candidate }) => candidate).filter(({ local }) => !local);
  const [mostExpensive] = cloud.toSorted((a, b) => (b.price?.output ?? -1) - (a.price?.output ?? -1));
  if (mostExpensive) return { model: mostExpensive.name, price: mostExpensive.price };
  throw new FairleadError('cli/no-reference', 'The router has no cloud model to compare with.', {
    blame: 'user',
    hint: 'Name one: --against anthropic/claude-sonnet-5',
  });
}

/** Reads the events of all branches of a session: an abandoned branch has cost money too. */
async function readAllEvents(file: string): Promise<readonly Event[]> {
  const log = await openJsonl(file, { mode: 'read' });
  try {
    let last = 0;
    for await (const batch of log.read()) last = batch.at(-1)?.seq ?? last;
    return await collectEvents(log, last);
  } finally {
    await log.close();
  }
}

const formatCount = (tokens: number): string => tokens.toLocaleString('en-US');
const formatPreciseUsd = (usd: number): string => `$${usd.toFixed(usd !== 0 && Math.abs(usd) < 0.01 ? 6 : 2)}`;

function formatSavings(savings: Savings, { model, price }: ReferenceModel): string {
  const { shares, spent, unpriced, uncounted, instead } = savings;
  if (shares.length === 0) return 'There are no turns yet.\n';
  const rows = shares.map((share) => [
    share.model,
    String(share.turns),
    formatCount(share.input),
    formatCount(share.output),
    formatShareCost(share),
  ]);
  const table = formatColumns([['model', 'turns', 'tokens in', 'tokens out', 'cost'], ...rows]);
  const unknown = [
    ...(unpriced ? [`The price of ${unpriced} turn${unpriced === 1 ? '' : 's'} is unknown and not included.`] : []),
    ...(uncounted ? [`The tokens of ${uncounted} turn${uncounted === 1 ? '' : 's'} were not counted.`] : []),
  ];
  const comparison = instead
    ? [
        `With ${model} alone ($${price?.input} in, $${price?.output} out per million) the cost would have been ${formatPreciseUsd(instead.least)} if the cache always hits, ${formatPreciseUsd(instead.most)} without a cache.`,
        `Saved: ${formatUsdRange(instead.least - spent, instead.most - spent)}.`,
      ]
    : [`The price of ${model} is unknown, so the savings are unknown. Name another model with --against.`];
  return [table, `Spent: ${formatPreciseUsd(spent)}.`, ...comparison, ...unknown, ''].join('\n');
}

const formatUsdRange = (min: number, max: number): string =>
  min === max ? formatPreciseUsd(min) : `between ${formatPreciseUsd(min)} and ${formatPreciseUsd(max)}`;

function formatShareCost({ usd, unpriced, turns }: ModelShare): string {
  if (unpriced >= turns) return 'unknown';
  return unpriced > 0 ? `${formatPreciseUsd(usd)} and ${unpriced} unknown` : formatPreciseUsd(usd);
}

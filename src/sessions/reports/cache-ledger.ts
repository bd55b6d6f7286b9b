// The cache ledger: for each turn of a session whether the provider read its prompt from its cache, what that saved or cost, and why a prefix broke.
import type { Event, Price, ToolSpec } from '../../core/index.ts';
import { getBranchPath } from './branch-path.ts';

/** Why a prompt prefix was not in the cache. `small`: too short for a cache; `unknown`: nothing changed on our side. */
export type PrefixBreak =
  | 'system-prompt'
  | 'tools'
  | 'model'
  | 'compaction'
  | 'edited-history'
  | 'expired'
  | 'small'
  | 'unknown';

/** The cache in one turn. */
export type CacheTurn = {
  readonly turn: number;
  readonly time: string;
  readonly model: string;
  /** `unreported`: the provider does not say what it read; `first`: there was nothing to read. */
  readonly result: 'first' | 'hit' | 'miss' | 'unreported';
  readonly input: number | undefined;
  readonly cacheRead: number | undefined;
  readonly cacheWrite: number | undefined;
  /** Why fewer tokens were read than the turn before allows; empty for a hit. */
  readonly breaks: readonly PrefixBreak[];
  /** More about the breaks, such as the names of changed tools. */
  readonly detail?: string;
  /** Tokens of the earlier prefix that were not read from the cache. */
  readonly lostTokens: number;
  /** What the cache saved in this turn, less what writing to it cost; undefined if the price is not known. */
  readonly savedUsd?: number;
  /** What the lost tokens cost more than from the cache; undefined if the price is not known. */
  readonly lostUsd?: number;
};

/** The turns of the current branch, and their sums. */
export type CacheLedger = {
  readonly turns: readonly CacheTurn[];
  readonly hits: number;
  readonly misses: number;
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly lostTokens: number;
  readonly savedUsd: number | undefined;
  readonly lostUsd: number | undefined;
};

/** Options of a ledger. */
export type CacheLedgerOptions = {
  /** Returns the price of a model, per million tokens; without it there are no amounts of money. */
  readonly priceOf?: (provider: string | undefined, model: string) => Price | undefined;
};

/** Typical time to live of a cached prefix. */
const cacheTtlMs = 5 * 60_000;
/** The shortest prompt that providers cache. */
const minCachedTokens = 1024;

type Epoch = Event & { readonly type: 'epoch-started' };
type Previous = { readonly read: number; readonly input: number; readonly endedAt: number };

/** Builds the ledger of the current branch. */
export function reportCache(events: readonly Event[], { priceOf }: CacheLedgerOptions = {}): CacheLedger {
  const turns: CacheTurn[] = [];
  let epoch: Epoch | undefined;
  let before: Epoch | undefined;
  let previous: Previous | undefined;
  for (const event of getBranchPath(events)) {
    if (event.type === 'epoch-started') {
      // The epoch of the last turn counts: several can start between two turns.
      before ??= epoch;
      epoch = event;
    }
    if (event.type !== 'turn-ended') continue;
    const change = epoch && before ? compareEpochs(before, epoch) : undefined;
    turns.push(createTurn(event, previous, change, epoch && priceOf?.(epoch.modelProvider, event.model)));
    const { cacheRead, input = 0 } = event.usage;
    const endedAt = Date.parse(event.time);
    if (cacheRead !== undefined) [previous, before] = [{ read: cacheRead, input, endedAt }, undefined];
    else if (previous) previous = { ...previous, endedAt };
  }
  const sum = (pick: (turn: CacheTurn) => number | undefined): number =>
    turns.reduce((total, turn) => total + (pick(turn) ?? 0), 0);
  const isPriced = turns.some(({ savedUsd }) => savedUsd !== undefined);
  return {
    turns,
    hits: turns.filter(({ result }) => result === 'hit').length,
    misses: turns.filter(({ result }) => result === 'miss').length,
    input: sum(({ input }) => input),
    cacheRead: sum(({ cacheRead }) => cacheRead),
    cacheWrite: sum(({ cacheWrite }) => cacheWrite),
    lostTokens: sum(({ lostTokens }) => lostTokens),
    savedUsd: isPriced ? sum(({ savedUsd }) => savedUsd) : undefined,
    lostUsd: isPriced ? sum(({ lostUsd }) => lostUsd) : undefined,
  };
}

type EpochChange = { readonly breaks: readonly PrefixBreak[]; readonly detail?: string };

function createTurn(
  { turn, time, model, usage, ms }: Event & { type: 'turn-ended' },
  previous: Previous | undefined,
  change: EpochChange | undefined,
  price: Price | undefined,
): CacheTurn {
  const { input, cacheRead, cacheWrite } = usage;
  const base = { turn, time, model, input, cacheRead, cacheWrite };
  if (cacheRead === undefined) return { ...base, result: 'unreported', breaks: [], lostTokens: 0 };
  const money = price ? { savedUsd: savedBy(price, cacheRead, cacheWrite ?? 0) } : {};
  if (!previous) return { ...base, result: cacheRead > 0 ? 'hit' : 'first', breaks: [], lostTokens: 0, ...money };
  const isCold = cacheRead === 0 && previous.read === 0;
  if (!isCold && cacheRead >= previous.read) return { ...base, result: 'hit', breaks: [], lostTokens: 0, ...money };
  const isExpired = Date.parse(time) - ms - previous.endedAt >= cacheTtlMs;
  const isSmall = isCold && previous.input < minCachedTokens;
  const breaks = change?.breaks.length
    ? change.breaks
    : ([isSmall ? 'small' : isExpired ? 'expired' : 'unknown'] as const);
  const lostTokens = isSmall ? 0 : Math.max(0, (isCold ? previous.input : previous.read) - cacheRead);
  return {
    ...base,
    result: 'miss',
    breaks,
    ...(change?.detail === undefined ? {} : { detail: change.detail }),
    lostTokens,
    ...money,
    ...(price ? { lostUsd: (lostTokens * (price.input - (price.cacheRead ?? price.input))) / 1e6 } : {}),
  };
}

const savedBy = (price: Price, read: number, written: number): number =>
  (read * (price.input - (price.cacheRead ?? price.input)) -
    written * ((price.cacheWrite ?? price.input) - price.input)) /
  1e6;

/** What differs between the epochs of two turns. */
function compareEpochs(before: Epoch, after: Epoch): EpochChange {
  const tools = compareTools(before.tools, after.tools);
  const breaks: PrefixBreak[] = [
    ...(before.model === after.model ? [] : (['model'] as const)),
    ...(before.system === after.system ? [] : (['system-prompt'] as const)),
    ...(tools === undefined ? [] : (['tools'] as const)),
    ...(after.reason === 'compacted' ? (['compaction'] as const) : []),
    ...(after.reason === 'edited' ? (['edited-history'] as const) : []),
  ];
  return { breaks, ...(tools === undefined ? {} : { detail: tools }) };
}

/** The names of the tools that differ; undefined if none do. A change of their order breaks the prefix too. */
function compareTools(before: readonly ToolSpec[], after: readonly ToolSpec[]): string | undefined {
  if (JSON.stringify(before) === JSON.stringify(after)) return undefined;
  const known = new Map(before.map((tool) => [tool.name, JSON.stringify(tool)]));
  const names = new Set(after.map(({ name }) => name));
  const added = after.filter(({ name }) => !known.has(name)).map(({ name }) => `+${name}`);
  const removed = before.filter(({ name }) => !names.has(name)).map(({ name }) => `-${name}`);
  const changed = after.filter((tool) => known.has(tool.name) && known.get(tool.name) !== JSON.stringify(tool));
  const all = [...added, ...removed, ...changed.map(({ name }) => `~${name}`)];
  if (all.length === 0) return 'another order';
  return all.length > 6 ? `${all.slice(0, 6).join(' ')} and ${all.length - 6} more` : all.join(' ');
}

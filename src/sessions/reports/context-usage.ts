// `/context`: what fills the window of the model, by our own estimate, and why the provider's cache did not help.
import {
  estimateTokens,
  partTokens,
  toArray,
  type Event,
  type Message,
  type MessagePart,
  type RunState,
} from '../../core/index.ts';
import { previewText, getBranchPath } from './branch-path.ts';

/** A kind of content and how much of it there is. */
export type ContextShare = { readonly category: string; readonly tokens: number; readonly count: number };

/** What the next request holds. */
export type ContextBreakdown = {
  readonly shares: readonly ContextShare[];
  /** The estimates together. */
  readonly tokens: number;
  /** What the provider counted last, with an estimate of what came since. */
  readonly countedTokens: number;
  readonly window?: number;
  /** The largest results of tools, with how they begin. */
  readonly largest: readonly { readonly tool: string; readonly tokens: number; readonly preview: string }[];
};

/** What is known beside the state: the instructions that are part of the system text, and the model's window. */
export type ContextBreakdownOptions = { readonly instructions?: string; readonly window?: number };

const categoryNames = {
  text: { user: 'your words and notes', assistant: 'answers', tool: 'answers' },
  reasoning: 'reasoning',
  file: 'files',
  'tool-call': 'tool calls',
  'tool-result': 'tool results',
} as const;

/** What fills the window. */
export function measureContext(
  state: RunState,
  { instructions = '', window }: ContextBreakdownOptions = {},
): ContextBreakdown {
  const messages = toArray(state.messages);
  const apart = instructions !== '' && state.system.includes(instructions) ? instructions : '';
  const kinds = new Map<string, ContextShare>();
  const add = (what: string, tokens: number): void => {
    const had = kinds.get(what) ?? { category: what, tokens: 0, count: 0 };
    kinds.set(what, { category: what, tokens: had.tokens + tokens, count: had.count + 1 });
  };
  add('system text', estimateTokens(state.system) - estimateTokens(apart));
  if (apart) add('instructions from files', estimateTokens(apart));
  for (const tool of state.tools) add('tools', estimateTokens(JSON.stringify(tool)));
  for (const message of messages) for (const part of message.parts) add(categoryOf(message, part), partTokens([part]));
  const shares = [...kinds.values()];
  return {
    shares,
    tokens: shares.reduce((sum, each) => sum + each.tokens, 0),
    countedTokens: state.context,
    ...(window === undefined ? {} : { window }),
    largest: largestToolResults(messages),
  };
}

function categoryOf({ role }: Message, { type }: MessagePart): string {
  return type === 'text' ? categoryNames.text[role] : categoryNames[type];
}

function largestToolResults(messages: readonly Message[]): ContextBreakdown['largest'] {
  return messages
    .flatMap(({ parts }) => parts.filter((part) => part.type === 'tool-result'))
    .map((part) => ({ tool: part.tool, tokens: partTokens([part]), preview: previewText(part.text, 40) }))
    .toSorted((a, b) => b.tokens - a.tokens)
    .slice(0, 5);
}

/** Why a prefix was not found in the cache: what we changed ourselves, or what the provider does not tell. */
export type CacheMissReason = 'compacted' | 'model-changed' | 'agent-changed' | 'edited' | 'expired' | 'untold';

/** A turn that read less from the cache than the one before it. */
export type CacheMiss = {
  readonly turn: number;
  readonly time: string;
  /** Tokens read from the cache by the turn before, and by this one. */
  readonly before: number;
  readonly now: number;
  readonly reason: CacheMissReason;
};

/** The misses on the branch being continued; `untold` counts turns whose provider says nothing of its cache. */
export type CacheReport = {
  readonly misses: readonly CacheMiss[];
  readonly turns: number;
  readonly unreportedTurns: number;
};

/** Providers keep a prefix for about this long. */
const cacheTtlMs = 5 * 60_000;

/** The turns whose cache read fell, and why. */
export function reportCacheMisses(events: readonly Event[]): CacheReport {
  const misses: CacheMiss[] = [];
  let [turns, untold, last, lastTime] = [0, 0, 0, 0];
  let changed: CacheMissReason | undefined;
  for (const event of getBranchPath(events)) {
    if (event.type === 'epoch-started' && event.reason !== 'started') changed = event.reason;
    if (event.type !== 'turn-ended') continue;
    turns++;
    const now = event.usage.cacheRead;
    const began = Date.parse(event.time) - event.ms;
    if (now === undefined) untold++;
    else {
      const reason = changed ?? (began - lastTime >= cacheTtlMs ? 'expired' : 'untold');
      if (now < last) misses.push({ turn: event.turn, time: event.time, before: last, now, reason });
      [last, changed] = [now, undefined];
    }
    lastTime = Date.parse(event.time);
  }
  return { misses, turns, unreportedTurns: untold };
}

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
import { firstWords, pathOf } from './path.ts';

/** A kind of content and how much of it there is. */
export type Share = { readonly what: string; readonly tokens: number; readonly count: number };

/** What the next request holds. */
export type Fill = {
  readonly shares: readonly Share[];
  /** The estimates together. */
  readonly tokens: number;
  /** What the provider counted last, with an estimate of what came since. */
  readonly counted: number;
  readonly window?: number;
  /** The largest results of tools, with how they begin. */
  readonly largest: readonly { readonly tool: string; readonly tokens: number; readonly words: string }[];
};

/** What is known beside the state: the instructions that are part of the system text, and the model's window. */
export type FillOptions = { readonly instructions?: string; readonly window?: number };

const names = {
  text: { user: 'your words and notes', assistant: 'answers', tool: 'answers' },
  reasoning: 'reasoning',
  file: 'files',
  'tool-call': 'tool calls',
  'tool-result': 'tool results',
} as const;

/** What fills the window. */
export function whatFills(state: RunState, { instructions = '', window }: FillOptions = {}): Fill {
  const messages = toArray(state.messages);
  const apart = instructions !== '' && state.system.includes(instructions) ? instructions : '';
  const kinds = new Map<string, Share>();
  const add = (what: string, tokens: number): void => {
    const had = kinds.get(what) ?? { what, tokens: 0, count: 0 };
    kinds.set(what, { what, tokens: had.tokens + tokens, count: had.count + 1 });
  };
  add('system text', estimateTokens(state.system) - estimateTokens(apart));
  if (apart) add('instructions from files', estimateTokens(apart));
  for (const tool of state.tools) add('tools', estimateTokens(JSON.stringify(tool)));
  for (const message of messages) for (const part of message.parts) add(kindOf(message, part), partTokens([part]));
  const shares = [...kinds.values()];
  return {
    shares,
    tokens: shares.reduce((sum, each) => sum + each.tokens, 0),
    counted: state.context,
    ...(window === undefined ? {} : { window }),
    largest: largestOf(messages),
  };
}

function kindOf({ role }: Message, { type }: MessagePart): string {
  return type === 'text' ? names.text[role] : names[type];
}

function largestOf(messages: readonly Message[]): Fill['largest'] {
  return messages
    .flatMap(({ parts }) => parts.filter((part) => part.type === 'tool-result'))
    .map((part) => ({ tool: part.tool, tokens: partTokens([part]), words: firstWords(part.text, 40) }))
    .toSorted((a, b) => b.tokens - a.tokens)
    .slice(0, 5);
}

/** Why a prefix was not found in the cache: what we changed ourselves, or what the provider does not tell. */
export type MissReason = 'compacted' | 'model-changed' | 'agent-changed' | 'edited' | 'expired' | 'untold';

/** A turn that read less from the cache than the one before it. */
export type Miss = {
  readonly turn: number;
  readonly time: string;
  /** Tokens read from the cache by the turn before, and by this one. */
  readonly before: number;
  readonly now: number;
  readonly reason: MissReason;
};

/** The misses on the branch being continued; `untold` counts turns whose provider says nothing of its cache. */
export type CacheReport = { readonly misses: readonly Miss[]; readonly turns: number; readonly untold: number };

/** Providers keep a prefix for about this long. */
const keptMs = 5 * 60_000;

/** The turns whose cache read fell, and why. */
export function cacheMisses(events: readonly Event[]): CacheReport {
  const misses: Miss[] = [];
  let [turns, untold, last, lastTime] = [0, 0, 0, 0];
  let changed: MissReason | undefined;
  for (const event of pathOf(events)) {
    if (event.type === 'epoch-started' && event.reason !== 'started') changed = event.reason;
    if (event.type !== 'turn-ended') continue;
    turns++;
    const now = event.usage.cacheRead;
    const began = Date.parse(event.time) - event.ms;
    if (now === undefined) untold++;
    else {
      const reason = changed ?? (began - lastTime >= keptMs ? 'expired' : 'untold');
      if (now < last) misses.push({ turn: event.turn, time: event.time, before: last, now, reason });
      [last, changed] = [now, undefined];
    }
    lastTime = Date.parse(event.time);
  }
  return { misses, turns, untold };
}

// Context report: estimated tokens by kind of content.
import {
  estimateTokens,
  partTokens,
  toArray,
  type Message,
  type MessagePart,
  type RunState,
} from '../../core/index.ts';
import { previewText } from './branch-path.ts';

/** A kind of content and its tokens. */
export type ContextShare = { readonly category: string; readonly tokens: number; readonly count: number };

/** The contents of the next request. */
export type ContextBreakdown = {
  readonly shares: readonly ContextShare[];
  /** The sum of the estimates. */
  readonly tokens: number;
  /** The provider's last count plus an estimate of what was added since. */
  readonly countedTokens: number;
  readonly window?: number;
  /** The largest tool results with a preview. */
  readonly largest: readonly { readonly tool: string; readonly tokens: number; readonly preview: string }[];
};

/** Inputs besides the state: the instructions in the system text, and the context window. */
export type ContextBreakdownOptions = { readonly instructions?: string; readonly window?: number };

const categoryNames = {
  text: { user: 'your messages and notes', assistant: 'answers', tool: 'answers' },
  reasoning: 'reasoning',
  file: 'files',
  'tool-call': 'tool calls',
  'tool-result': 'tool results',
} as const;

/** Computes what fills the context window. */
export function measureContext(
  state: RunState,
  { instructions = '', window }: ContextBreakdownOptions = {},
): ContextBreakdown {
  const messages = toArray(state.messages);
  const separate = instructions !== '' && state.system.includes(instructions) ? instructions : '';
  const kinds = new Map<string, ContextShare>();
  const add = (what: string, tokens: number): void => {
    const share = kinds.get(what) ?? { category: what, tokens: 0, count: 0 };
    kinds.set(what, { category: what, tokens: share.tokens + tokens, count: share.count + 1 });
  };
  add('system text', estimateTokens(state.system) - estimateTokens(separate));
  if (separate) add('instructions from files', estimateTokens(separate));
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

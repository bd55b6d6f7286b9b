// The status of a conversation for a status line: model, session, context size, cost and sandbox.
import type { Provider, RunState } from '../core/index.ts';
import { formatSandbox } from './protected-paths.ts';
import type { CodingAgent } from './create-agent.ts';

/** The status of a conversation, as a status line shows it. */
export type ConversationStatus = {
  readonly model: string;
  readonly session: string;
  readonly mode: 'ask' | 'auto';
  readonly stream: boolean;
  /** Tokens of the last request and its response; `window` is absent if the context window of the model is unknown. */
  readonly context?: { readonly used: number; readonly window?: number };
  /** The cost of this session in dollars; absent if any part of it is unknown. */
  readonly usd?: number;
  /** The current activity, shown with a spinner; absent when idle. */
  readonly busy?: string;
  /** The number of inputs that the model has not read yet. */
  readonly queued: number;
  /** The sandbox of commands, or that there is none. */
  readonly sandbox?: string;
};

/** What the status is computed from. */
export type ConversationStatusInput = {
  readonly model: string;
  readonly session: string;
  readonly autoApprove: boolean;
  readonly stream: boolean;
  readonly state: RunState;
  readonly provider: Provider;
  /** The sandbox of commands; absent if the agent only runs code in a container. */
  readonly sandbox: CodingAgent['sandbox'] | undefined;
};

/** Computes the status of a conversation. */
export function getConversationStatus({
  model,
  session,
  autoApprove,
  stream,
  state,
  provider,
  sandbox,
}: ConversationStatusInput): ConversationStatus {
  const { context, total, pending } = state;
  const { contextWindow } = provider;
  return {
    model,
    session,
    mode: autoApprove ? 'auto' : 'ask',
    stream,
    context: { used: context, ...(contextWindow === undefined ? {} : { window: contextWindow }) },
    ...(total.turnsWithoutPrice === 0 ? { usd: total.usd } : {}),
    queued: pending.length,
    ...(sandbox ? { sandbox: formatSandbox(sandbox) } : {}),
  };
}

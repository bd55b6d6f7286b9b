// What the status line says of a conversation.
import type { Provider, RunState } from '../core/index.ts';
import type { StatusLine } from '../cli/tui/ui.ts';
import { formatSandbox } from './protected-paths.ts';
import type { CodingAgent } from './create-agent.ts';

/** The conversation as far as its status goes. */
export type ConversationStatusInput = {
  readonly model: string;
  readonly session: string;
  readonly autoApprove: boolean;
  readonly stream: boolean;
  readonly state: RunState;
  readonly provider: Provider;
  /** What commands run in; nothing where code runs in a container, whatever else there is. */
  readonly sandbox: CodingAgent['sandbox'] | undefined;
};

/** The status of a conversation. */
export function getConversationStatus({
  model,
  session,
  autoApprove,
  stream,
  state,
  provider,
  sandbox,
}: ConversationStatusInput): StatusLine {
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

// The request a state makes. Pure: the same log gives the same bytes, and any log prefix gives a legal request.
import type { AgentParts, Request } from './ports.ts';
import { settleOpenCalls } from './call-fold.ts';
import type { RunState } from './state.ts';

/** What the model is asked next. Calls still open are shown as interrupted, so that every call is answered once, in order. */
export function render(state: RunState, agent: Pick<AgentParts, 'settings' | 'answer'>): Request {
  const { system, tools, messages, choice, session } = settleOpenCalls(
    state,
    'Interrupted before a result was recorded.',
  );
  return {
    system,
    tools,
    messages,
    choice,
    settings: agent.settings,
    session,
    ...(agent.answer ? { answer: agent.answer.schema } : {}),
  };
}

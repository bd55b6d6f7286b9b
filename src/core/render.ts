// The request a state makes. Pure: the same log gives the same bytes, and any log prefix gives a legal request.
import type { ResolvedAgent, ModelRequest } from './ports.ts';
import { settleOpenCalls } from './call-fold.ts';
import type { RunState } from './state.ts';

/** What the model is asked next. Calls still open are shown as interrupted, so that every call is answered once, in order. */
export function renderRequest(state: RunState, agent: Pick<ResolvedAgent, 'settings' | 'outputSchema'>): ModelRequest {
  const { system, tools, messages, choice, session } = settleOpenCalls(
    state,
    'Interrupted before a result was recorded.',
  );
  return {
    system,
    tools,
    messages,
    toolChoice: choice,
    settings: agent.settings,
    session,
    ...(agent.outputSchema ? { outputSchema: agent.outputSchema.schema } : {}),
  };
}

// Renders a state to a model request. Pure: the same log gives the same bytes, and any log prefix gives a valid request.
import type { ResolvedAgent, ModelRequest } from './ports.ts';
import { closeOpenCalls } from './call-fold.ts';
import type { RunState } from './state.ts';

/** Renders the next request. Open calls appear as interrupted, so that every call has one result, in order. */
export function renderRequest(
  state: RunState,
  agent: Pick<ResolvedAgent, 'settings' | 'outputSchema' | 'trace'>,
): ModelRequest {
  const { system, tools, messages, choice, session } = closeOpenCalls(
    state,
    'Interrupted before a result was recorded.',
  );
  const trace = agent.trace?.contextOf(state);
  return {
    system,
    tools,
    messages,
    toolChoice: choice,
    settings: agent.settings,
    session,
    ...(agent.outputSchema?.schema ? { outputSchema: agent.outputSchema.schema } : {}),
    ...(trace ? { trace } : {}),
  };
}

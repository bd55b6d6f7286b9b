// The facts that a session begins with: a new one, one that another agent goes on with, and a fork.
import { randomUUID } from 'node:crypto';
import { settleOpenCalls, toArray, type ResolvedAgent, type Fact, type Message, type RunState } from '../core/index.ts';
import { visibleToolSpecs } from './tool-registry.ts';

/** Long enough that no text from outside can hold it by chance. */
export const createNonce = (): string => randomUUID().slice(0, 8);

/** The facts that make a log ready for this agent: the first ones of a new session, or a new epoch if the agent is not the one that wrote it. */
export function sessionStartFacts(parts: ResolvedAgent, state: RunState, id: string): readonly Fact[] {
  const { system, provider, cwd } = parts;
  const where = cwd === undefined ? {} : { cwd };
  const tools = visibleToolSpecs(parts.tools);
  const epoch = {
    type: 'epoch-started',
    epoch: state.epoch + 1,
    system,
    tools,
    model: provider.model,
    ...where,
  } as const;
  if (state.session === '')
    return [
      { type: 'session-started', session: id, nonce: createNonce() },
      { ...epoch, reason: 'started' },
    ];
  if (state.model !== provider.model) return [{ ...epoch, reason: 'model-changed' }];
  const same = state.system === system && JSON.stringify(state.tools) === JSON.stringify(tools);
  return same ? [] : [{ ...epoch, reason: 'agent-changed' }];
}

/** The conversation of a state with its open calls answered, as a fork needs it. */
export function settledMessages(state: RunState): readonly Message[] {
  return toArray(settleOpenCalls(state, 'The conversation was forked before this call was settled.').messages);
}

// The facts that a session writes: its start, user input, forks and edits.
import { randomUUID } from 'node:crypto';
import type { Fact, InputMode, InputSource, MessagePart, ResolvedAgent, RunState } from '../core/index.ts';
import { visibleToolSpecs } from './tool-registry.ts';

/** What a user or a program sends: text, or parts with files. */
export type UserInput = string | readonly MessagePart[];

/** A marker of our notes that text from outside cannot contain by chance. */
export const createNonce = (): string => randomUUID().slice(0, 8);

/** The fact of an input; `by` says what added it, if it is not the user. */
export const inputReceivedFact = (
  mode: InputMode,
  input: UserInput,
  id: string = randomUUID().slice(0, 8),
  by?: InputSource,
): Fact => ({
  type: 'input-received',
  input: id,
  how: mode,
  parts: typeof input === 'string' ? [{ type: 'text', text: input }] : input,
  ...(by === undefined ? {} : { by }),
});

/** The facts that prepare a log for this agent: the first ones of a new session, or a new epoch if another agent wrote the last one. */
export function sessionStartFacts(agent: ResolvedAgent, state: RunState, id: string): readonly Fact[] {
  const { system, provider, cwd } = agent;
  const tools = visibleToolSpecs(agent.tools);
  const epoch = {
    type: 'epoch-started',
    epoch: state.epoch + 1,
    system,
    tools,
    model: provider.model,
    ...(cwd === undefined ? {} : { cwd }),
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

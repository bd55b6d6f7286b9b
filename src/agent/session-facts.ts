// The facts that a session writes: its start, user input, forks and edits.
import { randomUUID } from 'node:crypto';
import {
  FairleadError,
  getModelOrigin,
  type Fact,
  type InputMode,
  type InputSource,
  type MessagePart,
  type ResolvedAgent,
  type RunState,
} from '../core/index.ts';
import { resolveLimits } from './limits.ts';
import type { AdvanceOptions } from './run-options.ts';
import { visibleToolSpecs } from './tool-registry.ts';

/** What a user or a program sends: text, or parts with files. */
export type UserInput = string | readonly MessagePart[];

/** Throws if the input has nothing for a model to read. */
export function assertUserInput(input: UserInput): void {
  const parts = typeof input === 'string' ? [{ type: 'text', text: input } as const] : input;
  if (parts.some((part) => part.type !== 'text' || part.text.trim() !== '')) return;
  throw new FairleadError('session/empty-input', 'The input is empty.', {
    blame: 'user',
    hint: 'Omit the input to resume a run, such as after an approval.',
  });
}

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

/** The fact of the start of a run, with the limits and the policies of the agent. */
export const runStartedFact = (
  { provider, limits: own, policies }: Pick<ResolvedAgent, 'provider' | 'limits' | 'policies'>,
  { limits, toolChoice, runId, trace }: Pick<AdvanceOptions, 'limits' | 'toolChoice' | 'runId' | 'trace'> = {},
): Fact => ({
  type: 'run-started',
  run: runId ?? randomUUID(),
  limits: resolveLimits(provider, { ...own, ...limits }),
  ...(toolChoice === undefined ? {} : { choice: toolChoice }),
  ...(trace === undefined ? {} : { trace }),
  ...(policies === undefined ? {} : { policies }),
});

/** The facts that prepare a log for this agent: the first ones of a new session, or a new epoch if another agent wrote the last one. */
export function sessionStartFacts(agent: ResolvedAgent, state: RunState, id: string): readonly Fact[] {
  const { system, provider, cwd } = agent;
  const origin = getModelOrigin(agent);
  const tools = visibleToolSpecs(agent.tools);
  const epoch = {
    type: 'epoch-started',
    epoch: state.epoch + 1,
    ...origin,
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
  const isSameOrigin = JSON.stringify(state.modelOrigin) === JSON.stringify(origin);
  // Files of older versions do not say where the model was.
  if (!isSameOrigin && state.modelOrigin.modelProvider !== undefined) return [{ ...epoch, reason: 'model-changed' }];
  const same = isSameOrigin && state.system === system && JSON.stringify(state.tools) === JSON.stringify(tools);
  return same ? [] : [{ ...epoch, reason: 'agent-changed' }];
}

// Long conversations for tests of compaction: messages by hand, a state that holds them, and a compactor tried on it.
import {
  prefixTokens,
  runStateView,
  messageTokens,
  createPersistentList,
  type ResolvedAgent,
  type CompactionResult,
  type Compactor,
  type Limits,
  type Message,
  type Provider,
  type RunState,
} from '../../src/core/index.ts';
import { scriptedProvider } from '../../src/testing/index.ts';
import { bare } from './bare-agent.ts';

const limits: Limits = { turns: 500, errors: 5, maxRetriesPerAnswer: 2, stuckAfter: 0, outputChars: 100_000 };

/** A message of the user. */
export const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] });

/** An answer in words. */
export const says = (text: string): Message => ({ role: 'assistant', parts: [{ type: 'text', text }] });

/** A call and its result of this many characters. */
export const round = (id: string, size: number): readonly Message[] => [
  { role: 'assistant', parts: [{ type: 'tool-call', id, tool: 'read', input: {} }] },
  { role: 'tool', parts: [{ type: 'tool-result', id, tool: 'read', text: 'x'.repeat(size), failed: false }] },
];

/** A state with these messages, in a run whose window holds this many tokens. */
export function stateOf(messages: readonly Message[], context?: number): RunState {
  const state: RunState = {
    ...runStateView().initial,
    run: 'r',
    tools: [{ name: 'read', description: 'Reads.', input: { type: 'object' } }],
    messages: createPersistentList(messages),
    limits: context === undefined ? limits : { ...limits, context },
  };
  return { ...state, context: prefixTokens(state) + messageTokens(messages) };
}

/** An agent with nothing but a model. */
export const agentOf = (provider: Provider = scriptedProvider([])): ResolvedAgent => ({
  system: '',
  provider,
  tools: new Map(),
  ...bare,
});

/** What a compactor makes of a state. */
export const compactedBy = (compactor: Compactor, state: RunState, provider?: Provider): Promise<CompactionResult> =>
  compactor.run(state, { agent: agentOf(provider), signal: new AbortController().signal });

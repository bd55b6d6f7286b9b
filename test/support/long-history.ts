// Long conversations for tests of compaction: messages, a state that contains them, and a compactor run on it.
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
import { bareAgentParts } from './bare-agent.ts';

const limits: Limits = { turns: 500, errors: 5, maxRetriesPerAnswer: 2, stuckAfter: 0, outputChars: 100_000 };

/** A message of the user. */
export const createUserMessage = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] });

/** A text answer. */
export const createAssistantMessage = (text: string): Message => ({
  role: 'assistant',
  parts: [{ type: 'text', text }],
});

/** A call and its result of this many characters. */
export const createToolExchange = (id: string, size: number): readonly Message[] => [
  { role: 'assistant', parts: [{ type: 'tool-call', id, tool: 'read', input: {} }] },
  { role: 'tool', parts: [{ type: 'tool-result', id, tool: 'read', text: 'x'.repeat(size), failed: false }] },
];

/** A state with these messages, in a run whose context window has this many tokens. */
export function createState(messages: readonly Message[], context?: number): RunState {
  const state: RunState = {
    ...runStateView().initial,
    run: 'r',
    tools: [{ name: 'read', description: 'Reads.', input: { type: 'object' } }],
    messages: createPersistentList(messages),
    limits: context === undefined ? limits : { ...limits, context },
  };
  return { ...state, context: prefixTokens(state) + messageTokens(messages) };
}

/** An agent with only a model. */
export const createBareAgent = (provider: Provider = scriptedProvider([])): ResolvedAgent => ({
  system: '',
  provider,
  tools: new Map(),
  ...bareAgentParts,
});

/** Returns the result of a compactor on a state. */
export const runCompactor = (compactor: Compactor, state: RunState, provider?: Provider): Promise<CompactionResult> =>
  compactor.run(state, { agent: createBareAgent(provider), signal: new AbortController().signal });

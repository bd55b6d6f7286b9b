// Facts of an intercepted conversation: session, runs, responses, allowed and denied calls.
import { resolveLimits } from '../../agent/index.ts';
import {
  messageToolCalls,
  type DecisionSource,
  type ResolvedAgent,
  type ToolCall,
  type Fact,
  type SessionWriter,
  type Json,
  type Limits,
  type RunState,
} from '../../core/index.ts';
import { EXCHANGE_REMARK, SYSTEM_REMARK } from './caller-history.ts';
import type { InterceptedResponse, InterceptedRequest, DeniedCall } from './interceptor.ts';

/** Returns the first facts of a session, or a new epoch if the system text, tools or model changed. */
export async function recordSessionStart(
  head: SessionWriter,
  { model, system, tools }: InterceptedRequest,
  {
    session = crypto.randomUUID(),
    nonce = crypto.randomUUID().slice(0, 8),
    system: added,
  }: { readonly session?: string; readonly nonce?: string; readonly system?: string } = {},
): Promise<void> {
  await head.record((state) => {
    const same =
      state.system === system && state.model === model && JSON.stringify(state.tools) === JSON.stringify(tools);
    if (state.session !== '' && same) return [];
    const epoch = { type: 'epoch-started', epoch: state.epoch + 1, system, tools, model } as const;
    if (state.session !== '') return [{ ...epoch, reason: 'agent-changed' }];
    return [
      { type: 'session-started', session, nonce },
      { ...epoch, reason: 'started' },
      ...(added ? [{ type: 'annotation-added', key: SYSTEM_REMARK, value: added } as const] : []),
    ];
  });
}

/** Ends calls whose results the caller did not send. */
export const closeOpenCallFacts = (state: RunState): readonly Fact[] =>
  state.calls
    .filter(({ result }) => !result)
    .map(({ id }) => ({
      type: 'tool-ended',
      call: id,
      outcome: 'interrupted',
      text: 'The caller gave no result.',
      ms: 0,
    }));

/** A request always expects a response, even without new input. */
export const pendingInputFacts = (state: RunState): readonly Fact[] =>
  state.needsTurn || state.pending.length > 0 || state.calls.length > 0
    ? []
    : [{ type: 'input-received', input: `g${state.seq}c`, how: 'continue', parts: [] }];

/** Starts a run unless one is active. */
export const runStartedFacts = (
  state: RunState,
  agent: ResolvedAgent,
  limits: Partial<Limits> | undefined,
): readonly Fact[] =>
  state.run === undefined
    ? [{ type: 'run-started', run: `r${state.seq}`, limits: resolveLimits(agent.provider, limits) }]
    : [];

/** Returns the fact of a response. */
export const turnEndedFact = (
  state: RunState,
  { message, finish, usage = {}, usd, ms = 0 }: InterceptedResponse,
): Fact => ({
  type: 'turn-ended',
  turn: state.turn,
  message,
  finishReason: finish,
  usage,
  ...(usd === undefined ? {} : { usd }),
  model: state.model,
  ms,
});

/** Returns the fact of an allowed call. */
export const toolStartedFact = ({ id, tool }: ToolCall, state: RunState): Fact => ({
  type: 'tool-started',
  call: id,
  tool,
  key: `${state.session}/${id}-${state.seq}`,
});

/** Formats the reasons of a rejected response for the model: nothing was run, and why. */
export function denialFacts({ message, raw }: InterceptedResponse, refused: readonly DeniedCall[]): readonly Fact[] {
  const why = new Map(refused.map(({ id, reason }) => [id, reason]));
  const deniedBy = new Map(refused.flatMap(({ id, by }) => (by ? [[id, by] as const] : [])));
  const results = messageToolCalls(message).map(({ id, tool }) => ({
    id,
    tool,
    text:
      why.get(id) ?? 'Not run, because another call of this answer was refused. Make it again if it is still wanted.',
  }));
  const exchange = { answer: message, results, ...(raw === undefined ? {} : { raw }) };
  return [
    ...results.map(({ id, text }): Fact => ({
      type: 'tool-ended',
      call: id,
      outcome: why.has(id) ? 'denied' : 'interrupted',
      text,
      ms: 0,
      ...(deniedBy.has(id) ? { deniedBy: deniedBy.get(id) as DecisionSource } : {}),
    })),
    { type: 'annotation-added', key: EXCHANGE_REMARK, value: exchange as unknown as Json },
  ];
}

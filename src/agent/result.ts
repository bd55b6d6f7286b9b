// What a run came to, for programs: the same fields whether it was answered, stopped or failed.
import {
  fromFailure,
  lastItem,
  messageText,
  type Event,
  type Json,
  type RunState,
  type UsageTotals,
  type StopReason,
} from '../core/index.ts';
import type { SessionCache } from './session-cache.ts';

/** Tokens used by a run. */
export type RunUsage = {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
};

/** A question that holds a run until a person answers it. */
export type PendingApproval = {
  readonly call: string;
  readonly tool: string;
  readonly input: Json;
  readonly question: string;
};

/** What a run came to. `status` is the short word, `reason` the exact one. */
export type RunResult = {
  readonly text: string;
  readonly status: 'success' | 'max_turns_exceeded' | 'waiting' | 'stopped' | 'error';
  readonly reason: StopReason | 'waiting';
  readonly detail: string | undefined;
  /** Why the model stopped speaking, in the words of the event stream; null on error, on waiting and at the turn limit. */
  readonly stopReason: StreamStopReason | null;
  readonly turns: number;
  readonly usage: RunUsage;
  /** What it cost; absent when any part of it is unknown. */
  readonly costUsd: number | undefined;
  readonly error: Error | undefined;
  readonly pendingApprovals: readonly PendingApproval[];
  readonly object: Json | undefined;
  readonly runFile: string | undefined;
  readonly runId: string;
  readonly sessionId: string;
  readonly cacheSnapshots: ReturnType<SessionCache['snapshots']>;
  readonly cacheStorage: ReturnType<SessionCache['storageMetadata']>;
  readonly charts: ReturnType<SessionCache['listCharts']>;
};

/** Why a message ended, as the event stream says it. */
export type StreamStopReason = 'end_turn' | 'tool_use' | 'max_tokens' | 'refusal';

/** A finish in the words of the event stream. */
export function streamStopReason(event: Event & { readonly type: 'turn-ended' }): StreamStopReason {
  if (event.finishReason === 'length') return 'max_tokens';
  if (event.finishReason === 'refusal' || event.finishReason === 'filtered') return 'refusal';
  return event.message.parts.some((part) => part.type === 'tool-call') ? 'tool_use' : 'end_turn';
}

/** The tokens of this spending. */
export const toRunUsage = (spent: UsageTotals): RunUsage => ({
  inputTokens: spent.input,
  outputTokens: spent.output,
  cacheReadTokens: spent.cacheRead,
  cacheWriteTokens: spent.cacheWrite,
});

/** What is known about a run beside its state. */
export type RunIds = { readonly runId: string; readonly sessionId: string; readonly runFile: string | undefined };

/** The result of the run this state is at the end of. */
export function toRunResult(
  state: RunState,
  names: RunIds,
  stop: StreamStopReason | undefined,
  cache: SessionCache,
  value: Json | undefined,
): RunResult {
  const reason = state.ended?.reason ?? 'waiting';
  const status = resultStatus(reason);
  const tail = lastItem(state.messages);
  const failure = state.ended?.error;
  const spoke = status === 'success' || status === 'stopped';
  return {
    text: tail?.role === 'assistant' ? messageText(tail) : '',
    status,
    reason,
    detail: state.ended?.detail,
    stopReason: spoke ? (stop ?? null) : null,
    turns: state.spent.turns,
    usage: toRunUsage(state.spent),
    costUsd: state.spent.turnsWithoutPrice === 0 ? state.spent.usd : undefined,
    error:
      status === 'error'
        ? fromFailure(
            failure ?? { code: `run/${reason}`, message: state.ended?.detail ?? reason, blame: 'model', retry: false },
          )
        : undefined,
    pendingApprovals: state.calls.flatMap((call) =>
      call.ask && call.ask.allowed === undefined
        ? [{ call: call.id, tool: call.tool, input: call.input, question: call.ask.question }]
        : [],
    ),
    object: value,
    ...names,
    cacheSnapshots: cache.snapshots(),
    cacheStorage: cache.storageMetadata(),
    charts: cache.listCharts(),
  };
}

function resultStatus(reason: StopReason | 'waiting'): RunResult['status'] {
  if (reason === 'answered' || reason === 'task-complete') return 'success';
  if (reason === 'max-turns') return 'max_turns_exceeded';
  if (reason === 'waiting') return 'waiting';
  return reason === 'provider-error' || reason === 'error-threshold' ? 'error' : 'stopped';
}

// The result of a run: the same fields whether the run was answered, stopped, is waiting or failed.
import {
  escapeInvisible,
  FairleadError,
  formatError,
  fromFailure,
  getAnswerText,
  pendingApprovals,
  type Event,
  type PendingApproval,
  type RunState,
  type StopReason,
  type UnconfirmedClaim,
  type UsageTotals,
} from '../core/index.ts';

/** Tokens used by a run. */
export type RunUsage = {
  /** Tokens of the requests. */
  readonly inputTokens: number;
  /** Tokens of the answers. */
  readonly outputTokens: number;
  /** Input tokens that the provider read from its prompt cache. */
  readonly cacheReadTokens: number;
  /** Input tokens that the provider wrote to its prompt cache. */
  readonly cacheWriteTokens: number;
  /** Part of `outputTokens`; absent if the provider does not report it. */
  readonly reasoningTokens?: number;
};

/** How a run ended, or that it waits for approvals. */
export type ResultStatus = 'success' | 'max-turns-exceeded' | 'waiting' | 'stopped' | 'error';

/** Why the last message of the model ended. */
export type MessageStopReason = 'end-turn' | 'tool-use' | 'max-tokens' | 'refusal';

/** The result of a run. `Output` is the type of `object`, which an `outputSchema` sets. */
export type RunResult<Output = unknown> = {
  /** The text of the last answer; empty if there is none. A check may have replaced it, for example with claims struck out. */
  readonly text: string;
  /** The answer as the model wrote it, if a check replaced `text`. */
  readonly originalText?: string;
  /** How the run ended: `success`, `max-turns-exceeded`, `waiting`, `stopped` or `error`. */
  readonly status: ResultStatus;
  /** The exact reason for `status`. */
  readonly reason: StopReason | 'waiting';
  /** One sentence about the reason, if there is one. */
  readonly detail: string | undefined;
  /** Null if the run failed, waits or reached its turn limit. */
  readonly stopReason: MessageStopReason | null;
  /** Model turns of this run. */
  readonly turns: number;
  /** Tokens of this run. */
  readonly usage: RunUsage;
  /** Undefined if the cost of any turn is unknown. */
  readonly costUsd: number | undefined;
  /** The error, if `status` is `error`. */
  readonly error: Error | undefined;
  /** The tool calls that wait for a decision; see `Session.approve` and `Session.reject`. */
  readonly pendingApprovals: readonly PendingApproval[];
  /** The statements of the answer that a check could not confirm, such as tests that the log does not have; see `actionClaims`. */
  readonly unconfirmedClaims: readonly UnconfirmedClaim[];
  /** The answer as `outputSchema` parsed it; undefined without a schema, and unless `status` is `success`. */
  readonly object: Output | undefined;
  /** The id of the run. */
  readonly runId: string;
  /** The id of the session. */
  readonly sessionId: string;
};

/** What a result needs besides the state of the session. */
export type ResultContext = {
  readonly runId: string;
  readonly sessionId: string;
  readonly stopReason?: MessageStopReason | undefined;
  readonly reasoningTokens?: number | undefined;
};

/** Thrown by the methods that return only text if a run reached its turn limit. */
export class MaxTurnsExceeded extends FairleadError {
  override readonly name: string = 'MaxTurnsExceeded';
  readonly turns: number;

  constructor(turns: number, message = 'The turn limit was reached.') {
    super('run/max-turns', message, { blame: 'user', hint: 'Raise maxTurns, or give a smaller task.' });
    this.turns = turns;
  }
}

/** Why the message of this event ended. */
export function messageStopReason(event: Event & { readonly type: 'turn-ended' }): MessageStopReason {
  if (event.finishReason === 'length') return 'max-tokens';
  if (event.finishReason === 'refusal' || event.finishReason === 'filtered') return 'refusal';
  return event.message.parts.some((part) => part.type === 'tool-call') ? 'tool-use' : 'end-turn';
}

/** The token counts of these totals. */
export const toRunUsage = (spent: UsageTotals, reasoningTokens?: number): RunUsage => ({
  inputTokens: spent.input,
  outputTokens: spent.output,
  cacheReadTokens: spent.cacheRead,
  cacheWriteTokens: spent.cacheWrite,
  ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
});

/** The result of the last run of a session in this state, without `object`. */
export function toRunResult(state: RunState, context: ResultContext): RunResult<undefined> {
  const { spent, ended } = state;
  const reason = ended?.reason ?? 'waiting';
  const status = resultStatus(reason);
  return {
    ...getAnswerText(state),
    status,
    reason,
    detail: ended?.detail,
    stopReason: status === 'success' || status === 'stopped' ? (context.stopReason ?? null) : null,
    turns: spent.turns,
    usage: toRunUsage(spent, context.reasoningTokens),
    costUsd: spent.turnsWithoutPrice === 0 ? spent.usd : undefined,
    error: status === 'error' ? runError(reason, ended) : undefined,
    pendingApprovals: pendingApprovals(state),
    unconfirmedClaims: state.unconfirmed ?? [],
    object: undefined,
    runId: context.runId,
    sessionId: context.sessionId,
  };
}

const runError = (reason: string, ended: RunState['ended']): FairleadError =>
  fromFailure(
    ended?.error ?? { code: `run/${reason}`, message: ended?.detail ?? reason, blame: 'model', retry: false },
  );

function resultStatus(reason: StopReason | 'waiting'): ResultStatus {
  if (reason === 'answered' || reason === 'task-complete') return 'success';
  if (reason === 'max-turns') return 'max-turns-exceeded';
  if (reason === 'waiting') return 'waiting';
  return reason === 'provider-error' || reason === 'error-threshold' ? 'error' : 'stopped';
}

/** The text of a successful run; throws the error of any other. */
export function unwrapResult(result: Pick<RunResult, 'reason' | 'text' | 'detail' | 'error' | 'turns'>): string {
  const { reason, text, detail, error, turns } = result;
  const status = resultStatus(reason);
  if (status === 'success') return text;
  if (status === 'max-turns-exceeded') throw new MaxTurnsExceeded(turns, detail);
  throw (
    error ??
    new FairleadError(`run/${reason}`, detail ?? `The run ended without an answer: ${reason}.`, { blame: 'user' })
  );
}

/** One sentence that says why a run ended without an answer: the open approval, the error, or the stop reason. */
export function formatRunEnd({ reason, detail, error, pendingApprovals: [first] }: RunResult): string {
  if (first) return `Approval required for ${first.tool}. ${escapeInvisible(first.question)}`;
  if (reason === 'cancelled') return 'Interrupted.';
  if (reason === 'provider-error' && error) return `The model request failed. ${formatError(error)}`;
  return (error ? formatError(error) : detail) ?? `Stopped: ${reason}.`;
}

// Reviews a call that the flow policy would deny because no user is there: asks the reviewer, records its verdict with the decision, and counts its cost for the run.
import { createHash } from 'node:crypto';
import {
  assertRunBudget,
  errorMessage,
  flowReviewKey,
  formatFlowReview,
  readView,
  zeroUsage,
  type AskedModel,
  type Decision,
  type FlowReview,
  type RunState,
  type UsageTotals,
} from '../../core/index.ts';
import { askReviewer, type ReviewResult } from './ask-reviewer.ts';
import { formatDenial, type BlockedDecision } from './flow-question.ts';
import { callKey, type FlowState } from './flow-state.ts';
import { createReviewSubject, type ReviewSubject } from './review-call.ts';
import { isDeniedByReview, reviewView } from './review-view.ts';
import type { FlowCall, FlowDeclarations } from './types.ts';

/** A call that the policy flagged. */
export type FlaggedCall = {
  readonly call: FlowCall;
  readonly decision: BlockedDecision;
  readonly state: FlowState;
  readonly declarations: FlowDeclarations;
};

/** Decides about a flagged call; undefined leaves it denied. */
export type FlowReviewer = (flagged: FlaggedCall, runState: RunState) => Promise<Decision | undefined>;

/** Options of createFlowReviewer. */
export type FlowReviewerOptions = {
  /** Opens the model; called for the first review. If it throws, calls are denied. */
  readonly open: () => Promise<AskedModel>;
  /** The time of one request in milliseconds. */
  readonly timeoutMs?: number;
  /** The maximum number of reviews of a run; further calls are denied. */
  readonly maxReviews?: number;
};

/** The maximum number of reviews of a run, unless set. */
export const defaultMaxReviews = 20;

/** More verdicts of calls that were never recorded belong to calls that ended. */
const maxKept = 100;
const maxValueChars = 300;

/** Creates a reviewer. The agent must have the view of reviews. */
export function createFlowReviewer(options: FlowReviewerOptions): FlowReviewer {
  const { open, timeoutMs, maxReviews = defaultMaxReviews } = options;
  let opened: Promise<AskedModel> | undefined;
  /** Gates are evaluated again, for example if another gate asks: a call is reviewed once. */
  const kept = new Map<string, Promise<{ readonly review: FlowReview; readonly spent: UsageTotals }>>();

  async function review(subject: ReviewSubject, state: RunState, key: string) {
    let model: AskedModel | undefined;
    let result: ReviewResult | undefined;
    try {
      opened ??= open();
      model = await opened;
      const { price } = model;
      result = await askReviewer(model, subject, {
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
        assertAffordable: (spent) => assertRunBudget(state, spent, price !== undefined),
      });
    } catch (error) {
      opened = undefined;
      result = { isAllowed: false, reason: errorMessage(error), requests: 0, spent: zeroUsage };
    }
    const { spent, ...verdict } = result;
    return { review: toReview(subject, state, { key, model: model?.name ?? 'none', ...verdict }), spent };
  }

  return async ({ call, decision, state, declarations }, runState) => {
    // What is no call of the last response has no place in the log for its verdict.
    if (!runState.calls.some(({ id }) => id === call.id)) return undefined;
    const subject = createReviewSubject(state, declarations, call, decision);
    if (!subject) return undefined;
    const log = readView(runState, reviewView);
    const key = hashCall(call);
    const recorded = log.latest.findLast(
      (each) => each.turn === runState.turn && each.call === call.id && each.key === key,
    );
    if (recorded) return recorded.isAllowed ? { type: 'allow' } : undefined;
    const values = foreignValues(subject);
    const turn = `${JSON.stringify([runState.session, runState.turn])} `;
    const id = `${turn}${JSON.stringify([call.id, key])}`;
    // The calls of one response are reviewed at the same time, before any of them is recorded.
    const unrecorded = [...kept.keys()].filter((each) => each.startsWith(turn) && each !== id).length;
    if (log.count + unrecorded >= maxReviews || isDeniedByReview(log, key, values)) return undefined;
    const pending = kept.get(id) ?? review(subject, runState, key);
    kept.set(id, pending);
    const [oldest] = kept.keys();
    if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest);
    const { review: verdict, spent } = await pending;
    const annotations = [{ key: flowReviewKey, value: { ...verdict, text: formatFlowReview(verdict) }, spent }];
    if (verdict.isAllowed) return { type: 'allow', annotations };
    const { risk, authorisation } = verdict;
    // The reason of the reviewer may repeat text of the call: the model that acts does not read it.
    const axes =
      authorisation === undefined
        ? 'The reviewer gave no judgement.'
        : `The reviewer denied it (authorisation by the user: ${authorisation}${risk === undefined ? '' : `, risk: ${risk}`}).`;
    return {
      type: 'deny',
      reason: `${formatDenial(call, decision)} ${axes}`,
      by: { kind: 'flow', name: decision.rule },
      annotations,
    };
  };
}

const foreignValues = ({ values }: ReviewSubject): readonly string[] =>
  values.flatMap(({ value, label }) =>
    label === 'untrusted' || label === 'unknown' ? [value.slice(0, maxValueChars)] : [],
  );

const hashCall = (call: FlowCall): string => createHash('sha256').update(callKey(call)).digest('hex').slice(0, 32);

const toReview = (
  subject: ReviewSubject,
  { turn }: RunState,
  verdict: Pick<FlowReview, 'key' | 'model'> & Omit<ReviewResult, 'spent'>,
): FlowReview => ({
  call: subject.call.id,
  turn,
  tool: subject.call.tool,
  rule: subject.rule,
  values: foreignValues(subject),
  ...verdict,
});

// The tool calls of a run that wait for the user's approval.
import type { ApprovalPreview } from './approval-preview.ts';
import type { Json } from './json.ts';
import type { RunState } from './state.ts';

/** A tool call that waits for a decision of the user. */
export type PendingApproval = {
  /** The id of the call, which `approve` and `reject` take. */
  readonly id: string;
  /** The name of the tool. */
  readonly tool: string;
  /** The input of the call. */
  readonly input: Json;
  /** What the user is asked. */
  readonly question: string;
  /** `unknown-outcome`: the call may have taken effect before a crash. `client-tool`: the client must run the call. */
  readonly kind?: 'unknown-outcome' | 'client-tool';
  /** What the call would do: the diff of its files, its command with the effects, or its arguments. */
  readonly preview?: ApprovalPreview;
};

/** How an approval is recorded. */
export type ApprovalOptions = {
  /** The source of the decision. */
  readonly by?: string;
  /** Of a call whose outcome is unknown: it has taken effect. */
  readonly tookEffect?: boolean;
  /** Why the call was rejected; the model reads it. */
  readonly reason?: string;
};

/** The decision about a tool call; undefined leaves it pending. */
export type ApprovalDecision = boolean | undefined | (ApprovalOptions & { readonly approved: boolean });

/** Decides about a pending tool call. If it throws, the call stays pending and the run rejects. */
export type ApprovalHandler = (
  request: PendingApproval,
  signal: AbortSignal,
) => ApprovalDecision | Promise<ApprovalDecision>;

/** The calls that wait for a decision, in call order. */
export const pendingApprovals = ({ calls }: Pick<RunState, 'calls'>): readonly PendingApproval[] =>
  calls.flatMap(({ id, tool, input, ask, result }) => {
    if (!ask || ask.allowed !== undefined || result) return [];
    const { question, kind, preview } = ask;
    return [{ id, tool, input, question, ...(kind ? { kind } : {}), ...(preview ? { preview } : {}) }];
  });

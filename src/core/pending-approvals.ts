// The tool calls of a run that wait for the user's approval.
import type { Json } from './json.ts';
import type { RunState } from './state.ts';

/** A tool call that waits for a decision of the user. */
export type PendingApproval = {
  /** The id of the call, which `approve` and `reject` take. */
  readonly id: string;
  readonly tool: string;
  readonly input: Json;
  readonly question: string;
  /** `unknown-outcome`: the call may have taken effect before a crash. `client-tool`: the client must run the call. */
  readonly kind?: 'unknown-outcome' | 'client-tool';
};

/** The calls that wait for a decision, in call order. */
export const pendingApprovals = ({ calls }: Pick<RunState, 'calls'>): readonly PendingApproval[] =>
  calls.flatMap(({ id, tool, input, ask, result }) => {
    if (!ask || ask.allowed !== undefined || result) return [];
    return [{ id, tool, input, question: ask.question, ...(ask.kind ? { kind: ask.kind } : {}) }];
  });

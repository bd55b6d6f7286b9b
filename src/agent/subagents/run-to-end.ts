// One run of a child agent: narrower than its parent, its questions put to whoever answers for the parent, its end in words.
import {
  deriveSubagent,
  lastItem,
  messageText,
  type ResolvedAgent,
  type ToolCall,
  type SubagentOverrides,
  type Gate,
  type RunState,
} from '../../core/index.ts';
import type { RunOptions, Session, UserInput } from '../session.ts';

/** Answers a child's question about this very call: yes, no, or nothing where nobody can say. */
export type ApprovalHandler = (call: ToolCall, signal: AbortSignal) => Promise<boolean | undefined>;

/** The parent's parts, narrowed. What a person allowed is told by the child's own log: the parent's gates are asked about each of its calls as if nobody had been. */
export function deriveUngrantedSubagent(
  parent: ResolvedAgent,
  state: RunState,
  wish: SubagentOverrides,
): ResolvedAgent {
  const parts = deriveSubagent(parent, state, wish);
  return { ...parts, gates: parts.gates.map(withoutGrants) };
}

const withoutGrants =
  (gate: Gate): Gate =>
  ({ granted: _, ...call }, state) =>
    gate(call, state);

/** Runs to the end, putting each question that comes up to whoever answers; one that gets no answer stays open, and the run with it. */
export async function runToEnd(
  session: Session,
  words: UserInput | undefined,
  options: RunOptions & { readonly signal: AbortSignal; readonly answer: ApprovalHandler | undefined },
): Promise<RunState> {
  const { answer, ...run } = options;
  let state = await session.run(words, run);
  while (state.run !== undefined) {
    const call = firstPendingApproval(state);
    const allowed = call && !run.signal.aborted ? await answer?.(call, run.signal) : undefined;
    if (!run.signal.aborted && (!call || allowed === undefined)) return state;
    // Whoever interrupts has not answered: the run then ends as cancelled.
    if (call && allowed !== undefined && !run.signal.aborted) await session.resolveApproval(call.id, allowed, 'person');
    state = await session.run(undefined, run);
  }
  return state;
}

/** The first call that waits for a person. */
export const firstPendingApproval = (state: RunState): ToolCall | undefined =>
  state.calls.find((call) => call.ask && call.ask.allowed === undefined);

/** How a child's run came out, for its parent: the report, or why there is none. */
export function subagentReport(state: RunState): { readonly text: string; readonly failed: boolean } {
  const answer = lastItem(state.messages);
  const said = answer?.role === 'assistant' ? messageText(answer) : '';
  const { reason, detail } = state.ended ?? {};
  if (reason === 'answered' || reason === 'task-complete') return { text: said, failed: false };
  const asked = state.calls.flatMap(({ ask }) => (ask && ask.allowed === undefined ? [ask.question] : []));
  const why = asked.length
    ? `It needs a person’s answer: ${asked.join('; ')}`
    : `It stopped: ${reason ?? 'interrupted'}. ${detail ?? ''}`;
  return { text: `${why.trim()}\n${said}`.trim(), failed: true };
}

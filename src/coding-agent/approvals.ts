// The pending approvals of a conversation: lists them, asks the user, and records the answers.
import {
  unwrapDeferredCall,
  evaluateGates,
  unknownOutcomeQuestion,
  type ResolvedAgent,
  type ToolCall,
  type RunState,
} from '../core/index.ts';
import type { Session } from '../agent/index.ts';
import type { Grants } from '../guards/index.ts';
import { listApprovalChoices, type ApprovalChoice, type ApprovalAnswer } from './approval-choices.ts';

/** The calls that wait for a decision of the user. */
export const listPendingApprovals = (state: RunState): readonly ToolCall[] =>
  state.calls.filter((call) => call.ask && call.ask.allowed === undefined);

/** Whether a run waits for the user. */
export const isAwaitingApproval = (state: RunState): boolean =>
  state.run !== undefined && listPendingApprovals(state).length > 0;

/** Waits until all input that is being added to a run is recorded, including input that arrives while it waits. */
export async function waitForJoiningInput(joining: () => Promise<unknown>): Promise<void> {
  for (let seen: Promise<unknown> | undefined; seen !== joining();) {
    seen = joining();
    await seen;
  }
}

/** Replaces the question of each pending call by the current one: anyone who wrote the session file may have written the question. */
export async function refreshApprovalQuestions(session: Session): Promise<void> {
  const { agent, state } = session;
  for (const call of listPendingApprovals(state)) {
    const question = await getCurrentQuestion(agent, call, state);
    if (question !== call.ask?.question) await session.updateApproval(call.id, question);
  }
}

/** The question about a call as the gates ask it now. If they do not ask, the call itself is shown: the answer does not change what they decide. */
async function getCurrentQuestion(agent: ResolvedAgent, call: ToolCall, state: RunState): Promise<string> {
  const inner = unwrapDeferredCall(call);
  const target = typeof inner === 'string' ? call : inner;
  const tool = agent.tools.has(target.tool) ? target.tool : (agent.resolveToolName?.(target) ?? target.tool);
  if (call.ask?.kind === 'unknown-outcome') return unknownOutcomeQuestion(tool, target);
  const decision = await evaluateGates(agent, { ...target, tool }, state);
  if (decision.type === 'ask') return decision.question;
  const outcome =
    decision.type === 'allow' ? 'would be allowed without a question' : `will be refused: ${decision.reason}`;
  return `${tool} ${JSON.stringify(target.input)}\n(The session was left with a question about this call. By now it ${outcome})`;
}

/** A session with its grants, such as a conversation. */
export type ApprovalTarget = {
  readonly session: Session;
  readonly grants: Grants;
  readonly agent: { readonly grantKey: (call: ToolCall) => string };
};

/** Asks about the pending calls of a run one after the other and records the answers. If a question gets no answer, it and the rest stay pending. */
export async function resolvePendingApprovals(
  target: ApprovalTarget,
  state: RunState,
  ask: (call: ToolCall, key: string, choices: readonly ApprovalChoice[]) => Promise<ApprovalAnswer | undefined>,
): Promise<void> {
  for (const call of listPendingApprovals(state)) {
    const key = target.agent.grantKey(call);
    // A grant for this kind of call does not say whether this call took effect before a crash.
    if (call.ask?.kind !== 'unknown-outcome' && target.grants.has(key)) {
      await target.session.approve(call.id, { by: 'granted before' });
      continue;
    }
    const answer = await ask(call, key, listApprovalChoices(call, key));
    if (answer === undefined) return;
    if (answer === 'always') target.grants.grant(key);
    await target.session.resolveApproval(call.id, answer === 'once' || answer === 'always', {
      by: 'person',
      tookEffect: answer === 'happened',
    });
  }
}

/** The current activity of a run in one or two words. */
export function formatActivity({ calls, inTurn }: RunState): string {
  const tools = calls.filter((call) => call.key !== undefined && !call.result).map((call) => call.tool);
  if (tools.length) return `running ${[...new Set(tools)].join(', ')}`;
  return inTurn ? 'thinking' : 'working';
}

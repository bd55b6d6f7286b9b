// The pending approvals of a conversation: updates their questions, and asks the user unless a grant covers the call.
import {
  unwrapDeferredCall,
  evaluateGates,
  pendingApprovals,
  unknownOutcomeQuestion,
  type ApprovalHandler,
  type PendingApproval,
  type ResolvedAgent,
  type ToolCall,
  type RunState,
} from '../core/index.ts';
import type { Session } from '../agent/index.ts';
import type { Grants } from '../guards/index.ts';
import { listApprovalChoices, type ApprovalChoice, type ApprovalAnswer } from './approval-choices.ts';

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
  for (const pending of pendingApprovals(state)) {
    const question = await getCurrentQuestion(agent, pending, state);
    if (question !== pending.question) await session.updateApproval(pending.id, question);
  }
}

/** The question about a call as the gates ask it now. If they do not ask, the call itself is shown: the answer does not change what they decide. */
async function getCurrentQuestion(agent: ResolvedAgent, pending: PendingApproval, state: RunState): Promise<string> {
  const call = state.calls.find(({ id }) => id === pending.id) as ToolCall;
  const inner = unwrapDeferredCall(call);
  const target = typeof inner === 'string' ? call : inner;
  const tool = agent.tools.has(target.tool) ? target.tool : (agent.resolveToolName?.(target) ?? target.tool);
  if (pending.kind === 'unknown-outcome') return unknownOutcomeQuestion(tool, target);
  const decision = await evaluateGates(agent, { ...target, tool }, state);
  if (decision.type === 'ask') return decision.question;
  const outcome =
    decision.type === 'allow' ? 'would be allowed without a question' : `will be refused: ${decision.reason}`;
  return `${tool} ${JSON.stringify(target.input)}\n(The session was left with a question about this call. By now it ${outcome})`;
}

/** The grants of a session and the agent that names them, such as a conversation. */
export type GrantContext = {
  readonly grants: Grants;
  readonly agent: { readonly grantKey: (call: Pick<ToolCall, 'tool' | 'input'>) => string };
};

/** A question to the user about a pending call, with its possible answers and the key of its grant. */
export type ApprovalPrompt = PendingApproval & {
  readonly grantKey: string;
  readonly choices: readonly ApprovalChoice[];
};

/** Asks the user about a call; undefined leaves it pending. */
export type AskUser = (prompt: ApprovalPrompt, signal: AbortSignal) => Promise<ApprovalAnswer | undefined>;

/** Creates the prompt about a pending call. */
export function createApprovalPrompt({ agent }: GrantContext, pending: PendingApproval): ApprovalPrompt {
  const grantKey = agent.grantKey(pending);
  return { ...pending, grantKey, choices: listApprovalChoices(pending, grantKey) };
}

/** Creates an approval handler that asks the user about each call that no grant covers. */
export const createApprovalHandler =
  (context: GrantContext, askUser: AskUser): ApprovalHandler =>
  async (pending, signal) => {
    const { grants } = context;
    const prompt = createApprovalPrompt(context, pending);
    // A grant for this kind of call does not say whether this call took effect before a crash.
    if (pending.kind !== 'unknown-outcome' && grants.has(prompt.grantKey))
      return { approved: true, by: 'granted before' };
    const answer = await askUser(prompt, signal);
    if (answer === undefined) return undefined;
    if (answer === 'always') grants.grant(prompt.grantKey);
    return {
      approved: answer === 'once' || answer === 'always',
      by: 'person',
      tookEffect: answer === 'happened',
    };
  };

/** The current activity of a run in one or two words. */
export function formatActivity({ calls, inTurn }: RunState): string {
  const tools = calls.filter((call) => call.key !== undefined && !call.result).map((call) => call.tool);
  if (tools.length) return `running ${[...new Set(tools)].join(', ')}`;
  return inTurn ? 'thinking' : 'working';
}

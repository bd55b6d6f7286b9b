// What a run is at: the questions it waits with, who answers them, and what it does.
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
import type { CodingAgent } from './create-agent.ts';

/** The calls a person has to answer for. */
export const listPendingApprovals = (state: RunState): readonly ToolCall[] =>
  state.calls.filter((call) => call.ask && call.ask.allowed === undefined);

/** Whether a run rests because a person has to answer. */
export const isAwaitingApproval = (state: RunState): boolean =>
  state.run !== undefined && listPendingApprovals(state).length > 0;

/** Waits for words that are on their way into a run, and for those that come while it waits. */
export async function waitForJoiningInput(joining: () => Promise<unknown>): Promise<void> {
  for (let seen: Promise<unknown> | undefined; seen !== joining();) {
    seen = joining();
    await seen;
  }
}

/** Puts the questions that a session was opened with in the gates' own words: whoever wrote its file may have written them too. */
export async function refreshApprovalQuestions(session: Session): Promise<void> {
  const { agent, state } = session;
  for (const call of listPendingApprovals(state)) {
    const question = await getCurrentQuestion(agent, call, state);
    if (question !== call.ask?.question) await session.updateApproval(call.id, question);
  }
}

/** What is to be asked about a call today. Where nothing is, the call itself is shown: the answer changes nothing about what the gates decide. */
async function getCurrentQuestion(parts: ResolvedAgent, call: ToolCall, state: RunState): Promise<string> {
  const aim = unwrapDeferredCall(call);
  const meant = typeof aim === 'string' ? call : aim;
  const tool = parts.tools.has(meant.tool) ? meant.tool : (parts.resolveToolName?.(meant) ?? meant.tool);
  if (call.ask?.kind === 'unknown-outcome') return unknownOutcomeQuestion(tool, meant);
  const ruling = await evaluateGates(parts, { ...meant, tool }, state);
  if (ruling.type === 'ask') return ruling.question;
  const now = ruling.type === 'allow' ? 'would be allowed without a question' : `will be refused: ${ruling.reason}`;
  return `${tool} ${JSON.stringify(meant.input)}\n(The session was left with a question about this call. By now it ${now})`;
}

/** A session whose questions are answered, with what was granted in it; a conversation is one. */
export type ApprovalTarget = {
  readonly session: Session;
  readonly grants: Grants;
  readonly agent: Pick<CodingAgent, 'grantKey'>;
};

/** Puts the open questions of a run to a person, one after the other, and writes the answers down. One that gets none stays open, and so do those after it. */
export async function resolvePendingApprovals(
  talk: ApprovalTarget,
  state: RunState,
  ask: (call: ToolCall, kind: string, choices: readonly ApprovalChoice[]) => Promise<ApprovalAnswer | undefined>,
): Promise<void> {
  for (const call of listPendingApprovals(state)) {
    const kind = talk.agent.grantKey(call);
    // That calls of a kind may be made says nothing about whether this one has been.
    if (call.ask?.kind !== 'unknown-outcome' && talk.grants.has(kind)) {
      await talk.session.resolveApproval(call.id, true, 'granted before');
      continue;
    }
    const said = await ask(call, kind, listApprovalChoices(call, kind));
    if (said === undefined) return;
    if (said === 'always') talk.grants.grant(kind);
    await talk.session.resolveApproval(call.id, said === 'once' || said === 'always', 'person', said === 'happened');
  }
}

/** What is being done, in a word or two. */
export function formatActivity({ calls, inTurn }: RunState): string {
  const tools = calls.filter((call) => call.key !== undefined && !call.result).map((call) => call.tool);
  if (tools.length) return `running ${[...new Set(tools)].join(', ')}`;
  return inTurn ? 'thinking' : 'working';
}

// Tracks which calls the user approved in this process. A session file can contain approvals too, but anyone may have written it: those are asked again.
import type { ApprovalTracker } from '../agent/subagents/index.ts';
import type { Gate } from '../core/index.ts';

/** Creates a tracker without approvals. */
export function createApprovalTracker(): ApprovalTracker {
  /** The questions that the user approved, by call id. The text counts: the question in a file may not be ours. */
  const approved = new Map<string, readonly string[]>();
  let unsubscribe = (): void => {};
  const askAgain =
    (gate: Gate): Gate =>
    async (call, state) => {
      const decision = await gate(call, state);
      if (decision.type !== 'ask') return decision;
      let { question } = decision;
      while (call.granted?.includes(question) && !approved.get(call.id)?.includes(question)) question += askedAgainText;
      return { type: 'ask', question };
    };
  return {
    watch(session) {
      unsubscribe();
      approved.clear();
      unsubscribe = session.subscribe((event, state) => {
        if (event.type !== 'approval-resolved' || !event.allowed) return;
        const question = state.calls.find(({ id }) => id === event.call)?.ask?.question;
        if (question !== undefined) approved.set(event.call, [...(approved.get(event.call) ?? []), question]);
      });
    },
    withFreshApprovals: (agent) => ({ ...agent, gates: agent.gates.map(askAgain) }),
  };
}

const askedAgainText = '\n(The session says that this was allowed earlier. It is asked again.)';

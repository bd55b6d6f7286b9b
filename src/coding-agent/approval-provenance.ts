// Which calls a person said yes to in this process. A session's file may say yes too, but anybody can have written it: that yes is asked for again.
import type { ApprovalTracker } from '../agent/subagents/launch.ts';
import type { Gate } from '../core/index.ts';

/** No yes to begin with. */
export function createApprovalTracker(): ApprovalTracker {
  /** The questions that were answered with yes, by their calls. The words count: those of an old question may not be ours. */
  const given = new Map<string, readonly string[]>();
  let unwatch = (): void => {};
  const heed =
    (gate: Gate): Gate =>
    async (call, state) => {
      const decision = await gate(call, state);
      if (decision.type !== 'ask') return decision;
      let { question } = decision;
      while (call.granted?.includes(question) && !given.get(call.id)?.includes(question)) question += askedAgainText;
      return { type: 'ask', question };
    };
  return {
    watch(session) {
      unwatch();
      given.clear();
      unwatch = session.subscribe((event, state) => {
        if (event.type !== 'approval-resolved' || !event.allowed) return;
        const question = state.calls.find(({ id }) => id === event.call)?.ask?.question;
        if (question !== undefined) given.set(event.call, [...(given.get(event.call) ?? []), question]);
      });
    },
    withFreshApprovals: (parts) => ({ ...parts, gates: parts.gates.map(heed) }),
  };
}

const askedAgainText = '\n(The session says that this was allowed earlier. It is asked again.)';

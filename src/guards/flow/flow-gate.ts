// The gate of the flow policy: asks or denies if text of third parties decides where an effect goes, or if the user did not request it.
import type { Gate, RunState } from '../../core/index.ts';
import { decideCall } from './decide-call.ts';
import { readTrifecta } from './egress.ts';
import { toFlowCall } from './flow-call.ts';
import type { FlowLog } from './flow-log.ts';
import type { FlowFold } from './fold-log.ts';
import type { FlowReviewer } from './review-gate.ts';
import type { FlowCall, FlowDeclarations } from './types.ts';

/** `ask` asks the user, `deny` denies what would be asked, `observe` allows everything: a report shows what would have been asked. */
export type FlowMode = 'ask' | 'deny' | 'observe';

/** A session is read after this many events, also if no call needs it. */
const maxUnread = 2000;
/** Thrown by a state that is asked for more than its options. */
const sessionNeeded = new Error('The session must be read to decide about this call.');

/** Creates the gate of a session whose log a fold reads. */
export function createFlowGate(
  readLog: (state: RunState) => FlowLog,
  {
    fold,
    declarations,
    mode,
    review,
    detectorThreshold,
  }: {
    readonly fold: FlowFold;
    readonly declarations: FlowDeclarations;
    readonly mode: () => FlowMode;
    /** Reviews a call that would be denied because no user is there. */
    readonly review?: FlowReviewer;
    /** The score above which a question calls a text suspicious. */
    readonly detectorThreshold?: number;
  },
): Gate {
  const unread = fold.empty.defer(() => {
    throw sessionNeeded;
  });

  /** Whether a call is allowed whatever the session holds, such as a read, or a change of a file where the user works. */
  function isAllowedEarly(log: FlowLog, call: FlowCall): boolean {
    // Events that were not read stay in memory.
    if (log.isUnanswered !== true || (log.unread ?? 0) > maxUnread) return false;
    try {
      return decideCall(unread, declarations, call).type === 'allow';
    } catch (error) {
      if (error === sessionNeeded) return false;
      throw error;
    }
  }

  return async (given, runState) => {
    if (mode() === 'observe') return { type: 'allow' };
    const call = toFlowCall(given);
    const log = readLog(runState);
    if (isAllowedEarly(log, call)) return { type: 'allow' };
    const { state } = await fold.readInSlices(log);
    const decision = decideCall(state, declarations, call);
    if (decision.type === 'allow') return { type: 'allow' };
    const by = { kind: 'flow', name: decision.rule } as const;
    // Most calls are allowed: what formats a question is loaded for the first one. If it cannot be loaded, the gate throws, which denies.
    const { createFlowWarning, formatDenial, formatFlowQuestion } = await import('./flow-question.ts');
    if (decision.type === 'deny' || mode() === 'deny') {
      const reviewed = await review?.({ call, decision, state, declarations }, runState);
      return reviewed ?? { type: 'deny', reason: formatDenial(call, decision), by };
    }
    const { findSuspicious } = await import('./suspicious-texts.ts');
    const suspicious = findSuspicious(state, decision.bad, detectorThreshold);
    const trifecta = readTrifecta(state, declarations.tools);
    const userText = state.userTexts.at(-1);
    const warning = createFlowWarning(decision, userText, suspicious, trifecta);
    return {
      type: 'ask',
      question: formatFlowQuestion(call, warning),
      by,
      preview: {
        title: `Run ${call.tool}?`,
        notes: [],
        warning,
      },
    };
  };
}

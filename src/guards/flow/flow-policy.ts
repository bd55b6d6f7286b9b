// The flow policy as a view, a gate and a check of an agent. The policy is loaded for the first tool call: an answer without one does not need it.
import {
  lastItem,
  messageText,
  readView,
  type Check,
  type Gate,
  type NamedView,
  type RunState,
  type Tool,
} from '../../core/index.ts';
import { createFlowLogView, type FlowLog } from './flow-log.ts';
import type { FlowMode } from './flow-gate.ts';
import type { FlowFold } from './fold-log.ts';
import type { FlowStateOptions } from './flow-state.ts';
import type { FlowReviewer } from './review-gate.ts';
import type { FlowDeclarations } from './types.ts';

/** Options of createFlowPolicy. */
export type FlowPolicyOptions = FlowStateOptions & {
  /** The tools of the agent; those without a declaration are declared by their name and schema. */
  readonly tools: ReadonlyMap<string, Tool>;
  /** Read for each call. */
  readonly mode: () => FlowMode;
  /** Declarations of files of the user, read for the first call. They replace those of the program. If they cannot be read, no call is allowed. */
  readonly declarations?: FlowDeclarations | (() => Promise<FlowDeclarations | undefined>);
  /** The score of the detector above which a question calls a text suspicious; default `defaultDetectorThreshold`. No decision depends on it. */
  readonly detectorThreshold?: number;
  /** Reviews calls that the mode `deny` would deny because no user is there; the agent must have `reviewView`. */
  readonly review?: FlowReviewer;
};

/** In observe mode the log is read after this many events. */
const maxUnread = 5000;

/** Creates the view, the gate, and the check that marks links of third parties in answers. They belong to one agent. */
export function createFlowPolicy(options: FlowPolicyOptions): {
  readonly view: NamedView<FlowLog>;
  readonly gate: Gate;
  readonly check: Check;
} {
  const view = createFlowLogView();
  let loaded: ReturnType<typeof load> | undefined;
  const load = async (): Promise<{ readonly gate: Gate; readonly fold: FlowFold }> => {
    const { loadFlowGate } = await import('./load-gate.ts');
    const policy = await loadFlowGate(options, (state) => readView(state, view));
    view.serializeState = policy.fold.serialize;
    return policy;
  };
  return {
    view,
    gate: async (call, state) => {
      if (options.mode() === 'observe') {
        const log = readView(state, view);
        // Events that no policy has read stay in memory. If they cannot be read, they stay.
        if ((log.unread ?? 0) > maxUnread) await (loaded ??= load()).then(({ fold }) => fold.read(log)).catch(() => {});
        return { type: 'allow' };
      }
      loaded ??= load();
      return (await loaded).gate(call, state);
    },
    check: {
      name: 'untrusted-links',
      appliesTo: (state) => state.tools.length > 0 && /https?:\/\/|www\.|mailto:/i.test(readAnswer(state)),
      async run(state) {
        loaded ??= load();
        const { checkLinks } = await import('./untrusted-links.ts');
        return checkLinks(loaded, readView(state, view), readAnswer(state));
      },
    },
  };
}

/** The text of the last message, if it is of the model. */
function readAnswer({ messages }: Pick<RunState, 'messages'>): string {
  const last = lastItem(messages);
  return last?.role === 'assistant' ? messageText(last) : '';
}

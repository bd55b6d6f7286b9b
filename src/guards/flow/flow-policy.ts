// The flow policy as a view and a gate of an agent. The policy is loaded for the first tool call: an answer without one does not need it.
import { readView, type Gate, type NamedView, type Tool } from '../../core/index.ts';
import { createFlowLogView, type FlowLog } from './flow-log.ts';
import type { FlowMode } from './flow-gate.ts';
import type { FlowStateOptions } from './flow-state.ts';
import type { FlowDeclarations } from './types.ts';

/** Options of createFlowPolicy. */
export type FlowPolicyOptions = FlowStateOptions & {
  /** The tools of the agent; those without a declaration are declared by their name and schema. */
  readonly tools: ReadonlyMap<string, Tool>;
  /** Read for each call. */
  readonly mode: () => FlowMode;
  /** Declarations of files of the user, read for the first call. They replace those of the program. If they cannot be read, no call is allowed. */
  readonly declarations?: FlowDeclarations | (() => Promise<FlowDeclarations | undefined>);
};

/** Creates the view and the gate. Both belong to one agent. */
export function createFlowPolicy(options: FlowPolicyOptions): {
  readonly view: NamedView<FlowLog>;
  readonly gate: Gate;
} {
  const view = createFlowLogView();
  let loaded: Promise<Gate> | undefined;
  const load = async (): Promise<Gate> => {
    const { loadFlowGate } = await import('./load-gate.ts');
    const { gate, fold } = await loadFlowGate(options, (state) => readView(state, view));
    view.serializeState = fold.serialize;
    return gate;
  };
  return {
    view,
    gate: async (call, state) => {
      if (options.mode() === 'observe') return { type: 'allow' };
      loaded ??= load();
      return (await loaded)(call, state);
    },
  };
}

// The loop: ask what is next, do it, write down what happened.
import { isDetached } from './abort.ts';
import { executeCalls } from './calls.ts';
import { runEndedFacts, abortStep, withDeadline } from './end-run.ts';
import { compact } from './epoch.ts';
import type { SessionWriter } from './session-writer.ts';
import { nextStep, type Step } from './next.ts';
import type { ResolvedAgent, Chunk } from './ports.ts';
import type { RunState } from './state.ts';
import { runTurn } from './turn.ts';
import { runChecks } from './run-checks.ts';

/** What a run is given beside its agent. */
export type RunContext = {
  readonly writer: SessionWriter;
  /** Cuts off what is under way. Where its reason is `run/left` the run is left as it is, otherwise it is ended. */
  readonly signal: AbortSignal;
  /** Leaves the run as it is once the step under way is done. */
  readonly detachSignal?: AbortSignal;
  /** Sees each chunk as it arrives, before it is settled. What it throws is its own affair. */
  readonly onChunk: (chunk: Chunk) => void;
  /** Sees what the tool of a call says while it is at work. What it throws is its own affair. */
  readonly onToolProgress?: (call: string, text: string) => void;
  /** Milliseconds that only go forward. */
  readonly clock: () => number;
};

/** Runs until there is nothing to do: the run has ended or is left, or every open call waits for a person. Resuming is running again. */
export async function runLoop(agent: ResolvedAgent, given: RunContext): Promise<RunState> {
  const { writer } = given;
  const { context, release } = withDeadline(given);
  const decide = (state: RunState): Step => {
    if (isDetached(context)) return { type: 'rest' };
    return context.signal.aborted && state.run !== undefined ? abortStep(context.signal) : nextStep(state, agent);
  };
  try {
    for (;;) {
      const step = decide(writer.state);
      switch (step.type) {
        case 'rest':
          return writer.state;
        case 'turn':
          await runTurn(agent, context);
          break;
        case 'calls':
          await executeCalls(agent, step.calls, context);
          break;
        case 'check':
          await runChecks(agent, context);
          break;
        case 'compact':
          await compact(agent, context);
          break;
        case 'end':
          // Someone may have spoken meanwhile: whether this is the end is decided again as it is written down.
          await writer.record((state) => runEndedFacts(state, decide(state)), { durable: true });
      }
    }
  } finally {
    release();
  }
}

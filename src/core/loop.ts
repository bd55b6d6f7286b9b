// The agent loop: compute the next step from the state, execute it, record what happened.
import { isDetached } from './abort.ts';
import { executeCalls } from './calls.ts';
import { runEndedFacts, abortStep, withDeadline } from './end-run.ts';
import { compact } from './compaction.ts';
import type { ProcessPort } from './process-port.ts';
import type { SessionWriter } from './session-writer.ts';
import { nextStep, type Step } from './next-step.ts';
import type { ResolvedAgent, Chunk } from './ports.ts';
import { missingRejectionFacts } from './response-facts.ts';
import type { RunState } from './state.ts';
import { runTurn } from './turn.ts';
import { runChecks } from './run-checks.ts';

/** What a run needs besides the agent. */
export type RunContext = {
  readonly writer: SessionWriter;
  /** Aborts the current step. If the abort reason is a detach, the run stays open; otherwise it ends. */
  readonly signal: AbortSignal;
  /** Detaches after the current step: the run stays open. */
  readonly detachSignal?: AbortSignal;
  /** Called with each provisional chunk. Errors it throws are ignored. */
  readonly onChunk: (chunk: Chunk) => void;
  /** Called with the progress of a running tool. Errors it throws are ignored. */
  readonly onToolProgress?: (call: string, text: string) => void;
  /** A monotonic clock in milliseconds. */
  readonly clock: () => number;
  /** The timers of tool timeouts and of the time limit; those of this process by default. */
  readonly timer?: ProcessPort['timer'];
};

/** Runs until the run has ended, is detached, or every open call waits for an approval. To resume, call it again. */
export async function runLoop(agent: ResolvedAgent, runContext: RunContext): Promise<RunState> {
  const { writer } = runContext;
  const { context, release } = withDeadline(runContext);
  const decide = (state: RunState): Step => {
    if (isDetached(context)) return { type: 'rest' };
    return context.signal.aborted && state.run !== undefined ? abortStep(context.signal) : nextStep(state, agent);
  };
  try {
    const response = writer.takeLastResponse();
    if (response) await writer.record((state) => missingRejectionFacts(agent, state, response), { durable: true });
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
          // Input may have arrived in the meantime, so the end is decided again at the moment of the append.
          await writer.record((state) => runEndedFacts(state, decide(state)), { durable: true });
      }
    }
  } finally {
    release();
  }
}

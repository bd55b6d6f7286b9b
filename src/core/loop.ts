// The loop: ask what is next, do it, write down what happened.
import { makeCalls } from './calls.ts';
import { FairleadError } from './errors.ts';
import type { Fact, StopReason, Verdict } from './fact.ts';
import type { Head } from './head.ts';
import { next } from './next.ts';
import type { Agent, Chunk } from './ports.ts';
import type { RunState } from './state.ts';
import { stopped, takeTurn } from './turn.ts';

/** What a run is given beside its agent. */
export type RunContext = {
  readonly head: Head;
  readonly signal: AbortSignal;
  /** Sees each chunk as it arrives, before it is settled. */
  readonly live: (chunk: Chunk) => void;
  /** Milliseconds that only go forward. */
  readonly clock: () => number;
};

/** Runs until there is nothing to do: the run has ended, or every open call waits for a person. Resuming is running again. */
export async function run(agent: Agent, given: RunContext): Promise<RunState> {
  const { head } = given;
  const { context, release } = withDeadline(given);
  try {
    for (;;) {
      const step =
        context.signal.aborted && head.state.run !== undefined ? halt(context.signal) : next(head.state, agent);
      if (step.type === 'rest') return head.state;
      if (step.type === 'turn') await takeTurn(agent, context);
      else if (step.type === 'calls') await makeCalls(agent, step.calls, context);
      else if (step.type === 'check') await runChecks(agent, context);
      else if (step.type === 'compact') await compact(agent, context);
      else
        await head.record((state) => [...unmade(state, step.detail ?? step.reason), { ...step, type: 'run-ended' }], {
          settle: true,
        });
    }
  } finally {
    release();
  }
}

function withDeadline(context: RunContext): { readonly context: RunContext; readonly release: () => void } {
  const { limits, spent } = context.head.state;
  if (limits?.ms === undefined) return { context, release: () => {} };
  const deadline = new AbortController();
  const late = new FairleadError('run/time', `All ${limits.ms} ms are used.`, { blame: 'user' });
  const timer = setTimeout(() => deadline.abort(late), Math.min(Math.max(0, limits.ms - spent.ms), 2 ** 31 - 1));
  return {
    context: { ...context, signal: AbortSignal.any([context.signal, deadline.signal]) },
    release: () => clearTimeout(timer),
  };
}

function halt(signal: AbortSignal): { readonly type: 'end'; readonly reason: StopReason; readonly detail: string } {
  const { code, message } = stopped(signal);
  return {
    type: 'end',
    reason: code === 'run/time' ? 'time' : code === 'run/kill-switch' ? 'kill-switch' : 'cancelled',
    detail: message,
  };
}

/** Calls still open when a run ends are answered, so that the log stays legal and can go on. */
const unmade = (state: RunState, why: string): readonly Fact[] =>
  state.calls.flatMap((call): Fact[] =>
    call.result
      ? []
      : [
          {
            type: 'tool-ended',
            call: call.id,
            outcome: call.key === undefined ? 'interrupted' : 'unknown',
            text: `Not finished: ${why}`,
            ms: 0,
          },
        ],
  );

async function runChecks(agent: Agent, { head, signal }: RunContext): Promise<void> {
  for (const check of agent.checks) {
    const failed = (error: unknown): Verdict => ({
      type: 'failed',
      why: `The check ${check.name} could not run: ${String(error)}`,
    });
    const verdict = await Promise.resolve()
      .then(() => check.run(head.state, signal))
      .catch(failed);
    if (verdict.type !== 'passed')
      return void (await head.record([{ type: 'checks-ended', check: check.name, verdict }], { settle: true }));
  }
  await head.record([{ type: 'checks-ended', check: 'all', verdict: { type: 'passed' } }]);
}

async function compact(agent: Agent, { head, signal }: RunContext): Promise<void> {
  const messages = await agent.compact?.(head.state, signal);
  const { session, epoch, system, tools, model, turn, loaded, queue, total } = head.state;
  const fact: Fact = messages
    ? {
        type: 'epoch-started',
        epoch: epoch + 1,
        reason: 'compacted',
        system,
        tools,
        model,
        baseline: { session, messages, turn, loaded, queue, total },
      }
    : {
        type: 'run-ended',
        reason: 'token-budget',
        detail: 'The conversation no longer fits the model and could not be made shorter.',
      };
  await head.record([fact], { settle: true });
}

// Worker for one agent: handles queued runs, and plans whose steps are such runs.
import { toAgentFactory, type AgentSource } from './agent-factory.ts';
import { createOrchestrationHandler } from './orchestrator.ts';
import { planOrchestration } from './plan/index.ts';
import { createAgentRunHandler, type RunHandler } from './run-handler.ts';
import { startWorker, type Worker, type WorkerOptions } from './worker.ts';

/** The options of a worker for one agent. */
export type AgentWorkerOptions = Omit<WorkerOptions, 'handlers' | 'drain'> & {
  readonly agent: AgentSource;
  /** Handlers of further kinds of runs, such as `verify`. */
  readonly handlers?: Readonly<Record<string, RunHandler>>;
};

/** A worker that is not started yet. */
export type AgentWorker = {
  /** Handles runs until it is stopped. */
  start(): Worker;
  /** Handles all runs that can be started now, and returns when none is left. */
  drain(): Promise<void>;
};

/** Creates a worker for the runs and plans of a store: `await worker({ store, agent }).drain()`. */
export function worker({ agent, handlers, ...options }: AgentWorkerOptions): AgentWorker {
  const workerOptions: WorkerOptions = {
    ...options,
    handlers: {
      run: createAgentRunHandler(toAgentFactory(agent)),
      plan: createOrchestrationHandler(planOrchestration),
      ...handlers,
    },
  };
  return {
    start: () => startWorker(workerOptions),
    drain: () => startWorker({ ...workerOptions, drain: true }).done,
  };
}

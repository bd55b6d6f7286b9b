// Worker for one agent: handles queued runs, and plans whose steps are such runs.
import { FairleadError, type FleetRun, type Provider } from '../core/index.ts';
import { listToolNames, selectTools, toAgentFactory, type AgentFactory, type AgentSource } from './agent-factory.ts';
import { createOrchestrationHandler } from './orchestrator.ts';
import { createPlanOrchestration, type DescribeCatalog, type PlanModel } from './plan/index.ts';
import { createAgentRunHandler, type RunHandler } from './run-handler.ts';
import { startWorker, type Worker, type WorkerOptions } from './worker.ts';

/** The options of a worker for one agent. */
export type AgentWorkerOptions = Omit<WorkerOptions, 'handlers' | 'drain'> & {
  readonly agent: AgentSource;
  /** Agents by name: a step of a plan can name the one that does it. */
  readonly agents?: Readonly<Record<string, AgentSource>>;
  /** The agent that verifies the results of steps; it must use another model than `agent` and `agents`. */
  readonly verifier?: AgentSource;
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
export function worker({ agent, agents = {}, verifier, handlers, ...options }: AgentWorkerOptions): AgentWorker {
  const workerOptions: WorkerOptions = {
    ...options,
    handlers: {
      run: createAgentRunHandler(selectAgent({ agent, agents, verifier })),
      plan: createOrchestrationHandler(createPlanOrchestration(describeAgents({ agent, agents, verifier }))),
      ...handlers,
    },
  };
  return {
    start: () => startWorker(workerOptions),
    drain: () => startWorker({ ...workerOptions, drain: true }).done,
  };
}

type Agents = {
  readonly agent: AgentSource;
  readonly agents: Readonly<Record<string, AgentSource>>;
  readonly verifier: AgentSource | undefined;
};

/** Creates the agent of each run: the verifier, the agent that its step names, or the one for all others. */
function selectAgent({ agent, agents, verifier }: Agents): AgentFactory {
  const factory = toAgentFactory(agent);
  const verify = verifier && toAgentFactory(verifier);
  const byName = new Map(Object.entries(agents).map(([name, source]) => [name, toAgentFactory(source)]));
  const select = ({ settings }: FleetRun): AgentFactory => {
    if (settings['planRole'] === 'verifier' && verify) return verify;
    const { agent: name } = settings;
    if (typeof name !== 'string') return factory;
    const named = byName.get(name);
    if (named) return named;
    throw new FairleadError('fleet/no-agent', `There is no agent ${name}.`, {
      blame: 'user',
      hint: `The agents are: ${[...byName.keys()].join(', ') || 'none'}.`,
    });
  };
  return async (run, signal, wrapProvider) => select(run)(run, signal, wrapProvider);
}

/** Describes what a plan can use. What a function creates is known only when a run starts. */
const describeAgents =
  ({ agent, agents, verifier }: Agents): DescribeCatalog =>
  async ({ settings }, asked) => {
    const resolved = typeof agent === 'function' ? undefined : await agent.resolve();
    const judge = verifier === undefined || typeof verifier === 'function' ? undefined : await verifier.resolve();
    const named = Object.values(agents).filter((each) => typeof each !== 'function');
    const agentModels = await Promise.all(named.map(async (each) => toPlanModel((await each.resolve()).provider)));
    if (asked !== undefined && verifier === undefined && resolved)
      throw new FairleadError('fleet/no-verifier', 'The plan asks for a verifier, and the worker has none.', {
        blame: 'user',
        hint: 'Start the worker with a verifier: worker({ store, agent, verifier }).',
      });
    const { tools } = settings;
    return {
      agents: Object.keys(agents),
      agentModels,
      ...(resolved
        ? { tools: listToolNames(selectTools(resolved.tools, tools)), model: toPlanModel(resolved.provider) }
        : {}),
      ...(judge ? { verifier: toPlanModel(judge.provider) } : {}),
    };
  };

const toPlanModel = ({ family, model, price }: Provider): PlanModel => ({ family, model, ...(price ? { price } : {}) });

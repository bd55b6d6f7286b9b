// Creates the agent of a queued run, from an Agent or from a function of the program that starts the worker.
import { createOutputSchema, LOAD_TOOLS, type Session } from '../agent/index.ts';
import {
  copyTool,
  isObject,
  USE_TOOL,
  type ApprovalHandler,
  type ApprovalScope,
  type Event,
  type Fact,
  type FleetRun,
  type Json,
  type Limits,
  type PendingApproval,
  type Provider,
  type ResolvedAgent,
  type RunState,
  type Tool,
} from '../core/index.ts';
import { createClientTools } from './client-tools.ts';

/** The agent of one run. */
export type AgentInstance = {
  readonly parts: ResolvedAgent;
  readonly limits?: Partial<Limits>;
  /** Called when the session is open, before the prompt is recorded. */
  onSessionOpened?(session: Session): Promise<void>;
  /** Called before the prompt is recorded. Returns texts that are added to it; throws if the prompt is refused. */
  onPrompt?(prompt: string, state: RunState): Promise<readonly string[]>;
  /** Lists what the user can allow with the answer to a pending call; only this call if it is absent. */
  readonly listScopes?: (pending: PendingApproval) => Promise<readonly ApprovalScope[]>;
  /** Grants a scope that it lists for a pending call, and returns the facts that record it; a scope that it does not list grants nothing. */
  readonly grantScope?: (pending: PendingApproval, scope: string) => Promise<readonly Fact[]>;
  /** Decides about a pending call before the run waits for the user, such as by a grant that covers it. */
  readonly onApproval?: ApprovalHandler;
  /** Called for each event. */
  onEvent?(event: Event, state: RunState): void;
  close(): Promise<void>;
};

/** Wraps a model provider with the budget and the kill switch of a run. A factory must open every model of the run through it. */
export type WrapProvider = (provider: Provider) => Provider;

/** Creates the agent of a run. An error with blame `user` or `model` ends the run; after any other error the run is tried again. */
export type AgentFactory = (run: FleetRun, signal: AbortSignal, wrapProvider: WrapProvider) => Promise<AgentInstance>;

/** An agent for queued runs: an `Agent`, which all runs share, or a function that creates one for each run. */
export type AgentSource = { resolve(): Promise<ResolvedAgent> } | AgentFactory;

/**
 * Returns the factory of a source. For an `Agent`, a run can lower the limits (`limits`), require an answer by JSON Schema (`answer`),
 * remove the tools (`tools: false`) and keep only some (`tools: [...]`); its other settings (`model`, `folder`, `auto`, `private`) need a factory.
 */
export const toAgentFactory = (source: AgentSource): AgentFactory =>
  typeof source === 'function'
    ? source
    : async ({ settings }) => {
        const agent = await source.resolve();
        const { answer, limits } = settings;
        const clientTools = createClientTools(settings).map((tool) => [tool.name, tool] as const);
        return {
          parts: {
            ...agent,
            tools: new Map([...selectTools(agent.tools, settings['tools']), ...clientTools]),
            ...(isObject(answer) ? { outputSchema: createOutputSchema(answer) } : {}),
          },
          limits: capLimits(isObject(limits) ? limits : {}, agent.limits),
          close: async () => {},
        };
      };

/** Returns the tools that the setting `tools` of a run leaves: all, none if it is false, or those that a list names. A deferred tool that is named is offered at once. */
export function selectTools(tools: ReadonlyMap<string, Tool>, setting: Json | undefined): ReadonlyMap<string, Tool> {
  if (setting === false) return new Map();
  if (!Array.isArray(setting)) return tools;
  const named = [...tools].filter(([name, tool]) => setting.includes(name) && isCallable(name, tool));
  return new Map(named.map(([name, tool]) => [name, tool.deferred ? copyTool(tool, { deferred: false }) : tool]));
}

/** Whether a tool does something itself: the others only reach deferred tools. */
const isCallable = (name: string, { clientSideQuestion }: Tool): boolean =>
  name !== USE_TOOL && name !== LOAD_TOOLS && clientSideQuestion === undefined;

/** Returns the names of the tools that a step of a plan can ask for. */
export const listToolNames = (tools: ReadonlyMap<string, Tool>): readonly string[] =>
  [...tools].filter(([name, tool]) => isCallable(name, tool)).map(([name]) => name);

const limitNames: readonly (keyof Limits)[] = ['turns', 'usd', 'tokens', 'ms', 'calls'];

/** A run may lower the limits of its agent, never raise them. */
function capLimits(requested: Readonly<Record<string, unknown>>, maximum: Partial<Limits> = {}): Partial<Limits> {
  const lowered = limitNames.flatMap((name) => {
    const value = requested[name];
    return typeof value === 'number' ? [[name, Math.min(value, maximum[name] ?? value)] as const] : [];
  });
  return { ...maximum, ...Object.fromEntries(lowered) };
}

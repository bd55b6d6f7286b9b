// The Agent class: a model, instructions, tools and rules that can be run, streamed, and continued in sessions.
import { FairleadError, isObject, type Limits, type Provider, type ResolvedAgent } from '../core/index.ts';
import type { GatewayOptions, ModelRef, ProviderFactory } from '../providers/index.ts';
import { mergeExtensions, type Extension } from './extension.ts';
import { assertMaxTurns, lastTurnReminder } from './limits.ts';
import { resolveAgent } from './resolve-agent.ts';
import type { RunResult } from './result.ts';
import type { RunOptions, SessionOptions } from './run-options.ts';
import { executeRun, RunStream, type RunOutput } from './run-stream.ts';
import { createOutputSchema, describeKind, type SchemaLike } from './schema.ts';
import type { UserInput } from './session-facts.ts';
import { openSession } from './session-store.ts';
import type { Session } from './session.ts';
import type { StreamEvent } from './stream-events.ts';
import { testProviders } from './test-providers.ts';

/** The options of an agent. */
export type AgentOptions<S extends SchemaLike | undefined = SchemaLike | undefined> = Extension & {
  /** The name of the agent; `agent` by default. */
  readonly name?: string;
  /** A model by name, such as `ollama/qwen3:8b` or `anthropic/claude-sonnet-4-5`; a list of fallbacks; or a provider. */
  readonly model: ModelRef | readonly ModelRef[] | Provider;
  /** Timeouts, retries, rate limits and the circuit breaker of models opened by name. */
  readonly gateway?: GatewayOptions;
  /** The system prompt. */
  readonly instructions?: string;
  /** Model turns per run before it ends with `max-turns-exceeded`; 25 by default. */
  readonly maxTurns?: number;
  /** Limits of each run, over the defaults. */
  readonly limits?: Partial<Limits>;
  /** Model settings such as temperature and reasoning effort. */
  readonly settings?: ResolvedAgent['settings'];
  /** Shortens a conversation that no longer fits. By default the model summarizes the earlier messages; if a summary would not be shorter than they are, they are omitted. */
  readonly compactor?: ResolvedAgent['compactor'];
  /** Observes the sessions of the agent and of its sub-agents, such as `createTracer` of fairlead/tracing. */
  readonly trace?: ResolvedAgent['trace'];
  /** A Standard Schema, zod schema or JSON Schema that every answer must match; `result.object` has its type. */
  readonly outputSchema?: S;
  /** Objects that add tools, rules, gates, stop conditions, checks, reminders and providers. */
  readonly extensions?: readonly Extension[];
};

/** An agent that another module resolves. */
export type ResolvedAgentSource = {
  readonly name?: string;
  /** Called once, before the first run. A failure is not cached. */
  readonly resolve: () => Promise<ResolvedAgent>;
  /** Releases what `resolve` opened; called by `Agent.close` if `resolve` succeeded. */
  readonly close?: () => Promise<void>;
};

/** A defined agent. `run` and `stream` are one conversation each; `session` continues one. No file is written unless a session has a store. */
export class Agent<const S extends SchemaLike | undefined = undefined> {
  /** The name of the agent. */
  readonly name: string;
  readonly #source: ResolvedAgentSource;
  #resolved: Promise<ResolvedAgent> | undefined;

  constructor(options: AgentOptions<S> | ResolvedAgentSource) {
    this.#source = isResolvedSource(options) ? options : toSource(options);
    this.name = options.name ?? 'agent';
  }

  /** An agent whose parts another module resolves. */
  static fromResolved(source: ResolvedAgentSource): Agent {
    return new Agent(source);
  }

  /** Runs one input to its result. */
  async run<const R extends SchemaLike | undefined = S>(
    input: UserInput,
    options: RunOptions<R> = {},
  ): Promise<RunResult<RunOutput<R, undefined>>> {
    return (await this.#execute(input, options)) as RunResult<RunOutput<R, undefined>>;
  }

  /** The same run as a stream of events, with `textStream` and `result`. */
  stream<const R extends SchemaLike | undefined = S>(
    input: UserInput,
    options: RunOptions<R> = {},
  ): RunStream<RunOutput<R, undefined>> {
    return new RunStream((emit, signal) => this.#execute(input, { ...options, signal }, emit), options.signal);
  }

  /** A conversation with this agent: a new one, or the one that the store has under this id. Close it after use. */
  async session(options: SessionOptions = {}): Promise<Session<RunOutput<S, undefined>>> {
    return openSession(await this.resolve(), options);
  }

  /** The parts that the loop runs on. */
  resolve(): Promise<ResolvedAgent> {
    this.#resolved ??= this.#source.resolve().catch((error: unknown) => {
      this.#resolved = undefined;
      throw error;
    });
    return this.#resolved;
  }

  /** Releases what the agent opened. Sessions are closed by their owner, before this. */
  async close(): Promise<void> {
    const resolved = this.#resolved;
    this.#resolved = undefined;
    if (
      await resolved?.then(
        () => true,
        () => false,
      )
    )
      await this.#source.close?.();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #execute(input: UserInput, options: RunOptions, emit?: (event: StreamEvent) => void): Promise<RunResult> {
    await using session = await openSession(await this.resolve());
    return await executeRun(session, input, options, emit);
  }
}

const isResolvedSource = (options: AgentOptions | ResolvedAgentSource): options is ResolvedAgentSource =>
  isObject(options) && 'resolve' in options;

function toSource(options: AgentOptions): ResolvedAgentSource {
  assertAgentOptions(options);
  const { model, instructions = 'You are a helpful assistant.', extensions = [], outputSchema, gateway } = options;
  const { maxTurns, limits, settings, compactor, trace } = options;
  const { reminders, providers, ...parts } = mergeExtensions([options, ...extensions]);
  const agent = {
    ...parts,
    system: instructions,
    reminders: [...reminders, lastTurnReminder],
    limits: { ...(maxTurns === undefined ? {} : { turns: maxTurns }), ...limits },
    ...(outputSchema === undefined ? {} : { outputSchema: createOutputSchema(outputSchema) }),
    ...(settings === undefined ? {} : { settings }),
    ...(compactor === undefined ? {} : { compactor }),
    ...(trace === undefined ? {} : { trace }),
  };
  return {
    resolve: async () => {
      const provider = isProvider(model)
        ? model
        : await openModels(isModelList(model) ? model : [model], providers, gateway);
      return resolveAgent({ ...agent, provider });
    },
  };
}

/** Reports a missing or wrong option to JavaScript callers here, instead of a TypeError during a run. */
function assertAgentOptions(options: Partial<AgentOptions> | undefined): void {
  const { model, instructions, tools, maxTurns } = options ?? {};
  const models: readonly unknown[] = Array.isArray(model) && model.length > 0 ? model : [model];
  const invalid = models.findIndex((each) => !isModelOption(each));
  if (invalid >= 0)
    throw new FairleadError(
      'agent/no-model',
      `An agent needs a model: a name such as "ollama/qwen3:8b", several of them, or a provider; not ${describeInvalidModel(models[invalid])}.`,
      { blame: 'user', hint: 'new Agent({ model: "ollama/qwen3:8b" })' },
    );
  const badOption = (name: string, expected: string, value: unknown): FairleadError =>
    new FairleadError('agent/bad-option', `The ${name} of an agent must be ${expected}, not ${describeKind(value)}.`, {
      blame: 'user',
    });
  if (instructions !== undefined && typeof instructions !== 'string')
    throw badOption('instructions', 'a text', instructions);
  if (tools !== undefined && !Array.isArray(tools)) throw badOption('tools', 'a list', tools);
  if (maxTurns !== undefined) assertMaxTurns(maxTurns);
}

const isModelOption = (model: unknown): boolean =>
  typeof model === 'string'
    ? model.trim() !== ''
    : isObject(model) &&
      (typeof model['stream'] === 'function' ||
        (typeof model['provider'] === 'string' && typeof model['model'] === 'string'));

function describeInvalidModel(model: unknown): string {
  if (typeof model === 'string') return 'an empty name';
  if (Array.isArray(model)) return model.length === 0 ? 'an empty list' : 'a list in a list';
  return isObject(model) ? 'an object without provider and model' : describeKind(model);
}

const isProvider = (model: AgentOptions['model']): model is Provider => typeof model === 'object' && 'stream' in model;

const isModelList = (model: AgentOptions['model']): model is readonly ModelRef[] => Array.isArray(model);

/** Opens models by name behind one gateway, which falls back from one to the next. Provider code is loaded here. */
async function openModels(
  models: readonly ModelRef[],
  providers: Readonly<Record<string, ProviderFactory>>,
  options?: GatewayOptions,
): Promise<Provider> {
  const { openProvider, gateway } = await import('../providers/index.ts');
  return gateway(
    await Promise.all(models.map((model) => openProvider(model, { providers: { ...testProviders, ...providers } }))),
    options,
  );
}

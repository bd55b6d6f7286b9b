// An agent: a model by name, instructions and what it can do, ready to be asked.
import { FairleadError, isObject, type ResolvedAgent, type Provider } from '../core/index.ts';
import type { GatewayOptions, ModelRef, ProviderFactory } from '../providers/index.ts';
import { mergeExtensions, type Extension } from './extension.ts';
import { unwrapResult, Harness, type AskOptions } from './harness.ts';
import type { RunResult } from './result.ts';
import { createOutputSchema, describeKind, type SchemaLike } from './schema.ts';
import { testProviders } from './test-providers.ts';
import type { SessionCache } from './session-cache.ts';
import type { RunOptions, UserInput } from './session.ts';
import type { StreamEvent } from './stream-events.ts';

/** What an agent is defined by. */
export type AgentOptions = Extension & {
  readonly name?: string;
  /** A model by name, such as `ollama/qwen3:8b` or `anthropic/claude-sonnet-4-5`; several, to fall back from one to the next; or a provider that is already open. */
  readonly model: ModelRef | readonly ModelRef[] | Provider;
  /** Timeouts, retries, limits and circuit of the gateway around models opened by name. */
  readonly gateway?: GatewayOptions;
  readonly instructions?: string;
  readonly maxTurns?: number;
  readonly limits?: RunOptions['limits'];
  readonly settings?: ResolvedAgent['settings'];
  readonly compactor?: ResolvedAgent['compactor'];
  /** A JSON schema, or a schema object that can give one: answers are held to it. */
  readonly outputSchema?: SchemaLike;
  readonly extensions?: readonly Extension[];
  readonly runDir?: string | null;
  readonly cache?: SessionCache;
};

/** An agent as it was defined. Each `run` is a conversation of its own; `session` keeps one going. */
export class Agent {
  readonly name: string;
  readonly #options: AgentOptions;

  constructor(options: AgentOptions) {
    assertAgentOptions(options);
    this.name = options.name ?? 'agent';
    this.#options = options;
  }

  /** Asks once and gives the answer's text. */
  async run(words: UserInput, options?: AskOptions): Promise<string> {
    return unwrapResult(await this.runResult(words, options));
  }

  /** Asks once and gives the whole result. */
  async runResult(words: UserInput, options?: AskOptions): Promise<RunResult> {
    const session = await this.session();
    try {
      return await session.askResult(words, options);
    } finally {
      await session.close();
    }
  }

  /** Asks once and streams what happens. */
  async *runStream(words: UserInput, options?: AskOptions): AsyncGenerator<StreamEvent> {
    const session = await this.session();
    try {
      yield* session.askStream(words, options);
    } finally {
      await session.close();
    }
  }

  /** A conversation with this agent. */
  async session(): Promise<AgentSession> {
    return new AgentSession(await this.harness());
  }

  /** The wiring underneath: a new harness with this agent's parts. */
  async harness(): Promise<Harness> {
    const {
      model,
      instructions = 'You are a helpful assistant.',
      extensions = [],
      outputSchema,
      gateway,
      maxTurns,
      limits,
      settings,
      compactor,
      runDir,
      cache,
    } = this.#options;
    const { reminders, providers, ...parts } = mergeExtensions([this.#options, ...extensions]);
    const provider = isProvider(model)
      ? model
      : await openModelsByName(isModelList(model) ? model : [model], providers, gateway);
    const harness = new Harness({
      ...parts,
      provider,
      system: instructions,
      ...(outputSchema === undefined ? {} : { outputSchema: createOutputSchema(outputSchema) }),
      ...(maxTurns === undefined ? {} : { maxTurns }),
      ...(limits === undefined ? {} : { limits }),
      ...(settings === undefined ? {} : { settings }),
      ...(compactor === undefined ? {} : { compactor }),
      ...(runDir === undefined ? {} : { runDir }),
      ...(cache === undefined ? {} : { cache }),
    });
    for (const reminder of reminders) harness.registerReminder(reminder as Parameters<Harness['registerReminder']>[0]);
    return harness;
  }
}

/** Whoever writes plain JavaScript is told here what is missing, not by a TypeError in a run. */
function assertAgentOptions(options: Partial<AgentOptions> | undefined): void {
  const { model, instructions, tools } = options ?? {};
  const models: readonly unknown[] = Array.isArray(model) && model.length > 0 ? model : [model];
  const strange = models.findIndex((each) => !isModelOption(each));
  if (strange >= 0)
    throw new FairleadError(
      'agent/no-model',
      `An agent needs a model: a name such as "ollama/qwen3:8b", several of them, or a provider; not ${describeBadModel(models[strange])}.`,
      { blame: 'user', hint: 'defineAgent({ model: "ollama/qwen3:8b" })' },
    );
  const wrong = (name: string, must: string, given: unknown): FairleadError =>
    new FairleadError('agent/bad-option', `The ${name} of an agent must be ${must}, not ${describeKind(given)}.`, {
      blame: 'user',
    });
  if (instructions !== undefined && typeof instructions !== 'string')
    throw wrong('instructions', 'a text', instructions);
  if (tools !== undefined && !Array.isArray(tools)) throw wrong('tools', 'a list', tools);
}

const isModelOption = (model: unknown): boolean =>
  typeof model === 'string'
    ? model.trim() !== ''
    : isObject(model) &&
      (typeof model['stream'] === 'function' ||
        (typeof model['provider'] === 'string' && typeof model['model'] === 'string'));

function describeBadModel(model: unknown): string {
  if (typeof model === 'string') return 'an empty name';
  if (Array.isArray(model)) return model.length === 0 ? 'an empty list' : 'a list in a list';
  return isObject(model) ? 'an object without provider and model' : describeKind(model);
}

const isProvider = (model: AgentOptions['model']): model is Provider => typeof model === 'object' && 'stream' in model;

const isModelList = (model: AgentOptions['model']): model is readonly ModelRef[] => Array.isArray(model);

/** Providers are loaded only when a model is named; the gateway stands around all that are. */
async function openModelsByName(
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

/** A conversation with an agent: it remembers, and it can be steered while it works. */
export class AgentSession {
  readonly harness: Harness;
  #turns = 0;

  constructor(harness: Harness) {
    this.harness = harness;
  }

  /** Provider turns of the whole conversation. */
  get turns(): number {
    return this.#turns;
  }

  /** Says something and gives the whole result. */
  async askResult(words: UserInput, options?: AskOptions): Promise<RunResult> {
    const result = await this.harness.askResult(words, options);
    this.#turns += result.turns;
    return result;
  }

  /** Says something and gives the answer's text; throws if there is none. */
  async ask(words: UserInput, options?: AskOptions): Promise<string> {
    return unwrapResult(await this.askResult(words, options));
  }

  /** Says something and streams what happens. */
  async *askStream(words: UserInput, options?: AskOptions): AsyncGenerator<StreamEvent> {
    for await (const event of this.harness.askStream(words, options)) {
      if (event.type === 'result') this.#turns += event.result.turns;
      yield event;
    }
  }

  /** Lets go of the conversation's file. */
  async close(): Promise<void> {
    await this.harness.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** Defines an agent. */
export const defineAgent = (options: AgentOptions): Agent => new Agent(options);

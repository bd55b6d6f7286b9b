// An agent: a model by name, instructions and what it can do, ready to be asked.
import { FairleadError, isObject, type AgentParts, type Provider } from '../core/index.ts';
import type { GatewayOptions, ModelRef, ProviderMaker } from '../providers/index.ts';
import { merge, type Extension } from './extension.ts';
import { answered, Harness, type AskOptions } from './harness.ts';
import type { RunResult } from './result.ts';
import { answerShape, kindOf, type SchemaLike } from './schema.ts';
import { standIns } from './stand-ins.ts';
import type { SessionCache } from './session-cache.ts';
import type { RunOptions, Words } from './session.ts';
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
  readonly settings?: AgentParts['settings'];
  readonly compact?: AgentParts['compact'];
  /** A JSON schema, or a schema object that can give one: answers are held to it. */
  readonly answer?: SchemaLike;
  readonly extensions?: readonly Extension[];
  readonly runDir?: string | null;
  readonly cache?: SessionCache;
};

/** An agent as it was defined. Each `run` is a conversation of its own; `session` keeps one going. */
export class Agent {
  readonly name: string;
  readonly #options: AgentOptions;

  constructor(options: AgentOptions) {
    mustBeWhole(options);
    this.name = options.name ?? 'agent';
    this.#options = options;
  }

  /** Asks once and gives the answer's text. */
  async run(words: Words, options?: AskOptions): Promise<string> {
    return answered(await this.runResult(words, options));
  }

  /** Asks once and gives the whole result. */
  async runResult(words: Words, options?: AskOptions): Promise<RunResult> {
    const session = await this.session();
    try {
      return await session.askResult(words, options);
    } finally {
      await session.close();
    }
  }

  /** Asks once and streams what happens. */
  async *runStream(words: Words, options?: AskOptions): AsyncGenerator<StreamEvent> {
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
      answer,
      gateway,
      maxTurns,
      limits,
      settings,
      compact,
      runDir,
      cache,
    } = this.#options;
    const { reminders, providers, ...parts } = merge([this.#options, ...extensions]);
    const provider = isProvider(model) ? model : await openByName(isList(model) ? model : [model], providers, gateway);
    const harness = new Harness({
      ...parts,
      provider,
      system: instructions,
      ...(answer === undefined ? {} : { answer: answerShape(answer) }),
      ...(maxTurns === undefined ? {} : { maxTurns }),
      ...(limits === undefined ? {} : { limits }),
      ...(settings === undefined ? {} : { settings }),
      ...(compact === undefined ? {} : { compact }),
      ...(runDir === undefined ? {} : { runDir }),
      ...(cache === undefined ? {} : { cache }),
    });
    for (const reminder of reminders) harness.registerReminder(reminder as Parameters<Harness['registerReminder']>[0]);
    return harness;
  }
}

/** Whoever writes plain JavaScript is told here what is missing, not by a TypeError in a run. */
function mustBeWhole(options: Partial<AgentOptions> | undefined): void {
  const { model, instructions, tools } = options ?? {};
  const models: readonly unknown[] = Array.isArray(model) && model.length > 0 ? model : [model];
  const strange = models.findIndex((each) => !isModel(each));
  if (strange >= 0)
    throw new FairleadError(
      'agent/no-model',
      `An agent needs a model: a name such as "ollama/qwen3:8b", several of them, or a provider; not ${strangeModel(models[strange])}.`,
      { blame: 'user', hint: 'defineAgent({ model: "ollama/qwen3:8b" })' },
    );
  const wrong = (name: string, must: string, given: unknown): FairleadError =>
    new FairleadError('agent/bad-option', `The ${name} of an agent must be ${must}, not ${kindOf(given)}.`, {
      blame: 'user',
    });
  if (instructions !== undefined && typeof instructions !== 'string')
    throw wrong('instructions', 'a text', instructions);
  if (tools !== undefined && !Array.isArray(tools)) throw wrong('tools', 'a list', tools);
}

const isModel = (model: unknown): boolean =>
  typeof model === 'string'
    ? model.trim() !== ''
    : isObject(model) &&
      (typeof model['stream'] === 'function' ||
        (typeof model['provider'] === 'string' && typeof model['model'] === 'string'));

function strangeModel(model: unknown): string {
  if (typeof model === 'string') return 'an empty name';
  if (Array.isArray(model)) return model.length === 0 ? 'an empty list' : 'a list in a list';
  return isObject(model) ? 'an object without provider and model' : kindOf(model);
}

const isProvider = (model: AgentOptions['model']): model is Provider => typeof model === 'object' && 'stream' in model;

const isList = (model: AgentOptions['model']): model is readonly ModelRef[] => Array.isArray(model);

/** Providers are loaded only when a model is named; the gateway stands around all that are. */
async function openByName(
  models: readonly ModelRef[],
  providers: Readonly<Record<string, ProviderMaker>>,
  options?: GatewayOptions,
): Promise<Provider> {
  const { openProvider, gateway } = await import('../providers/index.ts');
  return gateway(
    await Promise.all(models.map((model) => openProvider(model, { providers: { ...standIns, ...providers } }))),
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
  async askResult(words: Words, options?: AskOptions): Promise<RunResult> {
    const result = await this.harness.askResult(words, options);
    this.#turns += result.turns;
    return result;
  }

  /** Says something and gives the answer's text; throws if there is none. */
  async ask(words: Words, options?: AskOptions): Promise<string> {
    return answered(await this.askResult(words, options));
  }

  /** Says something and streams what happens. */
  async *askStream(words: Words, options?: AskOptions): AsyncGenerator<StreamEvent> {
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

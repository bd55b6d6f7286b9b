// The front door for explicit wiring: a provider, a system text and tools, and the ways to ask.
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  FairleadError,
  type ResolvedAgent,
  type Chunk,
  type Event,
  type Json,
  type Limits,
  type Log,
  type Reminder,
} from '../core/index.ts';
import { memoryLog } from '../stores/memory.ts';
import { createAsyncQueue } from './async-queue.ts';
import { lastTurnReminder } from './last-turn.ts';
import { resolveAgent, type ResolveAgentOptions } from './resolve-agent.ts';
import { toRunResult, streamStopReason, type RunResult, type StreamStopReason } from './result.ts';
import { parseAnswer } from './schema.ts';
import { SessionCache } from './session-cache.ts';
import { Session, type RunOptions, type UserInput } from './session.ts';
import { createEventTranslator, type StreamEvent } from './stream-events.ts';

/** What a harness is made from. */
export type HarnessOptions = Omit<ResolveAgentOptions, 'reminders'> & {
  /** Provider turns before a run ends with `max_turns_exceeded`; 25 unless given. */
  readonly maxTurns?: number;
  readonly limits?: Partial<Limits>;
  /** Where the session files go, `./runs` unless given; made on the first run. `null` keeps sessions in memory. */
  readonly runDir?: string | null;
  readonly cache?: SessionCache;
};

/** Names a caller gives a run, stamped into its result. */
export type AskOptions = RunOptions & { readonly sessionId?: string };

/** A loop with its tools. `run…` starts a fresh conversation, `ask…` continues it; `…Result` never throws for what a model or provider does, the plain ones do. */
export class Harness {
  readonly cache: SessionCache;
  readonly #parts: ResolvedAgent;
  readonly #limits: Partial<Limits>;
  readonly #runDir: string | null;
  readonly #reminders: Reminder[] = [lastTurnReminder];
  #session: Session | undefined;
  #runFile: string | undefined;

  constructor(options: HarnessOptions) {
    if (typeof (options as Partial<HarnessOptions> | undefined)?.provider?.stream !== 'function')
      throw new FairleadError('harness/bad-option', 'A harness needs a provider: what it asks for answers.', {
        blame: 'user',
        hint: 'Open one with openProvider("ollama/qwen3:8b"), or use defineAgent.',
      });
    const { maxTurns = 25, limits = {}, runDir = './runs', cache = new SessionCache() } = options;
    if (!Number.isInteger(maxTurns) || maxTurns < 1)
      throw new FairleadError('harness/bad-option', `maxTurns must be a whole number of at least 1, not ${maxTurns}.`, {
        blame: 'user',
      });
    this.cache = cache;
    this.#runDir = runDir;
    this.#limits = { turns: maxTurns, ...limits };
    this.#parts = resolveAgent({ ...options, reminders: this.#reminders });
  }

  /** The file of the current session; none before the first run or when sessions stay in memory. */
  get runFile(): string | undefined {
    return this.#runFile;
  }

  /** The conversation that `ask` continues, if one was begun. */
  get session(): Session | undefined {
    return this.#session;
  }

  /** Adds a hook that is called before each provider turn; its text goes to the end of the conversation. Hooks are asked in the order they came. */
  registerReminder(hook: (currentTurn: number, maxTurns: number) => string | null | undefined): void {
    this.#reminders.splice(-1, 0, hook);
  }

  /** Starts a fresh conversation and gives the whole result. */
  async runResult(words: UserInput, options: AskOptions = {}): Promise<RunResult> {
    await this.#begin(options.sessionId);
    return this.#go(words, options);
  }

  /** Continues the conversation and gives the whole result. */
  async askResult(words: UserInput, options: AskOptions = {}): Promise<RunResult> {
    if (!this.#session) await this.#begin(options.sessionId);
    return this.#go(words, options);
  }

  /** Starts a fresh conversation and gives the answer's text; throws if there is none. */
  async run(words: UserInput, options?: AskOptions): Promise<string> {
    return unwrapResult(await this.runResult(words, options));
  }

  /** Continues the conversation and gives the answer's text; throws if there is none. */
  async ask(words: UserInput, options?: AskOptions): Promise<string> {
    return unwrapResult(await this.askResult(words, options));
  }

  /** Starts a fresh conversation as a stream of events; the last one holds the result. */
  async *runStream(words: UserInput, options: AskOptions = {}): AsyncGenerator<StreamEvent> {
    await this.#begin(options.sessionId);
    yield* this.#stream(words, options);
  }

  /** Continues the conversation as a stream of events; the last one holds the result. */
  async *askStream(words: UserInput, options: AskOptions = {}): AsyncGenerator<StreamEvent> {
    if (!this.#session) await this.#begin(options.sessionId);
    yield* this.#stream(words, options);
  }

  /** Goes on with a conversation kept in a log, instead of a fresh one. */
  async open(log: Log, runFile?: string): Promise<Session> {
    await this.close();
    this.#session = await Session.open(this.#parts, log);
    this.#runFile = runFile;
    return this.#session;
  }

  /** Lets go of the session's file. */
  async close(): Promise<void> {
    await this.#session?.close();
    this.#session = undefined;
  }

  async #begin(id: string = crypto.randomUUID()): Promise<void> {
    await this.close();
    this.#runFile = undefined;
    if (this.#runDir === null) {
      this.#session = await Session.open(this.#parts, memoryLog(), id);
      return;
    }
    // Sessions in memory need nothing of the session file's machinery: it is loaded with the first file.
    const { openJsonl } = await import('../stores/index.ts');
    mkdirSync(this.#runDir, { recursive: true });
    const file = join(resolve(this.#runDir), `${fileTimestamp(new Date())}-${crypto.randomUUID().slice(0, 8)}.jsonl`);
    this.#session = await Session.open(this.#parts, await openJsonl(file, { session: id }), id);
    this.#runFile = file;
  }

  async #go(words: UserInput | undefined, options: AskOptions): Promise<RunResult> {
    const session = this.#session as Session;
    const runId = options.runId ?? crypto.randomUUID();
    let stop: StreamStopReason | undefined;
    const unwatch = session.subscribe((event: Event) => {
      if (event.type === 'turn-ended') stop = streamStopReason(event);
    });
    this.cache.clearAnswer();
    try {
      const state = await session.run(words, { ...options, runId, limits: { ...this.#limits, ...options.limits } });
      const names = { runId, sessionId: options.sessionId ?? state.session, runFile: this.#runFile };
      const result = toRunResult(state, names, stop, this.cache, undefined);
      return { ...result, object: this.#value(result) };
    } finally {
      unwatch();
    }
  }

  #value(result: RunResult): Json | undefined {
    const given = this.cache.getAnswer();
    if (given !== undefined) return given as Json;
    return this.#parts.outputSchema && result.status === 'success' ? parseAnswer(result.text) : undefined;
  }

  async *#stream(words: UserInput, options: AskOptions): AsyncGenerator<StreamEvent> {
    const events = createAsyncQueue<StreamEvent>();
    const translate = createEventTranslator((event) => events.push(event));
    const session = this.#session as Session;
    const unwatch = session.subscribe((event) => translate.event(event));
    const live = (chunk: Chunk): void => {
      translate.chunk(chunk);
      options.onChunk?.(chunk);
    };
    const work = this.#go(words, { ...options, onChunk: live }).then(
      (result) => (events.push({ type: 'result', result }), events.close()),
      (error: unknown) => events.close(error instanceof Error ? error : new Error(String(error))),
    );
    try {
      yield* events;
    } finally {
      session.cancel();
      unwatch();
      await work;
    }
  }
}

/** The text of an answer, or the error that stands for its absence. */
export function unwrapResult(result: RunResult): string {
  if (result.status === 'success') return result.text;
  if (result.status === 'max_turns_exceeded')
    throw new FairleadError('run/max-turns', result.detail ?? 'The turn limit was reached.', {
      blame: 'user',
      hint: 'Raise maxTurns, or ask for less at once.',
    });
  if (result.error) throw result.error;
  throw new FairleadError(
    `run/${result.reason}`,
    result.detail ?? `The run ended without an answer: ${result.reason}.`,
    { blame: 'user' },
  );
}

const fileTimestamp = (date: Date): string => date.toISOString().replaceAll(/[-:]|\.\d+Z/g, '');

// The Harness class: explicit wiring of a provider, a system prompt and tools, with a JSONL file per conversation.
import { randomUUID } from 'node:crypto';
import { join, resolve } from 'node:path';
import {
  FairleadError,
  pendingApprovals,
  type ApprovalOptions,
  type Limits,
  type Log,
  type PendingApproval,
  type Reminder,
  type ResolvedAgent,
} from '../core/index.ts';
import { assertMaxTurns, lastTurnReminder } from './limits.ts';
import { resolveAgent, type ResolveAgentOptions } from './resolve-agent.ts';
import { unwrapResult, type ResultStatus, type RunResult } from './result.ts';
import type { RunOptions } from './run-options.ts';
import { SessionCache } from './session-cache.ts';
import { assertUserInput, type UserInput } from './session-facts.ts';
import { fileSession, openSession } from './session-store.ts';
import { Session } from './session.ts';
import type { StreamEvent } from './stream-events.ts';

/** The options of a harness. */
export type HarnessOptions = Omit<ResolveAgentOptions, 'reminders' | 'limits'> & {
  /** Model turns before a run ends with `max_turns_exceeded`; 25 by default. */
  readonly maxTurns?: number;
  /** Limits of each run, over the defaults. */
  readonly limits?: Partial<Limits>;
  /** The directory of the session files, `./runs` by default, created by the first run. `null` keeps sessions in memory. */
  readonly runDir?: string | null;
  /** Values outside the conversation; a new, empty cache by default. */
  readonly cache?: SessionCache;
};

/** The options of one call; the session id applies to a conversation that begins with this call. */
export type AskOptions = RunOptions & {
  /** The id of the session, in the result too; random by default. */
  readonly sessionId?: string;
};

/** The result of a harness: that of a run, with the session file and the values of the session cache. */
export type HarnessResult = Omit<RunResult, 'status'> & {
  /** As that of a run result, with the spelling `max_turns_exceeded`. */
  readonly status: Exclude<ResultStatus, 'max-turns-exceeded'> | 'max_turns_exceeded';
  /** The session file of the run; undefined in memory. */
  readonly runFile: string | undefined;
  /** What the model sees of each cached value: type, size and a sample, by handle. */
  readonly cacheSnapshots: ReturnType<SessionCache['snapshots']>;
  /** Where each cached value is: in memory or on disk. */
  readonly cacheStorage: ReturnType<SessionCache['storageMetadata']>;
  /** The cached values that are charts. */
  readonly charts: ReturnType<SessionCache['listCharts']>;
};

/** An event of a streamed call. */
export type HarnessEvent =
  | Exclude<StreamEvent, { readonly type: 'result' }>
  | { readonly type: 'result'; readonly result: HarnessResult };

/** A model with its tools. `run…` begins a conversation, `ask…` continues it. `…Result` and `…Stream` return model and provider errors as a status; `run` and `ask` throw them. */
export class Harness {
  /** The session cache. */
  readonly cache: SessionCache;
  readonly #agent: ResolvedAgent;
  readonly #runDir: string | null;
  readonly #reminders: Reminder[] = [lastTurnReminder];
  #session: Session | undefined;
  #runFile: string | undefined;
  /** Whether the caller opened the log of the session. */
  #isOpenedLog = false;
  /** An `open` that has not ended: a run that was started without waiting for it still uses its log. */
  #opening: Promise<Session> | undefined;

  constructor(options: HarnessOptions) {
    if (typeof (options as Partial<HarnessOptions> | undefined)?.provider?.stream !== 'function')
      throw new FairleadError('harness/bad-option', 'A harness needs a provider.', {
        blame: 'user',
        hint: 'Open one with openProvider("ollama/qwen3:8b"), or use new Agent({ model: "ollama/qwen3:8b" }).',
      });
    const { maxTurns = 25, limits = {}, runDir = './runs', cache = new SessionCache() } = options;
    assertMaxTurns(maxTurns);
    this.cache = cache;
    this.#runDir = runDir;
    this.#agent = resolveAgent({ ...options, limits: { turns: maxTurns, ...limits }, reminders: this.#reminders });
  }

  /** The file of the current session; undefined before the first run and for sessions in memory. */
  get runFile(): string | undefined {
    return this.#runFile;
  }

  /** The session that `ask` continues. */
  get session(): Session | undefined {
    return this.#session;
  }

  /** Adds a hook that runs before each model turn, in the order of registration; its text is appended to the conversation. */
  registerReminder(hook: (currentTurn: number, maxTurns: number) => string | null | undefined): void {
    this.#reminders.splice(-1, 0, hook);
  }

  /** Begins a conversation and returns the result. */
  async runResult(input: UserInput, options: AskOptions = {}): Promise<HarnessResult> {
    assertUserInput(input);
    await this.#beginSession(options.sessionId);
    return this.askResult(input, options);
  }

  /** Continues the conversation, or resumes its open run without input, and returns the result. */
  async askResult(input?: UserInput, options: AskOptions = {}): Promise<HarnessResult> {
    const session = (await this.#opening) ?? this.#session ?? (await this.#openSession(options.sessionId));
    this.cache.clearAnswer();
    return this.#toHarnessResult(await session.run(input, withRunId(options)), options);
  }

  /** Begins a conversation and returns the text of the answer. Throws `MaxTurnsExceeded`, or the error of the run. */
  async run(input: UserInput, options?: AskOptions): Promise<string> {
    return unwrapResult(await this.runResult(input, options));
  }

  /** Continues the conversation, or resumes its open run without input, and returns the text of the answer. Throws `MaxTurnsExceeded`, or the error of the run. */
  async ask(input?: UserInput, options?: AskOptions): Promise<string> {
    return unwrapResult(await this.askResult(input, options));
  }

  /** Begins a conversation as a stream of events; the last one has the result. */
  async *runStream(input: UserInput, options: AskOptions = {}): AsyncGenerator<HarnessEvent> {
    assertUserInput(input);
    await this.#beginSession(options.sessionId);
    yield* this.askStream(input, options);
  }

  /** Continues the conversation, or resumes its open run without input, as a stream of events; the last one has the result. */
  async *askStream(input?: UserInput, options: AskOptions = {}): AsyncGenerator<HarnessEvent> {
    const session = (await this.#opening) ?? this.#session ?? (await this.#openSession(options.sessionId));
    this.cache.clearAnswer();
    for await (const event of session.stream(input, withRunId(options)))
      yield event.type === 'result' ? { type: 'result', result: this.#toHarnessResult(event.result, options) } : event;
  }

  /** The tool calls that wait for `approve` or `reject`. */
  get pendingApprovals(): readonly PendingApproval[] {
    return this.#session ? pendingApprovals(this.#session.state) : [];
  }

  /** Approves a pending tool call. `ask…` without input then continues the run. */
  async approve(id: string, options?: Pick<ApprovalOptions, 'by'>): Promise<void> {
    await this.#requireSession().approve(id, options);
  }

  /** Rejects a pending tool call; the model reads the reason. */
  async reject(id: string, reason?: string, options?: Pick<ApprovalOptions, 'by'>): Promise<void> {
    await this.#requireSession().reject(id, reason, options);
  }

  /** Uses this log instead of a new file: `ask…` continues its conversation, and `run…` begins one if it is empty. */
  async open(log: Log, runFile?: string): Promise<Session> {
    const opening = this.#adoptLog(log, runFile);
    this.#opening = opening;
    try {
      return await opening;
    } finally {
      if (this.#opening === opening) this.#opening = undefined;
    }
  }

  async #adoptLog(log: Log, runFile: string | undefined): Promise<Session> {
    await this.close();
    this.#session = await Session.open(this.#agent, log);
    this.#runFile = runFile;
    this.#isOpenedLog = true;
    return this.#session;
  }

  /** Closes the session and its file. */
  async close(): Promise<void> {
    await this.#session?.close();
    this.#session = undefined;
    this.#isOpenedLog = false;
  }

  /** The session of a new conversation. A log that the caller opened is never left for another file without a word. */
  async #beginSession(id: string | undefined): Promise<Session> {
    await this.#opening;
    if (!this.#session || !this.#isOpenedLog) return this.#openSession(id);
    const { run, messages, pending } = this.#session.state;
    if (run === undefined && messages.length === 0 && pending.length === 0) return this.#session;
    throw new FairleadError(
      'harness/log-in-use',
      'The log that was opened has a conversation, so run cannot begin one.',
      {
        blame: 'user',
        hint: 'Call ask to continue it, ask without input to resume its open run, or close first to begin another in runDir.',
      },
    );
  }

  #requireSession(): Session {
    if (this.#session) return this.#session;
    throw new FairleadError('harness/no-session', 'No conversation is open, so no call waits for approval.', {
      blame: 'user',
    });
  }

  async #openSession(id: string = randomUUID()): Promise<Session> {
    await this.close();
    const name = `${fileTimestamp(new Date())}-${randomUUID().slice(0, 8)}.jsonl`;
    this.#runFile = this.#runDir === null ? undefined : join(resolve(this.#runDir), name);
    const store = this.#runFile === undefined ? {} : { store: fileSession(this.#runFile) };
    this.#session = await openSession(this.#agent, { id, ...store });
    return this.#session;
  }

  #toHarnessResult({ status, ...result }: RunResult, { sessionId }: AskOptions): HarnessResult {
    const answer = this.cache.getAnswer();
    return {
      ...result,
      status: status === 'max-turns-exceeded' ? 'max_turns_exceeded' : status,
      object: answer === undefined ? result.object : answer,
      sessionId: sessionId ?? result.sessionId,
      runFile: this.#runFile,
      cacheSnapshots: this.cache.snapshots(),
      cacheStorage: this.cache.storageMetadata(),
      charts: this.cache.listCharts(),
    };
  }
}

/** Each run of a harness gets a new name, also a run that resumes another. */
const withRunId = ({ sessionId: _, ...options }: AskOptions): RunOptions => ({
  ...options,
  runId: options.runId ?? randomUUID(),
});

const fileTimestamp = (date: Date): string => date.toISOString().replaceAll(/[-:]|\.\d+Z/g, '');

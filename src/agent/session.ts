// A session: a conversation on an append-only log that can be run, resumed, steered, approved, forked, edited and compacted.
import { randomUUID } from 'node:crypto';
import {
  FairleadError,
  historyError,
  epochStartedFact,
  openSessionWriter,
  runLoop,
  runStateView,
  toArray,
  type ResolvedAgent,
  type CallApproval,
  type Event,
  type Fact,
  type InputSource,
  type SessionWriter,
  type Json,
  type Log,
  type Message,
  type RunState,
  type ApprovalOptions,
  type ApprovalPreview,
} from '../core/index.ts';
import { memoryLog } from '../stores/index.ts';
import { copyConversation, lastCommonEvent } from './session-history.ts';
import {
  assertUserInput,
  inputReceivedFact,
  runStartedFact,
  sessionStartFacts,
  type UserInput,
} from './session-facts.ts';
import type { CompactionReport, ManualCompactionOptions } from './manual-compaction.ts';
import type { RunResult } from './result.ts';
import { executeRun, RunStream, type RunOutput } from './run-stream.ts';
import type { AdvanceOptions, RunOptions, SessionOptions } from './run-options.ts';
import type { SchemaLike } from './schema.ts';

/** Where the copy of a forked session is kept, and up to which event it is copied. */
export type ForkOptions = SessionOptions & {
  /** An empty log, instead of a store. */
  readonly log?: Log;
  /** The id of the last event that is copied; by default the whole conversation. */
  readonly at?: string | undefined;
};

/** A conversation on a log. It owns the writer of the log: close it after use. `Output` is the type of `result.object`. */
export class Session<Output = unknown> {
  #agent: ResolvedAgent;
  readonly #writer: SessionWriter;
  #stop: AbortController | undefined;

  private constructor(agent: ResolvedAgent, writer: SessionWriter) {
    this.#agent = agent;
    this.#writer = writer;
  }

  /** Opens the session of this log, or begins one if the log is empty. */
  static async open(agent: ResolvedAgent, log: Log, id: string = randomUUID()): Promise<Session> {
    const writer = await openSessionWriter(log, runStateView(agent.rules, agent.views));
    const session = new Session(agent, writer);
    writer.subscribe((event, state) => session.#agent.trace?.onEvent(event, state));
    await writer.record((state) => sessionStartFacts(agent, state, id), { durable: true });
    return session;
  }

  /** The agent that runs in this session. */
  get agent(): ResolvedAgent {
    return this.#agent;
  }

  /** The id of the session. */
  get id(): string {
    return this.state.session;
  }

  /** The log, for reading. */
  get log(): Pick<Log, 'read' | 'follow'> {
    return this.#writer.log;
  }

  /** The state: the fold of the log. */
  get state(): RunState {
    return this.#writer.state;
  }

  /** The conversation as messages. */
  get messages(): readonly Message[] {
    return toArray(this.state.messages);
  }

  /** Whether a run is active in this process. */
  get running(): boolean {
    return this.#stop !== undefined;
  }

  /** Calls back for each event after it is written. Returns the function that unsubscribes. */
  subscribe(listener: (event: Event, state: RunState) => void): () => void {
    return this.#writer.subscribe(listener);
  }

  /** Continues with another agent, such as one with another model, in a new epoch. */
  async setAgent(agent: ResolvedAgent): Promise<void> {
    this.#assertIdle();
    const { rules, views } = this.#agent;
    if (rules !== agent.rules || views !== agent.views)
      await this.#writer.setView(runStateView(agent.rules, agent.views));
    await this.#writer.record((state) => sessionStartFacts(agent, state, state.session), { durable: true });
    this.#agent = agent;
  }

  /** Sends input and runs to a result. Without input it resumes the run that a crash, an approval or a detach left open, or lets the model continue. */
  async run<const S extends SchemaLike | undefined = undefined>(
    input?: UserInput,
    options: RunOptions<S> = {},
  ): Promise<RunResult<RunOutput<S, Output>>> {
    return (await executeRun(this, input, options)) as RunResult<RunOutput<S, Output>>;
  }

  /** The same run as a stream of events. */
  stream<const S extends SchemaLike | undefined = undefined>(
    input?: UserInput,
    options: RunOptions<S> = {},
  ): RunStream<RunOutput<S, Output>> {
    return new RunStream((emit, signal) => executeRun(this, input, { ...options, signal }, emit), options.signal);
  }

  /** Runs until there is an answer or every open call waits for approval. `run` is this in a loop with an approval handler. */
  async advance(input: UserInput | undefined, options: AdvanceOptions = {}): Promise<RunState> {
    if (this.running)
      throw new FairleadError('session/running', 'A run is active in this session.', {
        blame: 'user',
        hint: 'Use steer or followUp to add to it, or cancel it first.',
      });
    const begin = (state: RunState): readonly Fact[] => [
      ...(input === undefined
        ? state.run === undefined
          ? [{ ...inputReceivedFact('continue', []), ...(options.asIs ? { asIs: true as const } : {}) }]
          : []
        : [inputReceivedFact('prompt', input, options.inputId)]),
      ...(state.run === undefined ? [runStartedFact(this.agent, options)] : []),
    ];
    const stop = new AbortController();
    this.#stop = stop;
    try {
      await this.#writer.record(begin, { durable: true });
      const { signal, detachSignal, outputSchema, onChunk = () => {}, onToolProgress, port } = options;
      return await runLoop(outputSchema ? { ...this.agent, outputSchema } : this.agent, {
        writer: this.#writer,
        signal: signal ? AbortSignal.any([signal, stop.signal]) : stop.signal,
        ...(detachSignal ? { detachSignal } : {}),
        onChunk,
        ...(onToolProgress ? { onToolProgress } : {}),
        // Node loads a dozen modules for `performance`; the uptime is equivalent.
        clock: port?.monotonicMs ?? (() => process.uptime() * 1000),
        ...(port ? { timer: port.timer } : {}),
      });
    } finally {
      this.#stop = undefined;
    }
  }

  /** Advances the run that was left open, if there is one. */
  async resume(options: AdvanceOptions = {}): Promise<RunState> {
    return this.state.run === undefined ? this.state : this.advance(undefined, options);
  }

  /** Adds input to the active run: the model reads it after the running tools. `by` says what added it, if it is not the user. */
  async steer(
    input: UserInput,
    { inputId, by }: Pick<AdvanceOptions, 'inputId'> & { readonly by?: InputSource } = {},
  ): Promise<void> {
    assertUserInput(input);
    await this.#writer.record([inputReceivedFact('steer', input, inputId, by)], { durable: true });
  }

  /** Adds input that the model reads after the answer of the active run. */
  async followUp(input: UserInput): Promise<void> {
    assertUserInput(input);
    await this.#writer.record([inputReceivedFact('follow-up', input)], { durable: true });
  }

  /** Approves a pending tool call, in any process that opened the session; `run()` then resumes. */
  async approve(id: string, options: Pick<ApprovalOptions, 'by'> = {}): Promise<void> {
    await this.resolveApproval(id, true, options);
  }

  /** Rejects a pending tool call; the model reads the reason. */
  async reject(id: string, reason?: string, options: Pick<ApprovalOptions, 'by'> = {}): Promise<void> {
    await this.resolveApproval(id, false, { ...options, ...(reason === undefined ? {} : { reason }) });
  }

  /** Records a decision about a pending tool call. */
  async resolveApproval(id: string, allowed: boolean, options: ApprovalOptions = {}): Promise<void> {
    this.#requirePendingApproval(id);
    const { by, tookEffect, reason } = options;
    const details = {
      ...(tookEffect ? { happened: true } : {}),
      ...(by === undefined ? {} : { by }),
      ...(reason === undefined ? {} : { reason }),
    };
    await this.#writer.record([{ type: 'approval-resolved', call: id, allowed, ...details }], { durable: true });
  }

  /** Replaces the question of a pending tool call: another program may have written the log, and so the question in it. */
  async updateApproval(id: string, question: string, preview?: ApprovalPreview): Promise<void> {
    const { kind } = this.#requirePendingApproval(id);
    const details = { ...(kind ? { kind } : {}), ...(preview ? { preview } : {}) };
    const fact: Fact = { type: 'approval-requested', call: id, question, ...details };
    await this.#writer.record([fact], { durable: true });
  }

  /** Stops the active run within a second; the session can continue. */
  cancel(reason?: FairleadError): void {
    this.#stop?.abort(reason);
  }

  /** Goes back to an event: what follows is a new branch, and the old one stays in the log. */
  async rewind(event: string, reason: 'rewound' | 'returned' = 'rewound'): Promise<void> {
    this.#assertIdle();
    await this.#writer.branch(event, (state) => [
      { type: 'branch-started', from: event, reason },
      epochStartedFact(state, 'edited'),
    ]);
  }

  /** Replaces the conversation by an edited one, on a new branch from the last unchanged event. */
  async edit(messages: readonly Message[], detail?: string): Promise<void> {
    this.#assertIdle();
    const invalid = messages.length ? historyError(messages) : undefined;
    if (invalid)
      throw new FairleadError('session/illegal-edit', `The edited conversation cannot be sent to a model: ${invalid}`, {
        blame: 'user',
        hint: 'Nothing was changed.',
      });
    const from = await lastCommonEvent(this.#writer.log, this.agent, messages);
    await this.#writer.branch(from, (state) => [
      { type: 'branch-started', from, reason: 'edited', ...(detail === undefined ? {} : { detail }) },
      epochStartedFact(state, 'edited', messages),
    ]);
  }

  /** Compacts the conversation in a new epoch. Throws and changes nothing if that would not help or would lose required content. */
  async compact(options: ManualCompactionOptions = {}): Promise<CompactionReport> {
    this.#assertIdle();
    const stop = new AbortController();
    this.#stop = stop;
    try {
      const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal;
      const { compactSession } = await import('./manual-compaction.ts');
      return await compactSession(this.#agent, this.#writer, { ...options, signal });
    } finally {
      this.#stop = undefined;
    }
  }

  /** Begins another session with this conversation, or with the one at an event; in memory unless a store or a log is given. This session does not change. */
  async fork(options: ForkOptions = {}): Promise<Session<Output>> {
    const { store, id = randomUUID(), at } = options;
    const log = options.log ?? (store ? await store.open(id) : memoryLog());
    try {
      await copyConversation(this.agent, this.#writer.log, log, { at, id });
      return await Session.open(this.agent, log, id);
    } catch (error) {
      if (options.log === undefined) await log.close();
      throw error;
    }
  }

  /** Records a value that no model sees. */
  async annotate(key: string, value: Json): Promise<void> {
    await this.#writer.record([{ type: 'annotation-added', key, value }]);
  }

  /** Records facts together, decided from the state at the moment of writing. */
  async record(facts: (state: RunState) => readonly Fact[]): Promise<void> {
    await this.#writer.record(facts, { durable: true });
  }

  /** Stops the active run and closes the log. */
  async close(): Promise<void> {
    this.cancel();
    await this.#writer.log.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #requirePendingApproval(id: string): CallApproval {
    const ask = this.state.calls.find((call) => call.id === id)?.ask;
    if (!ask || ask.allowed !== undefined)
      throw new FairleadError('session/no-question', `No approval is pending for the call ${id}.`, { blame: 'user' });
    return ask;
  }

  #assertIdle(): void {
    if (this.running)
      throw new FairleadError('session/running', 'The conversation cannot be changed while a run is active.', {
        blame: 'user',
        hint: 'Cancel the run first.',
      });
  }
}

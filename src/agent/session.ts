// A conversation that is kept: start, resume, steer, answer, fork, edit, all of them facts in one log.
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
  type Chunk,
  type Event,
  type Fact,
  type SessionWriter,
  type InputMode,
  type Json,
  type Limits,
  type Log,
  type Message,
  type MessagePart,
  type RunState,
  type ToolChoice,
} from '../core/index.ts';
import { createNonce, sessionStartFacts, settledMessages } from './session-start.ts';
import { compactSession, type CompactionReport, type ManualCompactionOptions } from './compaction.ts';
import { lastCommonEvent } from './branch-point.ts';
import { resolveLimits } from './limits.ts';

/** What one run may be given. */
export type RunOptions = {
  /** Ends the run; or, where its reason is a FairleadError `run/left`, cuts off what is under way and leaves the run to be resumed. */
  readonly signal?: AbortSignal;
  /** Leaves the run to be resumed once the step under way is done. */
  readonly detachSignal?: AbortSignal;
  readonly limits?: Partial<Limits>;
  /** Forces the first answer to be a tool call, or not to be one. */
  readonly toolChoice?: ToolChoice;
  readonly runId?: string;
  /** The id of the words, by which they are found in the log again; a new one unless given. */
  readonly inputId?: string;
  /** Sees each chunk before it is settled. */
  readonly onChunk?: (chunk: Chunk) => void;
  /** Sees what the tool of a call says while it is at work; nothing of it is kept. */
  readonly onToolProgress?: (call: string, text: string) => void;
};

/** What a person or a program says: words, or parts with files. */
export type UserInput = string | readonly MessagePart[];

/** A conversation on a log. It owns the log's writer: close it when done. */
export class Session {
  #parts: ResolvedAgent;
  readonly #head: SessionWriter;
  #stop: AbortController | undefined;

  private constructor(parts: ResolvedAgent, head: SessionWriter) {
    this.#parts = parts;
    this.#head = head;
  }

  /** Opens the session on this log: a new one if the log is empty, otherwise the one it holds. */
  static async open(parts: ResolvedAgent, log: Log, id: string = randomUUID()): Promise<Session> {
    const head = await openSessionWriter(log, runStateView(parts.rules, parts.views));
    await head.record((state) => sessionStartFacts(parts, state, id), { durable: true });
    return new Session(parts, head);
  }

  /** The parts it runs on. */
  get agent(): ResolvedAgent {
    return this.#parts;
  }

  /** The log, to be read. */
  get log(): Pick<Log, 'read' | 'follow'> {
    return this.#head.log;
  }

  get state(): RunState {
    return this.#head.state;
  }

  /** The conversation so far. */
  get messages(): readonly Message[] {
    return toArray(this.state.messages);
  }

  /** Whether a run is going on in this process. */
  get running(): boolean {
    return this.#stop !== undefined;
  }

  /** Calls back for each event once it is written. */
  subscribe(seen: (event: Event, state: RunState) => void): () => void {
    return this.#head.subscribe(seen);
  }

  /** Goes on with other parts, such as another model: a new epoch says so. */
  async setAgent(parts: ResolvedAgent): Promise<void> {
    this.#mustRest();
    const { rules, views } = this.#parts;
    if (rules !== parts.rules || views !== parts.views)
      await this.#head.setView(runStateView(parts.rules, parts.views));
    await this.#head.record((state) => sessionStartFacts(parts, state, state.session), { durable: true });
    this.#parts = parts;
  }

  /** Says something and runs until there is an answer or a question. Without words it continues from where the session stands. */
  async run(words: UserInput | undefined, options: RunOptions = {}): Promise<RunState> {
    if (this.running)
      throw new FairleadError('session/running', 'A run is going on in this session.', {
        blame: 'user',
        hint: 'Use steer or followUp to add to it, or cancel it first.',
      });
    const begin = (state: RunState): readonly Fact[] => [
      ...(words === undefined
        ? state.run === undefined
          ? [inputReceivedFact('continue', [])]
          : []
        : [inputReceivedFact('prompt', toMessageParts(words), options.inputId)]),
      ...(state.run === undefined ? [this.#newRun(options)] : []),
    ];
    const stop = new AbortController();
    this.#stop = stop;
    try {
      await this.#head.record(begin, { durable: true });
      const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal;
      return await runLoop(this.agent, {
        writer: this.#head,
        signal,
        ...(options.detachSignal ? { detachSignal: options.detachSignal } : {}),
        onChunk: options.onChunk ?? (() => {}),
        ...(options.onToolProgress ? { onToolProgress: options.onToolProgress } : {}),
        // `performance` would say the same, but Node loads a dozen modules for it.
        clock: () => process.uptime() * 1000,
      });
    } finally {
      this.#stop = undefined;
    }
  }

  /** Goes on with a run that a crash, a question or a closed program left unfinished; rests if there is none. */
  async resume(options: RunOptions = {}): Promise<RunState> {
    return this.state.run === undefined ? this.state : this.run(undefined, options);
  }

  /** Adds words to the run that is going on: they are read after the running tools. */
  async steer(words: UserInput, { inputId: id }: Pick<RunOptions, 'inputId'> = {}): Promise<void> {
    await this.#head.record([inputReceivedFact('steer', toMessageParts(words), id)], { durable: true });
  }

  /** Adds words that are read once the run has its answer. */
  async followUp(words: UserInput): Promise<void> {
    await this.#head.record([inputReceivedFact('follow-up', toMessageParts(words))], { durable: true });
  }

  /** A person's answer to a question; `resume` then goes on. Of an effect whose outcome is unknown they may say that it happened. */
  async resolveApproval(call: string, allowed: boolean, by?: string, happened = false): Promise<void> {
    this.#mustWait(call);
    const more = { ...(happened ? { happened } : {}), ...(by === undefined ? {} : { by }) };
    await this.#head.record([{ type: 'approval-resolved', call, allowed, ...more }], { durable: true });
  }

  /** Puts an open question in other words: a log may be written by anybody, and so may the question in it. */
  async updateApproval(call: string, question: string): Promise<void> {
    const { kind } = this.#mustWait(call);
    await this.#head.record([{ type: 'approval-requested', call, question, ...(kind ? { kind } : {}) }], {
      durable: true,
    });
  }

  /** Stops the run that is going on; it ends within a second and can be continued. */
  cancel(why?: FairleadError): void {
    this.#stop?.abort(why);
  }

  /** Goes back to an event: what follows is a new branch, the old one stays. */
  async rewind(event: string, reason: 'rewound' | 'returned' = 'rewound'): Promise<void> {
    this.#mustRest();
    await this.#head.branch(event, (state) => [
      { type: 'branch-started', from: event, reason },
      epochStartedFact(state, 'edited'),
    ]);
  }

  /** Replaces the conversation by an edited one, as a new branch from the last unchanged event. */
  async edit(messages: readonly Message[], detail?: string): Promise<void> {
    this.#mustRest();
    const wrong = messages.length ? historyError(messages) : undefined;
    if (wrong)
      throw new FairleadError('session/illegal-edit', `The edited conversation cannot be sent to a model: ${wrong}`, {
        blame: 'user',
        hint: 'Nothing was changed.',
      });
    const from = await lastCommonEvent(this.#head.log, this.agent.rules, messages);
    await this.#head.branch(from, (state) => [
      { type: 'branch-started', from, reason: 'edited', ...(detail === undefined ? {} : { detail }) },
      epochStartedFact(state, 'edited', messages),
    ]);
  }

  /** Makes the conversation shorter now, in a new epoch; throws, with the conversation as it was, where that would not help or would lose what must stay. */
  async compact(options: ManualCompactionOptions = {}): Promise<CompactionReport> {
    this.#mustRest();
    const stop = new AbortController();
    this.#stop = stop;
    try {
      const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal;
      return await compactSession(this.#parts, this.#head, { ...options, signal });
    } finally {
      this.#stop = undefined;
    }
  }

  /** A new session on another log that begins with this conversation, or with what it was at an event; this one is left as it is. */
  async fork(log: Log, at?: string, id: string = randomUUID()): Promise<Session> {
    const { state } = await openSessionWriter(
      { ...this.#head.log, read: (options) => this.#head.log.read(at === undefined ? options : { at }) },
      runStateView(this.agent.rules, this.agent.views),
    );
    const head = await openSessionWriter(log, runStateView(this.agent.rules, this.agent.views));
    if (head.state.seq > 0)
      throw new FairleadError('session/not-empty', 'A session can be forked into an empty log only.', {
        blame: 'user',
      });
    const nonce = createNonce();
    const copy = { ...state, session: id, nonce };
    await head.record(
      [
        { type: 'session-started', session: id, nonce, from: { session: state.session, event: state.head ?? '' } },
        epochStartedFact(copy, 'started', settledMessages(state)),
      ],
      { durable: true },
    );
    return Session.open(this.agent, log, id);
  }

  /** Writes something down that no model sees. */
  async annotate(key: string, value: Json): Promise<void> {
    await this.#head.record([{ type: 'annotation-added', key, value }]);
  }

  /** Writes down together what belongs together, decided from the state at the moment of writing. */
  async record(facts: (state: RunState) => readonly Fact[]): Promise<void> {
    await this.#head.record(facts, { durable: true });
  }

  /** Lets go of the log. */
  async close(): Promise<void> {
    this.cancel();
    await this.#head.log.close();
  }

  #newRun({ limits, toolChoice, runId }: RunOptions): Fact {
    return {
      type: 'run-started',
      run: runId ?? randomUUID(),
      limits: resolveLimits(this.agent.provider, limits),
      ...(toolChoice === undefined ? {} : { choice: toolChoice }),
    };
  }

  #mustWait(call: string): CallApproval {
    const ask = this.state.calls.find(({ id }) => id === call)?.ask;
    if (!ask || ask.allowed !== undefined)
      throw new FairleadError('session/no-question', `No question is open for the call ${call}.`, { blame: 'user' });
    return ask;
  }

  #mustRest(): void {
    if (this.running)
      throw new FairleadError('session/running', 'The conversation cannot be changed while a run is going on.', {
        blame: 'user',
        hint: 'Cancel the run first.',
      });
  }
}

const inputReceivedFact = (
  how: InputMode,
  parts: readonly MessagePart[],
  id: string = randomUUID().slice(0, 8),
): Fact => ({
  type: 'input-received',
  input: id,
  how,
  parts,
});

const toMessageParts = (words: UserInput): readonly MessagePart[] =>
  typeof words === 'string' ? [{ type: 'text', text: words }] : words;

// A conversation that is kept: start, resume, steer, answer, fork, edit, all of them facts in one log.
import { randomUUID } from 'node:crypto';
import {
  FairleadError,
  illegal,
  newEpoch,
  openHead,
  run,
  runView,
  toArray,
  type AgentParts,
  type Ask,
  type Chunk,
  type Event,
  type Fact,
  type Head,
  type InputHow,
  type Json,
  type Limits,
  type Log,
  type Message,
  type Part,
  type RunState,
  type ToolChoice,
} from '../core/index.ts';
import { newNonce, opening, settled } from './beginnings.ts';
import { compactHead, type CompactionReport, type CompactOptions } from './compaction.ts';
import { lastCommonEvent } from './history.ts';
import { limitsFor } from './limits.ts';

/** What one run may be given. */
export type RunOptions = {
  /** Ends the run; or, where its reason is a FairleadError `run/left`, cuts off what is under way and leaves the run to be resumed. */
  readonly signal?: AbortSignal;
  /** Leaves the run to be resumed once the step under way is done. */
  readonly leave?: AbortSignal;
  readonly limits?: Partial<Limits>;
  /** Forces the first answer to be a tool call, or not to be one. */
  readonly choice?: ToolChoice;
  readonly runId?: string;
  /** The id of the words, by which they are found in the log again; a new one unless given. */
  readonly input?: string;
  /** Sees each chunk before it is settled. */
  readonly live?: (chunk: Chunk) => void;
  /** Sees what the tool of a call says while it is at work; nothing of it is kept. */
  readonly progress?: (call: string, text: string) => void;
};

/** What a person or a program says: words, or parts with files. */
export type Words = string | readonly Part[];

/** A conversation on a log. It owns the log's writer: close it when done. */
export class Session {
  #parts: AgentParts;
  readonly #head: Head;
  #stop: AbortController | undefined;

  private constructor(parts: AgentParts, head: Head) {
    this.#parts = parts;
    this.#head = head;
  }

  /** Opens the session on this log: a new one if the log is empty, otherwise the one it holds. */
  static async open(parts: AgentParts, log: Log, id: string = randomUUID()): Promise<Session> {
    const head = await openHead(log, runView(parts.rules, parts.views));
    await head.record((state) => opening(parts, state, id), { settle: true });
    return new Session(parts, head);
  }

  /** The parts it runs on. */
  get parts(): AgentParts {
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
  watch(seen: (event: Event, state: RunState) => void): () => void {
    return this.#head.watch(seen);
  }

  /** Goes on with other parts, such as another model: a new epoch says so. */
  async become(parts: AgentParts): Promise<void> {
    this.#mustRest();
    const { rules, views } = this.#parts;
    if (rules !== parts.rules || views !== parts.views) await this.#head.adopt(runView(parts.rules, parts.views));
    await this.#head.record((state) => opening(parts, state, state.session), { settle: true });
    this.#parts = parts;
  }

  /** Says something and runs until there is an answer or a question. Without words it continues from where the session stands. */
  async run(words: Words | undefined, options: RunOptions = {}): Promise<RunState> {
    if (this.running)
      throw new FairleadError('session/running', 'A run is going on in this session.', {
        blame: 'user',
        hint: 'Use steer or followUp to add to it, or cancel it first.',
      });
    const begin = (state: RunState): readonly Fact[] => [
      ...(words === undefined
        ? state.run === undefined
          ? [input('continue', [])]
          : []
        : [input('prompt', partsOf(words), options.input)]),
      ...(state.run === undefined ? [this.#newRun(options)] : []),
    ];
    const stop = new AbortController();
    this.#stop = stop;
    try {
      await this.#head.record(begin, { settle: true });
      const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal;
      return await run(this.parts, {
        head: this.#head,
        signal,
        ...(options.leave ? { leave: options.leave } : {}),
        live: options.live ?? (() => {}),
        ...(options.progress ? { progress: options.progress } : {}),
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
  async steer(words: Words, { input: id }: Pick<RunOptions, 'input'> = {}): Promise<void> {
    await this.#head.record([input('steer', partsOf(words), id)], { settle: true });
  }

  /** Adds words that are read once the run has its answer. */
  async followUp(words: Words): Promise<void> {
    await this.#head.record([input('follow-up', partsOf(words))], { settle: true });
  }

  /** A person's answer to a question; `resume` then goes on. Of an effect whose outcome is unknown they may say that it happened. */
  async answer(call: string, allowed: boolean, by?: string, happened = false): Promise<void> {
    this.#mustWait(call);
    const more = { ...(happened ? { happened } : {}), ...(by === undefined ? {} : { by }) };
    await this.#head.record([{ type: 'approval-resolved', call, allowed, ...more }], { settle: true });
  }

  /** Puts an open question in other words: a log may be written by anybody, and so may the question in it. */
  async reword(call: string, question: string): Promise<void> {
    const { kind } = this.#mustWait(call);
    await this.#head.record([{ type: 'approval-requested', call, question, ...(kind ? { kind } : {}) }], {
      settle: true,
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
      newEpoch(state, 'edited'),
    ]);
  }

  /** Replaces the conversation by an edited one, as a new branch from the last unchanged event. */
  async edit(messages: readonly Message[], detail?: string): Promise<void> {
    this.#mustRest();
    const wrong = messages.length ? illegal(messages) : undefined;
    if (wrong)
      throw new FairleadError('session/illegal-edit', `The edited conversation cannot be sent to a model: ${wrong}`, {
        blame: 'user',
        hint: 'Nothing was changed.',
      });
    const from = await lastCommonEvent(this.#head.log, this.parts.rules, messages);
    await this.#head.branch(from, (state) => [
      { type: 'branch-started', from, reason: 'edited', ...(detail === undefined ? {} : { detail }) },
      newEpoch(state, 'edited', messages),
    ]);
  }

  /** Makes the conversation shorter now, in a new epoch; throws, with the conversation as it was, where that would not help or would lose what must stay. */
  async compact(options: CompactOptions = {}): Promise<CompactionReport> {
    this.#mustRest();
    const stop = new AbortController();
    this.#stop = stop;
    try {
      const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal;
      return await compactHead(this.#parts, this.#head, { ...options, signal });
    } finally {
      this.#stop = undefined;
    }
  }

  /** A new session on another log that begins with this conversation, or with what it was at an event; this one is left as it is. */
  async fork(log: Log, at?: string, id: string = randomUUID()): Promise<Session> {
    const { state } = await openHead(
      { ...this.#head.log, read: (options) => this.#head.log.read(at === undefined ? options : { at }) },
      runView(this.parts.rules, this.parts.views),
    );
    const head = await openHead(log, runView(this.parts.rules, this.parts.views));
    if (head.state.seq > 0)
      throw new FairleadError('session/not-empty', 'A session can be forked into an empty log only.', {
        blame: 'user',
      });
    const nonce = newNonce();
    const copy = { ...state, session: id, nonce };
    await head.record(
      [
        { type: 'session-started', session: id, nonce, from: { session: state.session, event: state.head ?? '' } },
        newEpoch(copy, 'started', settled(state)),
      ],
      { settle: true },
    );
    return Session.open(this.parts, log, id);
  }

  /** Writes something down that no model sees. */
  async remark(key: string, value: Json): Promise<void> {
    await this.#head.record([{ type: 'annotation-added', key, value }]);
  }

  /** Writes down together what belongs together, decided from the state at the moment of writing. */
  async record(facts: (state: RunState) => readonly Fact[]): Promise<void> {
    await this.#head.record(facts, { settle: true });
  }

  /** Lets go of the log. */
  async close(): Promise<void> {
    this.cancel();
    await this.#head.log.close();
  }

  #newRun({ limits, choice, runId }: RunOptions): Fact {
    return {
      type: 'run-started',
      run: runId ?? randomUUID(),
      limits: limitsFor(this.parts.provider, limits),
      ...(choice === undefined ? {} : { choice }),
    };
  }

  #mustWait(call: string): Ask {
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

const input = (how: InputHow, parts: readonly Part[], id: string = randomUUID().slice(0, 8)): Fact => ({
  type: 'input-received',
  input: id,
  how,
  parts,
});

const partsOf = (words: Words): readonly Part[] =>
  typeof words === 'string' ? [{ type: 'text', text: words }] : words;

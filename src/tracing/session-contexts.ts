// Where the spans of a session belong, known as soon as an event is recorded: requests carry the context of their span before the spans are built.
import type { Event, TraceContext } from '../core/index.ts';
import { parseSubagentMetadata } from '../agent/subagents/index.ts';
import type { TraceBuilderOptions } from './builder-options.ts';
import { createTraceId, getPlanParent, getRemoteParent, NameHash, type SpanContext } from './ids.ts';

type PlaceOptions = Pick<TraceBuilderOptions, 'session' | 'findParent' | 'sample'>;
/** The trace of a run, and the span above it. */
type RunOrigin = Omit<SpanContext, 'spanId'> & {
  readonly parentId: string | undefined;
  /** The parent is a span of another program. */
  readonly hasRemoteParent: boolean;
};

/** The hashes of what the names of the spans of a session begin with. */
type SessionHashes = { readonly run: NameHash; readonly turn: NameHash; readonly model: NameHash };

/** A run of a session. Its span context is derived when it is first needed. */
export class RunSpanContexts {
  readonly run: string;
  /** The key of the tool call that started the session, if it is that of a sub-agent. */
  readonly parentKey: string | undefined;
  readonly #options: PlaceOptions;
  readonly #trace: TraceContext | undefined;
  #origin: RunOrigin | undefined;
  #context: SpanContext | undefined;
  readonly #hashes: SessionHashes;
  /** The hashes of the names of turns and of their model calls, without the number of the turn. */
  #turnHash: NameHash | undefined;
  #modelHash: NameHash | undefined;

  constructor(
    options: PlaceOptions,
    hashes: SessionHashes,
    run: string,
    trace: TraceContext | undefined,
    parentKey: string | undefined,
  ) {
    this.#options = options;
    this.#hashes = hashes;
    this.run = run;
    this.#trace = trace;
    this.parentKey = parentKey;
  }

  /** The context of the span of the run. */
  get context(): SpanContext {
    return (this.#context ??= this.getContext(this.#hashes.run.add(this.run).toSpanId()));
  }

  /** The trace of the run, and the span above it. */
  get origin(): RunOrigin {
    return (this.#origin ??= this.#derive());
  }

  /** The context of a turn. */
  getTurnContext(turn: number): SpanContext {
    this.#turnHash ??= this.#hashes.turn.add(this.run);
    return this.getContext(this.#turnHash.addNumber(turn).toSpanId());
  }

  /** The context of the model call of a turn. */
  getModelContext(turn: number): SpanContext {
    this.#modelHash ??= this.#hashes.model.add(this.run);
    return this.getContext(this.#modelHash.addNumber(turn).toSpanId());
  }

  /** The context of a span in the trace of the run. */
  getContext(spanId: string): SpanContext {
    const { traceId, isSampled, tracestate } = this.origin;
    return tracestate === undefined ? { traceId, spanId, isSampled } : { traceId, spanId, isSampled, tracestate };
  }

  #derive(): RunOrigin {
    const { session, findParent, sample } = this.#options;
    const { run, parentKey } = this;
    const remote = this.#trace && getRemoteParent(this.#trace);
    const tool = parentKey === undefined ? undefined : findParent?.(parentKey);
    const plan = getPlanParent(run);
    const parent = tool ?? remote;
    const traceId = parent?.traceId ?? createTraceId(plan?.root ?? session, plan?.root ?? run);
    return {
      traceId,
      isSampled: sample ? sample(traceId, parent) : parent?.isSampled !== false,
      ...(parent?.tracestate === undefined ? {} : { tracestate: parent.tracestate }),
      parentId: tool?.spanId ?? plan?.spanId ?? remote?.spanId,
      hasRemoteParent: !tool && !plan && remote !== undefined,
    };
  }
}

/** An event that starts a run. */
export type RunStart = Event & { readonly type: 'run-started' };

/** Follows the events of one session. */
export class SessionContexts {
  readonly #options: PlaceOptions;
  readonly #hashes: SessionHashes;
  #parentKey: string | undefined;
  #run: RunSpanContexts | undefined;
  /** The run of an event that was not added when its context was needed. */
  #prepared: { readonly event: RunStart; readonly run: RunSpanContexts } | undefined;
  /** The turn whose model call is active. */
  #turn: number | undefined;

  constructor(options: PlaceOptions) {
    this.#options = options;
    const hash = NameHash.of(options.session);
    this.#hashes = { run: hash.add('run'), turn: hash.add('turn'), model: hash.add('model') };
  }

  /** The run that the last event belongs to. */
  get run(): RunSpanContexts | undefined {
    return this.#run;
  }

  /** Returns the run of an event that is added later. Undefined for a sub-agent: the call that started it may not be known yet. */
  prepare(event: RunStart): RunSpanContexts | undefined {
    if (this.#parentKey !== undefined) return undefined;
    if (this.#prepared?.event !== event) this.#prepared = { event, run: this.#createRun(event) };
    return this.#prepared.run;
  }

  /** The context of the active model call. */
  get request(): SpanContext | undefined {
    return this.#turn === undefined ? undefined : this.#run?.getModelContext(this.#turn);
  }

  /** Adds an event, and returns the run that it belongs to. `run` is the active run of the session, for an instance that starts in the middle of it. */
  on(event: Event, run: string | undefined): RunSpanContexts | undefined {
    const { type } = event;
    if (type === 'run-ended') return this.#endRun();
    if (type === 'run-started') {
      this.#turn = undefined;
      this.#run = this.#prepared?.event === event ? this.#prepared.run : this.#createRun(event);
      this.#prepared = undefined;
      return this.#run;
    }
    if (type === 'turn-started') this.#turn = event.turn;
    if (type === 'turn-ended' || type === 'turn-failed') this.#turn = undefined;
    if (type === 'annotation-added') this.#parentKey = parseSubagentMetadata(event)?.key ?? this.#parentKey;
    if (run !== undefined)
      this.#run ??= new RunSpanContexts(this.#options, this.#hashes, run, undefined, this.#parentKey);
    return this.#run;
  }

  #createRun({ run, trace }: RunStart): RunSpanContexts {
    return new RunSpanContexts(this.#options, this.#hashes, run, trace, this.#parentKey);
  }

  #endRun(): RunSpanContexts | undefined {
    const ended = this.#run;
    [this.#run, this.#turn] = [undefined, undefined];
    return ended;
  }
}

// Folds the events of one session into spans: the one implementation for live traces, for exports after the fact and for screens.
import { isObject, parseRetryNotice, unwrapDeferredCall, type Event, type Json } from '../core/index.ts';
import { parseSubagentMetadata } from '../agent/subagents/index.ts';
import { emitCheck } from './check-span.ts';
import { GateSpans, type GateOwner } from './gate-spans.ts';
import { toolSpanId } from './ids.ts';
import { parseTime } from './parse-time.ts';
import type { ModelInfo, TraceBuilderOptions } from './builder-options.ts';
import { PlanSpans } from './plan-spans.ts';
import { SessionContexts, type RunSpanContexts } from './session-contexts.ts';
import type { Span, SpanDetails } from './span.ts';
import { SpanRecorder, toCostDetails, toSpan, type SpanDraft, type SpanFailure } from './span-recorder.ts';

const mcpPrefix = /^mcp__((?:(?!__).){1,64})__/;

/** Builds the spans of one session from its events in the order written. */
export class TraceBuilder {
  readonly #contexts: SessionContexts;
  readonly #recorder: SpanRecorder;
  readonly #gates: GateSpans;
  readonly #plan: PlanSpans;
  readonly #tools = new Map<string, SpanDraft>();
  /** The calls of the last answer, by id. */
  #calls = new Map<string, { readonly tool: string; readonly input: Json }>();
  #model: ModelInfo;
  #run: SpanDraft | undefined;
  #runContexts: RunSpanContexts | undefined;
  #turn: SpanDraft | undefined;
  #request: SpanDraft | undefined;
  #isCompacted = false;
  #lastTime = 0;

  constructor(options: TraceBuilderOptions) {
    this.#contexts = new SessionContexts(options);
    this.#recorder = new SpanRecorder(options);
    this.#recorder.agent = options.agent ?? 'fairlead';
    this.#gates = new GateSpans(this.#recorder);
    this.#plan = new PlanSpans(this.#recorder);
    this.#model = options.model ?? { model: '' };
  }

  /** Whether nothing is active. */
  get isIdle(): boolean {
    return this.open.length === 0;
  }

  /** The spans that have not ended. */
  get open(): readonly Span[] {
    const drafts = [this.#run, this.#turn, this.#request, ...this.#tools.values(), ...this.#gates.open];
    return [...this.#plan.open, ...drafts].flatMap((draft) => (draft ? [toSpan(draft)] : []));
  }

  /** Adds an event; `run` is the active run of the session, for a builder that starts in the middle of it. */
  on(event: Event, run?: string): void {
    this.build(event, this.#contexts.on(event, run));
  }

  /** Adds an event of a run whose span context is known. */
  build(event: Event, run: RunSpanContexts | undefined): void {
    const time = parseTime(event.time);
    if (run && event.type !== 'run-started' && event.type !== 'run-ended' && !this.#run) this.#startRun(run, time);
    this.#recorder.content?.on(event);
    this.#apply(event, time, run);
    this.#lastTime = time;
  }

  #apply(event: Event, time: number, run: RunSpanContexts | undefined): void {
    switch (event.type) {
      case 'epoch-started':
        return this.#startEpoch(event, time);
      case 'compaction-failed':
        return this.#emitCompaction(event, time, { error: 'compaction-failed', errorMessage: event.why });
      case 'run-started':
        this.#endRun(this.#lastTime || time, { error: 'interrupted' });
        return run && this.#startRun(run, time);
      case 'turn-started':
        return this.#startTurn(event.turn, time);
      case 'turn-ended':
        return this.#endRequest(event, time);
      case 'turn-failed':
        return this.#failTurn(event, time);
      case 'answer-rejected':
        this.#turn?.events.push({ name: 'answer-rejected', time, attributes: { reason: event.why } });
        return undefined;
      case 'approval-requested':
        return event.kind === 'client-tool' ? undefined : this.#gates.ask(event, time, this.#owner);
      case 'approval-resolved':
        return this.#gates.resolve(event, time);
      case 'tool-started':
        return this.#startTool(event, time);
      case 'tool-ended':
        return this.#endTool(event, time);
      case 'check-ended':
        this.#endTurn(this.#lastTime);
        return emitCheck(this.#recorder, this.#run, event, this.#lastTime);
      case 'run-ended': {
        const { reason, error } = event;
        const failure = error ? { error: error.code, errorMessage: error.message } : {};
        return this.#endRun(time, failure, { stopReason: reason });
      }
      case 'annotation-added':
        return this.#annotate(event, time);
      case 'session-started':
      case 'branch-started':
      case 'input-received':
        return undefined;
    }
  }

  #startEpoch(event: Event & { type: 'epoch-started' }, time: number): void {
    const { model, modelProvider, modelHost, reason } = event;
    this.#model = {
      model,
      ...(modelProvider === undefined ? {} : { provider: modelProvider }),
      ...(modelHost === undefined ? {} : { host: modelHost }),
    };
    if (reason !== 'compacted') return;
    this.#isCompacted = true;
    this.#emitCompaction(event, time);
  }

  #startRun(run: RunSpanContexts, time: number): void {
    const { context, origin, parentKey } = run;
    const { model, provider } = this.#model;
    const details = {
      run: run.run,
      ...(model === '' ? {} : { requestModel: model }),
      ...(provider === undefined ? {} : { provider }),
      ...(parentKey === undefined ? {} : { isSubagent: true }),
    };
    const { agent: name } = this.#recorder;
    const { parentId, hasRemoteParent } = origin;
    this.#runContexts = run;
    this.#run = this.#recorder.start({ kind: 'run', name, context, parentId, start: time, details });
    if (hasRemoteParent) this.#run.span.hasRemoteParent = true;
  }

  #endRun(time: number, failure: SpanFailure, details: SpanDetails = {}): void {
    if (!this.#run) return;
    for (const tool of this.#tools.values()) this.#recorder.end(tool, time, { error: 'interrupted' });
    this.#tools.clear();
    this.#gates.end(time);
    this.#recorder.end(this.#request, time, { error: 'interrupted' });
    this.#request = undefined;
    this.#endTurn(this.#lastTime);
    this.#recorder.end(this.#run, time, failure, details);
    this.#run = undefined;
  }

  #startTurn(turn: number, time: number): void {
    this.#endTurn(this.#lastTime);
    const [run, contexts] = [this.#run, this.#runContexts];
    if (!run || !contexts) return;
    this.#turn = this.#recorder.start({
      kind: 'turn',
      name: `turn ${turn}`,
      context: contexts.getTurnContext(turn),
      parentId: run.context.spanId,
      start: time,
      details: { turn },
    });
    const { model, provider, host } = this.#model;
    this.#request = this.#recorder.start({
      kind: 'model',
      name: model,
      context: contexts.getModelContext(turn),
      parentId: this.#turn.context.spanId,
      start: time,
      details: {
        turn,
        requestModel: model,
        ...(provider === undefined ? {} : { provider }),
        ...(host === undefined ? {} : { host }),
        ...(this.#isCompacted ? { isCompacted: true } : {}),
      },
    });
    this.#calls = new Map();
  }

  #endTurn(time: number, failure: SpanFailure = {}): void {
    this.#recorder.end(this.#turn, time, failure);
    this.#turn = undefined;
  }

  #endRequest(event: Event & { type: 'turn-ended' }, time: number): void {
    const { model, finishReason, usage, usd, estimated, message } = event;
    for (const part of message.parts)
      if (part.type === 'tool-call') {
        const target = unwrapDeferredCall(part);
        this.#calls.set(part.id, typeof target === 'string' ? part : target);
      }
    const cost = { usage, ...(usd === undefined ? {} : { usd }), ...(estimated ? { isEstimated: true } : {}) };
    this.#recorder.end(this.#request, time, {}, { responseModel: model, finishReason, ...cost });
    this.#request = undefined;
  }

  #failTurn({ error, usage, usd }: Event & { type: 'turn-failed' }, time: number): void {
    const cost = { ...(usage ? { usage } : {}), ...(usd === undefined ? {} : { usd, isEstimated: true }) };
    this.#recorder.end(this.#request, time, { error: error.code, errorMessage: error.message }, cost);
    this.#request = undefined;
    this.#endTurn(time, { error: error.code });
  }

  #startTool(event: Event & { type: 'tool-started' }, time: number): void {
    const { call, tool, key, input } = event;
    const asked = this.#calls.get(call);
    if (input !== undefined && asked) this.#gates.modify(event, time, this.#owner);
    this.#recorder.content?.startCall(call, input ?? asked?.input);
    const server = mcpPrefix.exec(tool)?.[1];
    this.#tools.set(
      call,
      this.#draftTool(tool, key, time, { call, key, ...(server === undefined ? {} : { mcpServer: server }) }),
    );
  }

  #draftTool(tool: string, key: string, start: number, details: SpanDetails): SpanDraft {
    const context = this.#recorder.contextIn(this.#run, toolSpanId(key));
    const { parentId } = this.#owner;
    return this.#recorder.start({ kind: 'tool', name: tool, context, parentId, start, details: { tool, ...details } });
  }

  #endTool(event: Event & { type: 'tool-ended' }, time: number): void {
    const { call, outcome, ms, text, id } = event;
    const failure = outcome === 'ok' ? {} : { error: outcome, errorMessage: text };
    const draft = this.#tools.get(call);
    this.#tools.delete(call);
    if (!draft && outcome === 'denied') return this.#gates.deny(event, time, this.#owner);
    const tool =
      draft ?? this.#draftTool(this.#calls.get(call)?.tool ?? '', `${this.#recorder.session}/${id}`, time, { call });
    // The results of parallel calls are recorded in the order of the calls: the measured time says when a call ended.
    const end = draft && ms > 0 ? Math.min(time, draft.span.start + ms) : time;
    this.#recorder.end(tool, end, failure, { outcome });
  }

  #emitCompaction(event: CompactionEvent, time: number, failure: SpanFailure = {}): void {
    this.#endTurn(this.#lastTime);
    const { id, spent } = event;
    const context = this.#recorder.contextIn(this.#run, this.#recorder.createId('compaction', id));
    const parentId = this.#run?.context.spanId;
    const start = spent?.ms === undefined ? this.#lastTime || time : time - spent.ms;
    const details = toCostDetails(spent);
    this.#recorder.end(
      this.#recorder.start({ kind: 'compaction', name: 'compaction', context, parentId, start, details }),
      time,
      failure,
    );
  }

  #annotate(event: Event & { type: 'annotation-added' }, time: number): void {
    if (parseSubagentMetadata(event)) this.#recorder.agent = 'subagent';
    const retry = parseRetryNotice(event);
    if (retry) {
      const code = retry.code === undefined ? {} : { code: retry.code };
      this.#request?.events.push({ name: 'retry', time, attributes: { attempt: retry.attempt, ...code } });
    }
    const { key, value, spent, id } = event;
    if (key === 'plan' && isObject(value) && Array.isArray(value['steps']))
      this.#plan.update(value['steps'], value['trace'], time);
    if (!spent) return;
    const context = this.#recorder.contextIn(this.#run, this.#recorder.createId('request', id));
    const details = { ...(typeof value === 'string' ? { requestModel: value } : {}), ...toCostDetails(spent) };
    const { parentId } = this.#owner;
    const start = time - (spent.ms ?? 0);
    this.#recorder.end(this.#recorder.start({ kind: 'request', name: key, context, parentId, start, details }), time);
  }

  get #owner(): GateOwner {
    return { run: this.#run, parentId: (this.#turn ?? this.#run)?.context.spanId, calls: this.#calls };
  }
}

type CompactionEvent = Event & { type: 'epoch-started' | 'compaction-failed' };

// The spans of gate decisions: questions to the user, denials and rewritten calls.
import type { Event, Json } from '../core/index.ts';
import type { GateDetails } from './span.ts';
import type { SpanDraft, SpanRecorder } from './span-recorder.ts';

/** Where a gate span belongs: the run, the span above it, and the calls of the last answer by id. */
export type GateOwner = {
  readonly run: SpanDraft | undefined;
  readonly parentId: string | undefined;
  readonly calls: ReadonlyMap<string, { readonly tool: string; readonly input: Json }>;
};

/** The gate decisions of one session. */
export class GateSpans {
  readonly #recorder: SpanRecorder;
  readonly #asked = new Map<string, SpanDraft>();
  /** Calls that the user rejected: their denial is part of the span of the question. */
  readonly #rejected = new Set<string>();

  constructor(recorder: SpanRecorder) {
    this.#recorder = recorder;
  }

  /** The questions that have no answer yet. */
  get open(): readonly SpanDraft[] {
    return [...this.#asked.values()];
  }

  /** A gate asks the user. */
  ask({ call, by, id }: Event & { type: 'approval-requested' }, time: number, owner: GateOwner): void {
    const { kind = 'permission', name } = by ?? {};
    const gate: GateDetails = { component: kind, ...(name === undefined ? {} : { name }), verdict: 'escalate' };
    this.#asked.set(call, this.#start(call, id, time, gate, owner));
  }

  /** The user has answered. */
  resolve({ call, allowed, by, reason }: Event & { type: 'approval-resolved' }, time: number): void {
    const draft = this.#asked.get(call);
    if (!draft?.details.gate) return;
    this.#asked.delete(call);
    if (!allowed) this.#rejected.add(call);
    const answered = { action: allowed ? 'allow' : 'block', ...(by === undefined ? {} : { by }) } as const;
    this.#recorder.content?.explain(draft.context.spanId, reason);
    this.#recorder.end(draft, time, {}, { gate: { ...draft.details.gate, ...answered } });
  }

  /** A call was denied before it started. */
  deny(event: Event & { type: 'tool-ended' }, time: number, owner: GateOwner): void {
    if (this.#rejected.delete(event.call)) return;
    const { kind = 'harness', name } = event.deniedBy ?? {};
    const gate = {
      component: kind,
      ...(name === undefined ? {} : { name }),
      verdict: 'deny',
      action: 'block',
    } as const;
    this.#emit(event.call, event.id, time, gate, owner, event.text);
  }

  /** A gate changed the arguments of a call. */
  modify({ call, id }: Event & { type: 'tool-started' }, time: number, owner: GateOwner): void {
    this.#emit(call, id, time, { component: 'harness', verdict: 'modify', action: 'modify' }, owner);
  }

  /** Ends the questions that a run leaves open. */
  end(time: number): void {
    for (const draft of this.#asked.values()) this.#recorder.end(draft, time, { error: 'unanswered' });
    this.#asked.clear();
    this.#rejected.clear();
  }

  #emit(call: string, id: string, time: number, gate: GateDetails, owner: GateOwner, why?: string): void {
    const draft = this.#start(call, id, time, gate, owner);
    this.#recorder.content?.explain(draft.context.spanId, why);
    this.#recorder.end(draft, time);
  }

  #start(call: string, id: string, time: number, gate: GateDetails, { run, parentId, calls }: GateOwner): SpanDraft {
    const tool = calls.get(call)?.tool;
    return this.#recorder.start({
      kind: 'gate',
      name: gate.name ?? gate.component,
      context: this.#recorder.contextIn(run, this.#recorder.createId('gate', id)),
      parentId,
      start: time,
      details: { call, gate, ...(tool === undefined ? {} : { tool }) },
    });
  }
}

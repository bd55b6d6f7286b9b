// The spans of a plan and its steps. The session of a plan records all steps whenever the status of one changes.
import { isObject, parseTraceparent } from '../core/index.ts';
import { createTraceId, stepSpanId, workflowSpanId } from './ids.ts';
import type { SpanDraft, SpanRecorder } from './span-recorder.ts';

/** The plan of one session. */
export class PlanSpans {
  readonly #recorder: SpanRecorder;
  readonly #steps = new Map<string, SpanDraft>();
  #workflow: SpanDraft | undefined;

  constructor(recorder: SpanRecorder) {
    this.#recorder = recorder;
  }

  /** The plan and the steps that have not ended. */
  get open(): readonly SpanDraft[] {
    const steps = [...this.#steps.values()].filter(({ span }) => span.end === undefined);
    return this.#workflow ? [this.#workflow, ...steps] : [];
  }

  /** Records the steps as they are now; `trace` is that of the request that queued the plan. */
  update(steps: readonly unknown[], trace: unknown, time: number): void {
    const { session } = this.#recorder;
    const remote = isObject(trace) ? parseTraceparent(trace['traceparent']) : undefined;
    const context = {
      traceId: remote?.traceId ?? createTraceId(session, session),
      spanId: workflowSpanId(session),
      isSampled: remote?.isSampled !== false,
    };
    const parentId = remote?.spanId;
    this.#workflow ??= this.#recorder.start({
      kind: 'workflow',
      name: 'plan',
      context,
      parentId,
      start: time,
    });
    let isActive = false;
    for (const step of steps) {
      const { id, status } = isObject(step) ? step : {};
      if (typeof id !== 'string' || typeof status !== 'string') continue;
      isActive ||= status === 'waiting' || isBeingDone(status);
      // A step that another revision replaced before it started has no span.
      if (status !== 'waiting' && (status !== 'replaced' || this.#steps.has(id)))
        this.#updateStep(id, status, time, this.#workflow);
    }
    // Without steps there is no plan yet.
    if (isActive || steps.length === 0) return;
    this.#recorder.end(this.#workflow, time);
    this.#workflow = undefined;
    this.#steps.clear();
  }

  #updateStep(id: string, status: string, time: number, workflow: SpanDraft): void {
    const known = this.#steps.get(id);
    if (known?.span.end !== undefined) return;
    const draft =
      known ??
      this.#recorder.start({
        kind: 'step',
        name: id,
        context: this.#recorder.contextIn(workflow, stepSpanId(this.#recorder.session, id)),
        parentId: workflow.context.spanId,
        start: time,
      });
    this.#steps.set(id, draft);
    if (isBeingDone(status)) return;
    this.#recorder.end(draft, time, status === 'done' ? {} : { error: status }, { step: { id, status } });
  }
}

const isBeingDone = (status: string): boolean => status === 'under-way' || status === 'verifying';

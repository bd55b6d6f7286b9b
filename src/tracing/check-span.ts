// The span of a check of an answer, with the result as an event of the conventions.
import type { Event } from '../core/index.ts';
import type { SpanDraft, SpanRecorder } from './span-recorder.ts';

/** Records the span of a check that has ended. In logs without its duration it starts with the event before it, at `lastTime`. */
export function emitCheck(
  recorder: SpanRecorder,
  run: SpanDraft | undefined,
  { check, verdict, ms, id, time: ended }: Event & { type: 'check-ended' },
  lastTime: number,
): void {
  const time = Date.parse(ended);
  const unconfirmed = verdict.type === 'abstained' ? undefined : verdict.claims?.length;
  const details = { name: check, verdict: verdict.type, ...(unconfirmed === undefined ? {} : { unconfirmed }) };
  const draft = recorder.start({
    kind: 'check',
    name: check,
    context: recorder.contextIn(run, recorder.createId('check', id)),
    parentId: run?.context.spanId,
    start: ms === undefined ? lastTime : time - ms,
    details: { check: details },
  });
  const value = verdict.type === 'passed' ? 1 : 0;
  draft.events.push({ name: 'evaluation', time, attributes: { name: check, value, label: verdict.type } });
  if (verdict.type !== 'passed') recorder.content?.explain(draft.context.spanId, verdict.why);
  recorder.end(draft, time, verdict.type === 'failed' ? { error: 'check-failed' } : {});
}

// Exports the spans of recorded sessions after the fact, with the same queue and the same ids as while they ran.
import type { TracingOptions } from './options.ts';
import type { ExportCounts } from './otlp/exporter.ts';
import type { Span } from './span.ts';
import { createConversion, createSpanQueue } from './tracer.ts';

/** Where and how recorded spans are exported. */
export type ExportSpansOptions = {
  readonly options: TracingOptions;
  readonly version: string;
  /** Removes secrets from texts; without it texts are not exported. */
  readonly redact?: (text: string) => string;
  /** The max time of the whole export; 60 seconds by default. */
  readonly deadlineMs?: number;
  /** The first delay after a failed attempt, which doubles; 500 by default. */
  readonly backoffMs?: number;
};

/** Sends spans that have ended, and says what was delivered and why the rest was not. */
export async function exportSpans(
  spans: readonly Span[],
  { options, version, redact, deadlineMs = 60_000, backoffMs = 500 }: ExportSpansOptions,
): Promise<ExportCounts & { readonly problem?: string }> {
  const { traces } = options;
  if (!traces) return { added: 0, delivered: 0, lost: 0, problem: 'no receiver of traces is configured' };
  const ended = spans.filter(({ end }) => end !== undefined);
  // All spans are in memory already, so that none is lost to the bound of the queue.
  const bounds = { maxQueue: ended.length, maxBatch: options.maxBatch, delayMs: 2 ** 30 };
  const queue = createSpanQueue(traces, bounds, createConversion(options, version, redact), {
    isPatient: true,
    backoffMs,
  });
  for (const span of ended) queue.add(span);
  const counts = await queue.flush(deadlineMs);
  return { ...counts, ...(counts.lost > 0 && queue.lastProblem !== undefined ? { problem: queue.lastProblem } : {}) };
}

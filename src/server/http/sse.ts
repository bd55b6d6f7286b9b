// Writes a server-sent event response as fast as the client reads it.
import type { ServerResponse } from 'node:http';
import { createHttpError } from './errors.ts';

/** Options of an event stream. */
export type SseOptions = {
  readonly signal: AbortSignal;
  /** Milliseconds between keep-alive comments; default 15 seconds. */
  readonly pingMs?: number;
  /** Milliseconds after which a client that reads nothing is disconnected; default 30 seconds. */
  readonly stallMs?: number;
  /** Returns a comment to send last if the signal aborts. */
  readonly closingComment?: () => string | undefined;
};

/** The response headers of an event stream. */
export const sseHeaders: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
};

/** Writes texts until there are no more or the client disconnects. At most one write waits in memory for a slow client. */
export async function sendSse(
  outgoing: ServerResponse,
  texts: AsyncIterable<string>,
  { signal, pingMs = 15_000, stallMs = 30_000, closingComment }: SseOptions,
): Promise<void> {
  outgoing.writeHead(200);
  outgoing.flushHeaders();
  const ping = setInterval(() => {
    if (outgoing.writableLength === 0) outgoing.write(': ping\n\n');
  }, pingMs).unref();
  try {
    for await (const text of texts) {
      if (outgoing.destroyed) return;
      if (!outgoing.write(text) && !(await waitForDrain(outgoing, stallMs))) return void outgoing.destroy();
    }
    const comment = signal.aborted ? closingComment?.() : undefined;
    if (!outgoing.destroyed) outgoing.end(comment === undefined ? '' : `: ${comment}\n\n`);
  } finally {
    clearInterval(ping);
  }
}

/** Waits until the written text is sent; false if the client disconnects or reads nothing for `stallMs`. */
function waitForDrain(outgoing: ServerResponse, stallMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => done(false), stallMs);
    const onDrain = (): void => done(true);
    const onClose = (): void => done(false);
    const done = (isDrained: boolean): void => {
      clearTimeout(timer);
      outgoing.off('drain', onDrain).off('close', onClose);
      resolve(isDrained);
    };
    outgoing.once('drain', onDrain).once('close', onClose);
  });
}

/** Returns the sequence number after which to resume: the `Last-Event-ID` header, or the query `from`. */
export function parseResumeSeq(lastEventId: string | undefined, from: number | undefined): number {
  if (lastEventId === undefined || lastEventId === '') return from ?? 0;
  if (!/^\d{1,15}$/.test(lastEventId))
    throw createHttpError('server/bad-request', 'Last-Event-ID must be the sequence number of an event.');
  return Number(lastEventId);
}

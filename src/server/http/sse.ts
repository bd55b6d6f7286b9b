// A stream of events to one client: written as fast as it reads and no faster, kept alive, and dropped where it does not read.
import type { ServerResponse } from 'node:http';
import { createHttpError } from './errors.ts';

/** How a stream is kept. */
export type SseOptions = {
  readonly signal: AbortSignal;
  /** Milliseconds between signs of life; 15 seconds unless given. */
  readonly pingMs?: number;
  /** Milliseconds for which a client may read nothing of what waits for it; 30 seconds unless given. */
  readonly stallMs?: number;
  /** Said at the end where the server ends. */
  readonly closingComment?: () => string | undefined;
};

/** The headers of a stream of events. */
export const sseHeaders: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
};

/** A frame of a stream of events. */
export const formatSseFrame = (event: string, data: unknown, id?: number): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

/** Writes frames until there are no more or the client has gone. Nothing waits in memory for a client that does not read. */
export async function sendSseFrames(
  outgoing: ServerResponse,
  frames: AsyncIterable<string>,
  { signal, pingMs = 15_000, stallMs = 30_000, closingComment }: SseOptions,
): Promise<void> {
  outgoing.writeHead(200);
  outgoing.flushHeaders();
  const ping = setInterval(() => {
    if (outgoing.writableLength === 0) outgoing.write(': still here\n\n');
  }, pingMs).unref();
  try {
    for await (const frame of frames) {
      if (outgoing.destroyed) return;
      if (!outgoing.write(frame) && !(await waitForDrain(outgoing, stallMs))) return void outgoing.destroy();
    }
    const last = signal.aborted ? closingComment?.() : undefined;
    if (!outgoing.destroyed) outgoing.end(last === undefined ? '' : `: ${last}\n\n`);
  } finally {
    clearInterval(ping);
  }
}

/** Waits until what was written is on its way; false where the client has gone or does not read. */
function waitForDrain(outgoing: ServerResponse, stallMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const late = setTimeout(() => done(false), stallMs);
    const onDrain = (): void => done(true);
    const onClose = (): void => done(false);
    const done = (is: boolean): void => {
      clearTimeout(late);
      outgoing.off('drain', onDrain).off('close', onClose);
      resolve(is);
    };
    outgoing.once('drain', onDrain).once('close', onClose);
  });
}

/** The seq after which a client wants to go on: what it saw last, or what it asks for. */
export function parseResumeSeq(lastEventId: string | undefined, from: number | undefined): number {
  if (lastEventId === undefined || lastEventId === '') return from ?? 0;
  if (!/^\d{1,15}$/.test(lastEventId))
    throw createHttpError('server/bad-request', 'Last-Event-ID has to be the seq of an event.');
  return Number(lastEventId);
}

// Follows a stream of the server to its end: comes back after a break where it left off, so that no event is lost or seen twice.
import { ApiError, send } from './api.ts';
import { lost, untilBack } from './connection.ts';
import { sseReader, type SseMessage } from './sse.ts';

/** What a stream is followed with. `broken` is told when it broke off and is about to be taken up again. */
export type Following = {
  readonly signal: AbortSignal;
  /** The last event that is known already. */
  readonly after?: number;
  readonly seen: (message: SseMessage) => void;
  readonly broken?: () => void;
};

/** The server says something at least every 15 seconds; after three times that, the line is dead. */
const silence = 45_000;

/** Follows until the stream says `end` or the signal aborts; fails where the server refuses. */
export async function follow(path: string, following: Following): Promise<void> {
  let last = following.after === undefined ? undefined : String(following.after);
  for (let tries = 0; !following.signal.aborted; tries++) {
    const outcome = await readOnce(path, last, following, (id) => {
      last = id;
      tries = 0;
    });
    if (outcome === 'ended') return;
    following.broken?.();
    await untilBack(following.signal);
    await pause(Math.min(200 * 2 ** tries, 5000), following.signal);
  }
}

async function readOnce(
  path: string,
  last: string | undefined,
  { signal, seen }: Following,
  moved: (id: string | undefined) => void,
): Promise<'ended' | 'broke'> {
  const cut = new AbortController();
  const either = AbortSignal.any([signal, cut.signal]);
  let timer = setTimeout(() => cut.abort(), silence);
  try {
    const headers = { accept: 'text/event-stream', ...(last === undefined ? {} : { 'last-event-id': last }) };
    const { body } = await send('GET', path, undefined, { headers, signal: either });
    const read = sseReader();
    for await (const text of (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
      clearTimeout(timer);
      timer = setTimeout(() => cut.abort(), silence);
      for (const message of read(text)) {
        moved(message.id ?? last);
        seen(message);
        if (message.event === 'end') return 'ended';
      }
    }
    return 'broke';
  } catch (error) {
    if (signal.aborted) return 'ended';
    // Only what trying again can mend is tried again.
    if (error instanceof ApiError && error.status !== 0 && error.status !== 429 && error.status < 500) throw error;
    if (!(error instanceof ApiError)) lost();
    return 'broke';
  } finally {
    clearTimeout(timer);
    cut.abort();
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((done) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      done();
    });
  });
}

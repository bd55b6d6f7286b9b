// Follows an event stream to its end, and resumes after a disconnect without gaps or duplicates.
import { ApiError, sendRequest } from './client.ts';
import { markOffline, waitUntilOnline } from './connection.ts';
import { createSseParser, type SseMessage } from './sse.ts';

/** The callbacks of a stream. `onDisconnect` is called on a disconnect, before the reconnect. */
export type FollowOptions = {
  readonly signal: AbortSignal;
  /** The id of the last known event. */
  readonly afterSeq?: number;
  readonly onMessage: (message: SseMessage) => void;
  readonly onDisconnect?: () => void;
};

/** The server sends data at least every 15 seconds; after three times that, the connection is dead. */
const silenceTimeoutMs = 45_000;

/** Follows until the event `end` or until the signal aborts; throws if the server refuses. */
export async function followStream(path: string, following: FollowOptions): Promise<void> {
  let last = following.afterSeq === undefined ? undefined : String(following.afterSeq);
  for (let tries = 0; !following.signal.aborted; tries++) {
    const outcome = await readStream(path, last, following, (id) => {
      last = id;
      tries = 0;
    });
    if (outcome === 'ended') return;
    following.onDisconnect?.();
    await waitUntilOnline(following.signal);
    await sleep(Math.min(200 * 2 ** tries, 5000), following.signal);
  }
}

async function readStream(
  path: string,
  last: string | undefined,
  { signal, onMessage }: FollowOptions,
  moved: (id: string | undefined) => void,
): Promise<'ended' | 'broke'> {
  const cut = new AbortController();
  const either = AbortSignal.any([signal, cut.signal]);
  let timer = setTimeout(() => cut.abort(), silenceTimeoutMs);
  try {
    const headers = { accept: 'text/event-stream', ...(last === undefined ? {} : { 'last-event-id': last }) };
    const { body } = await sendRequest('GET', path, undefined, { headers, signal: either });
    const read = createSseParser();
    for await (const text of (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
      clearTimeout(timer);
      timer = setTimeout(() => cut.abort(), silenceTimeoutMs);
      for (const message of read(text)) {
        moved(message.id ?? last);
        onMessage(message);
        if (message.event === 'end') return 'ended';
      }
    }
    return 'broke';
  } catch (error) {
    if (signal.aborted) return 'ended';
    // Only errors that a retry can fix are retried.
    if (error instanceof ApiError && error.status !== 0 && error.status !== 429 && error.status < 500) throw error;
    if (!(error instanceof ApiError)) markOffline();
    return 'broke';
  } finally {
    clearTimeout(timer);
    cut.abort();
  }
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((done) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      done();
    });
  });
}

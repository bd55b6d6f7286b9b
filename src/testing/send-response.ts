// Sends an HTTP response, complete and at once, or with the requested transport failures.
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';

/** A response ready to be sent. */
export type OutgoingResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The body in chunks. */
  readonly parts: readonly string[];
  /** The raw body, if it is not text. */
  readonly bytes?: Uint8Array;
  /** Sends nothing, not even the status. */
  readonly silent?: boolean;
  readonly beforeMs?: number;
  readonly firstByteMs?: number;
  readonly partMs?: number;
  readonly stall?: { readonly at: number; readonly ms: number };
  readonly cutAt?: number;
  readonly splitEvery?: number;
  readonly gzip?: 'whole' | 'broken' | 'cut';
  /** What happens after the last chunk. */
  readonly ending: 'end' | 'cut' | 'hang';
};

const batchBytes = 64 * 1024;

/** Sends the response; returns true if it was sent completely. */
export async function sendResponse(
  reply: OutgoingResponse,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<boolean> {
  const { beforeMs, firstByteMs, partMs, ending } = reply;
  try {
    if (reply.silent) return await waitForAbort(signal);
    if (beforeMs) await sleep(beforeMs, undefined, { signal });
    const plain = reply.splitEvery === undefined && reply.cutAt === undefined && !reply.stall && !reply.gzip;
    if (plain && ending === 'end' && !firstByteMs && !partMs) return await sendAtOnce(reply, response);
    response.writeHead(reply.status, reply.gzip ? { ...reply.headers, 'content-encoding': 'gzip' } : reply.headers);
    response.flushHeaders();
    if (firstByteMs) await sleep(firstByteMs, undefined, { signal });
    const cut = partMs
      ? await sendWithPauses(reply, partMs, response, signal)
      : await writeWithFailures(reply, response, signal);
    if (ending === 'hang') return await waitForAbort(signal);
    if (cut || ending === 'cut') response.socket?.destroy();
    else response.end();
    return !cut && ending === 'end';
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}

/** The fast path: few writes, no timers, and a content length if it is known. */
async function sendAtOnce(
  { status, headers, parts, bytes }: OutgoingResponse,
  response: ServerResponse,
): Promise<boolean> {
  if (bytes || parts.length < 2) {
    const body = bytes ?? Buffer.from(parts[0] ?? '');
    response.writeHead(status, { ...headers, 'content-length': String(body.length) });
    response.end(body);
    return true;
  }
  response.writeHead(status, headers);
  let waiting = '';
  for (const part of parts) {
    waiting += part;
    if (waiting.length < batchBytes) continue;
    if (!response.write(waiting)) await waitForDrain(response);
    if (response.destroyed) return false;
    waiting = '';
  }
  response.end(waiting);
  return true;
}

function waitForDrain(response: ServerResponse): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const done = (): void => {
    response.off('drain', done).off('close', done);
    resolve();
  };
  response.on('drain', done).on('close', done);
  return promise;
}

/** Writes chunk by chunk with a delay before each. */
async function sendWithPauses(
  reply: OutgoingResponse,
  ms: number,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<boolean> {
  for (const part of reply.parts) {
    await sleep(ms, undefined, { signal });
    await writeBytes(response, Buffer.from(part));
    if (response.destroyed) return true;
  }
  return false;
}

/** Writes the body in steps that end at the requested failures; returns true if the body was truncated. */
async function writeWithFailures(
  reply: OutgoingResponse,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<boolean> {
  const body = encodeResponseBody(reply);
  const end = Math.min(body.length, reply.cutAt ?? body.length);
  const step = Math.max(1, reply.splitEvery ?? body.length);
  const stallAt = reply.stall?.at ?? -1;
  for (let at = 0; at < end;) {
    if (at === stallAt) await sleep(reply.stall?.ms ?? 0, undefined, { signal });
    const next = Math.min(end, at + step, at < stallAt ? stallAt : end);
    await writeBytes(response, body.subarray(at, next));
    if (response.destroyed) return true;
    at = next;
  }
  return end < body.length || reply.cutAt === body.length || reply.gzip === 'cut';
}

function encodeResponseBody({ parts, bytes, gzip }: OutgoingResponse): Uint8Array {
  const body = bytes ?? Buffer.from(parts.join(''));
  if (!gzip) return body;
  const packed = gzipSync(body);
  if (gzip === 'cut') return packed.subarray(0, Math.ceil(packed.length / 2));
  if (gzip === 'broken') packed.fill(0xff, 10, Math.min(packed.length, 24));
  return packed;
}

function writeBytes(response: ServerResponse, bytes: Uint8Array): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  response.write(bytes, () => resolve());
  return promise;
}

async function waitForAbort(signal: AbortSignal): Promise<false> {
  const { promise, resolve } = Promise.withResolvers<false>();
  signal.addEventListener('abort', () => resolve(false), { once: true });
  return signal.aborted ? false : promise;
}

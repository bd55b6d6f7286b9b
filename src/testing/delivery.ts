// Puts a reply on the wire, whole and at once, or with the faults that were asked for.
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';

/** A reply ready to be written. */
export type Reply = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The body in the pieces it is made of. */
  readonly parts: readonly string[];
  /** The body itself, where it is not text. */
  readonly bytes?: Uint8Array;
  /** Says nothing at all, not even the status. */
  readonly mute?: boolean;
  readonly beforeMs?: number;
  readonly firstByteMs?: number;
  readonly partMs?: number;
  readonly stall?: { readonly at: number; readonly ms: number };
  readonly cutAt?: number;
  readonly splitEvery?: number;
  readonly gzip?: 'whole' | 'broken' | 'cut';
  /** What comes after the last piece. */
  readonly ending: 'end' | 'cut' | 'hang';
};

const batch = 64 * 1024;

/** Writes the reply; true when it was written to its end. */
export async function deliver(reply: Reply, response: ServerResponse, signal: AbortSignal): Promise<boolean> {
  const { beforeMs, firstByteMs, partMs, ending } = reply;
  try {
    if (reply.mute) return await silence(signal);
    if (beforeMs) await sleep(beforeMs, undefined, { signal });
    const plain = reply.splitEvery === undefined && reply.cutAt === undefined && !reply.stall && !reply.gzip;
    if (plain && ending === 'end' && !firstByteMs && !partMs) return await deliverAtOnce(reply, response);
    response.writeHead(reply.status, reply.gzip ? { ...reply.headers, 'content-encoding': 'gzip' } : reply.headers);
    response.flushHeaders();
    if (firstByteMs) await sleep(firstByteMs, undefined, { signal });
    const cut = partMs ? await dribble(reply, partMs, response, signal) : await writeFaulty(reply, response, signal);
    if (ending === 'hang') return await silence(signal);
    if (cut || ending === 'cut') response.socket?.destroy();
    else response.end();
    return !cut && ending === 'end';
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}

/** The fast path: few writes, no timers, and the length in front where it is known. */
async function deliverAtOnce({ status, headers, parts, bytes }: Reply, response: ServerResponse): Promise<boolean> {
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
    if (waiting.length < batch) continue;
    if (!response.write(waiting)) await drained(response);
    if (response.destroyed) return false;
    waiting = '';
  }
  response.end(waiting);
  return true;
}

function drained(response: ServerResponse): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const done = (): void => {
    response.off('drain', done).off('close', done);
    resolve();
  };
  response.on('drain', done).on('close', done);
  return promise;
}

/** Writes piece by piece with a pause before each. */
async function dribble(reply: Reply, ms: number, response: ServerResponse, signal: AbortSignal): Promise<boolean> {
  for (const part of reply.parts) {
    await sleep(ms, undefined, { signal });
    await written(response, Buffer.from(part));
    if (response.destroyed) return true;
  }
  return false;
}

/** Writes the body in steps that end where a fault wants it; true when the body was cut short. */
async function writeFaulty(reply: Reply, response: ServerResponse, signal: AbortSignal): Promise<boolean> {
  const body = bytesOf(reply);
  const end = Math.min(body.length, reply.cutAt ?? body.length);
  const step = Math.max(1, reply.splitEvery ?? body.length);
  const stallAt = reply.stall?.at ?? -1;
  for (let at = 0; at < end;) {
    if (at === stallAt) await sleep(reply.stall?.ms ?? 0, undefined, { signal });
    const next = Math.min(end, at + step, at < stallAt ? stallAt : end);
    await written(response, body.subarray(at, next));
    if (response.destroyed) return true;
    at = next;
  }
  return end < body.length || reply.cutAt === body.length || reply.gzip === 'cut';
}

function bytesOf({ parts, bytes, gzip }: Reply): Uint8Array {
  const body = bytes ?? Buffer.from(parts.join(''));
  if (!gzip) return body;
  const packed = gzipSync(body);
  if (gzip === 'cut') return packed.subarray(0, Math.ceil(packed.length / 2));
  if (gzip === 'broken') packed.fill(0xff, 10, Math.min(packed.length, 24));
  return packed;
}

function written(response: ServerResponse, bytes: Uint8Array): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  response.write(bytes, () => resolve());
  return promise;
}

async function silence(signal: AbortSignal): Promise<false> {
  const { promise, resolve } = Promise.withResolvers<false>();
  signal.addEventListener('abort', () => resolve(false), { once: true });
  return signal.aborted ? false : promise;
}

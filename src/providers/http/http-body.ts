// The body of a reply as it arrives: decompressed, with back-pressure, and let go of in such a way that its connection can be used again.
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { FairleadError } from '../../core/index.ts';

const maxDrainBytes = 65_536;
const drainMs = 1000;
const maxQueuedPieces = 64;

/** The bytes of a reply. What breaks is thrown as the fault made of it; whoever leaves early leaves the rest to be drained or dropped. */
export function readBody(message: IncomingMessage, fault: (error: unknown) => FairleadError): AsyncIterable<Buffer> {
  const source = decompress(message);
  const queue: Buffer[] = [];
  let ended = false;
  let failed: FairleadError | undefined;
  let waiting: { resolve(result: IteratorResult<Buffer>): void; reject(error: FairleadError): void } | undefined;

  const done = (): IteratorResult<Buffer> => ({ done: true, value: undefined });
  function finish(error?: unknown): void {
    if (ended) return;
    ended = true;
    failed = error === undefined ? undefined : fault(error);
    if (!waiting) return;
    if (failed) waiting.reject(failed);
    else waiting.resolve(done());
    waiting = undefined;
  }
  source.on('data', (piece: Buffer) => {
    if (waiting) {
      waiting.resolve({ done: false, value: piece });
      waiting = undefined;
    } else if (queue.push(piece) > maxQueuedPieces) source.pause();
  });
  source.on('end', () => finish());
  source.on('error', finish);
  source.on('close', () => finish(new Error('The connection closed.')));
  if (source !== message) message.on('error', (error) => source.destroy(error));

  const iterator: AsyncIterator<Buffer> = {
    next() {
      const piece = queue.shift();
      if (piece) {
        if (queue.length === 0 && source.isPaused()) source.resume();
        return Promise.resolve({ done: false, value: piece });
      }
      if (failed) return Promise.reject(failed);
      if (ended) return Promise.resolve(done());
      const { promise, resolve, reject } = Promise.withResolvers<IteratorResult<Buffer>>();
      waiting = { resolve, reject };
      return promise;
    },
    return() {
      if (!ended) drain(message, source);
      return Promise.resolve(done());
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}

/** Almost always only the end of the last chunk is missing: reading it keeps the connection. A server that goes on talking loses it. */
function drain(message: IncomingMessage, source: Readable): void {
  let drained = 0;
  const timer = setTimeout(() => message.destroy(), drainMs).unref();
  source.removeAllListeners('data');
  source.on('data', (piece: Buffer) => {
    drained += piece.length;
    if (drained > maxDrainBytes) message.destroy();
  });
  message.once('close', () => clearTimeout(timer));
  source.resume();
}

function decompress(message: IncomingMessage): Readable {
  const coding = message.headers['content-encoding']?.trim().toLowerCase();
  if (!coding || coding === 'identity') return message;
  // Loaded for the few who compress although nobody asked them to.
  const zlib = process.getBuiltinModule('node:zlib');
  if (coding === 'gzip' || coding === 'x-gzip') return message.pipe(zlib.createGunzip());
  if (coding === 'br') return message.pipe(zlib.createBrotliDecompress());
  if (coding === 'zstd') return message.pipe(zlib.createZstdDecompress());
  return coding === 'deflate' ? message.pipe(zlib.createInflate()) : message;
}

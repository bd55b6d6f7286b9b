// The weights of a model, fetched once: into a file beside their place, checked as they arrive, and moved there only when right.
import { createHash, type Hash } from 'node:crypto';
import { mkdir, open, rename, rm, stat, statfs, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import {
  downloadTruncatedError,
  toDownloadDiskError,
  diskFullError,
  downloadCancelledError,
  toTransferError,
  corruptDownloadError,
} from './errors.ts';
import { withFileLock } from './file-lock.ts';
import { tinyllama, type EmbeddedModel, type ModelFilePart } from './models.ts';
import { downloadPart, canResume, partName, type DownloadOptions } from './download-part.ts';

/** How weights are fetched. */
export type WeightsOptions = {
  /** The data directory. */
  readonly directory: string;
  readonly registry: () => Promise<string>;
  /** Sees how many bytes of the model file are there. */
  readonly progress?: (done: number, total: number) => void;
  /** Called once if another process is fetching. */
  readonly onWait?: () => void;
  readonly signal?: AbortSignal | undefined;
  readonly stallMs?: number;
};

/** Where the file of a model is, or will be. A model of one's own carries the beginning of its hash, so that two of one name never meet. */
export function weightsFile(directory: string, model: EmbeddedModel): string {
  const mark = model.sha256 === tinyllama.sha256 ? '' : `-${model.sha256.slice(0, 8)}`;
  return path.join(directory, 'models', `${model.name}${mark}.gguf`);
}

/** Whether the weights are there. Nothing has this name before its hash was right. */
export const hasWeights = async (directory: string, model: EmbeddedModel): Promise<boolean> =>
  (await fileSize(weightsFile(directory, model))) === model.bytes;

/** The file of a model, fetched if it is not there. One process fetches; others wait for it. */
export async function downloadWeights(model: EmbeddedModel, options: WeightsOptions): Promise<string> {
  const { directory, signal, onWait } = options;
  const file = weightsFile(directory, model);
  if (await hasWeights(directory, model)) return file;
  try {
    await withFileLock(`${file}.lock`, { signal, ...(onWait ? { onWait } : {}) }, async () => {
      if (await hasWeights(directory, model)) return;
      await downloadInto(`${file}.part`, model, options);
      await rename(`${file}.part`, file);
    });
  } catch (error) {
    if (signal?.aborted) throw downloadCancelledError(model.name, signal.reason);
    throw toDownloadDiskError(error, directory, model.bytes);
  }
  return file;
}

const spareBytes = 16e6;

async function downloadInto(part: string, model: EmbeddedModel, options: WeightsOptions): Promise<void> {
  await mkdir(path.dirname(part), { recursive: true, mode: 0o700 });
  const from = resumeOffset(model.parts, await fileSize(part));
  const { bavail, bsize, blocks } = await statfs(path.dirname(part));
  if (blocks > 0 && bavail * bsize < model.bytes - from + spareBytes)
    throw diskFullError(options.directory, model.bytes - from);
  const digest = await writeParts(part, from, model, options);
  if (digest === model.sha256) return;
  await rm(part, { force: true });
  // What an earlier, interrupted attempt left behind may be what is wrong: begin once more without it.
  if (from > 0) return downloadInto(part, model, options);
  throw corruptDownloadError(model.name, `its sha256 is ${digest}`);
}

/** How much of what is there can be kept: everything, unless that ends inside a package. */
function resumeOffset(pieces: readonly ModelFilePart[], have: number): number {
  let start = 0;
  for (const piece of pieces) {
    if (have < start + piece.bytes) return canResume(piece) ? have : start;
    start += piece.bytes;
  }
  return have === start ? have : 0;
}

async function writeParts(part: string, from: number, model: EmbeddedModel, options: WeightsOptions): Promise<string> {
  const { progress, signal, registry, stallMs = 60_000 } = options;
  const handle = await open(part, from > 0 ? 'r+' : 'w+');
  const hash = createHash('sha256');
  try {
    await truncateAndHash(handle, from, hash);
    let at = from;
    let start = 0;
    for (const piece of model.parts) {
      const end = start + piece.bytes;
      if (at < end) {
        for await (const bytes of downloadWithErrors(piece, at - start, { registry, signal, stallMs })) {
          if (at + bytes.length > end) throw await rejectOversizedPart(part, piece);
          hash.update(bytes);
          await writeAll(handle, bytes, at);
          at += bytes.length;
          progress?.(at, model.bytes);
        }
        if (at < end) throw downloadTruncatedError(partName(piece));
      }
      start = end;
    }
    await handle.sync();
    return hash.digest('hex');
  } catch (error) {
    // A full disk is not helped by what half a model takes up.
    if (isDiskFull(error)) await rm(part, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
}

async function* downloadWithErrors(
  piece: ModelFilePart,
  from: number,
  options: DownloadOptions,
): AsyncGenerator<Uint8Array> {
  try {
    yield* downloadPart(piece, from, options);
  } catch (error) {
    throw toTransferError(error, partName(piece));
  }
}

async function rejectOversizedPart(part: string, piece: ModelFilePart): Promise<Error> {
  await rm(part, { force: true });
  return corruptDownloadError(partName(piece), `it is longer than ${piece.bytes} bytes`);
}

/** Drops what lies behind the point of resumption, and hashes what lies before it. */
async function truncateAndHash(handle: FileHandle, from: number, hash: Hash): Promise<void> {
  if (from === 0) return;
  await handle.truncate(from);
  const portion = new Uint8Array(2 ** 20);
  for (let at = 0; at < from;) {
    const { bytesRead } = await handle.read(portion, 0, Math.min(portion.length, from - at), at);
    if (bytesRead === 0) throw new Error('the file became shorter while it was read');
    hash.update(portion.subarray(0, bytesRead));
    at += bytesRead;
  }
}

async function writeAll(handle: FileHandle, bytes: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, at + done);
    done += bytesWritten;
  }
}

const isDiskFull = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');

const fileSize = async (file: string): Promise<number> =>
  stat(file).then(
    ({ size }) => size,
    () => 0,
  );

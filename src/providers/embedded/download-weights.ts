// Downloads the weights of a model once: into a temporary file that is verified and then renamed.
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

/** The options of a weights download. */
export type WeightsOptions = {
  /** The data directory. */
  readonly directory: string;
  readonly registry: () => Promise<string>;
  /** Returns the headers that authorize a URL. */
  readonly authorize?: DownloadOptions['authorize'];
  /** Called with the number of bytes of the model file so far. */
  readonly progress?: (done: number, total: number) => void;
  /** Called once if another process is downloading. */
  readonly onWait?: () => void;
  readonly signal?: AbortSignal | undefined;
  readonly stallMs?: number;
};

/** Returns the path of a model file. The name of a custom model includes its hash, so that another file is never taken for it. */
export function weightsFile(directory: string, model: EmbeddedModel): string {
  const mark = model.sha256 === tinyllama.sha256 ? '' : `-${model.sha256}`;
  return path.join(directory, 'models', `${model.name}${mark}.gguf`);
}

/** Whether the weights are downloaded. The file gets this name only after verification. */
export const hasWeights = async (directory: string, model: EmbeddedModel): Promise<boolean> =>
  (await fileSize(weightsFile(directory, model))) === model.bytes;

/** Returns the path of a model file, downloaded if it is missing. One process downloads; others wait for it. */
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
    if (signal?.aborted) throw downloadCancelledError(model.name, { resumes: true, cause: signal.reason });
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
  // The partial file of an earlier attempt may be damaged: retry once without it.
  if (from > 0) return downloadInto(part, model, options);
  throw corruptDownloadError(model.name, `its sha256 is ${digest}`);
}

/** Returns how many bytes of the partial file can be kept: all, unless it ends inside a package. */
function resumeOffset(pieces: readonly ModelFilePart[], have: number): number {
  let start = 0;
  for (const piece of pieces) {
    if (have < start + piece.bytes) return canResume(piece) ? have : start;
    start += piece.bytes;
  }
  return have === start ? have : 0;
}

async function writeParts(part: string, from: number, model: EmbeddedModel, options: WeightsOptions): Promise<string> {
  const { progress, signal, registry, authorize, stallMs = 60_000 } = options;
  const handle = await open(part, from > 0 ? 'r+' : 'w+');
  const hash = createHash('sha256');
  try {
    await truncateAndHash(handle, from, hash);
    let at = from;
    let start = 0;
    for (const piece of model.parts) {
      const end = start + piece.bytes;
      if (at < end) {
        for await (const bytes of downloadWithErrors(piece, at - start, { registry, authorize, signal, stallMs })) {
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
    // Delete the partial file to free disk space.
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

/** Truncates the partial file at the resume offset, and hashes the bytes before it. */
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

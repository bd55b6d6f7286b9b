// Deletes old files of the state directory: debug logs, and file contents that no session refers to.
import { createReadStream } from 'node:fs';
import { lstat, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { systemErrorCode } from '../../core/index.ts';
import { trashDir, subagentSessionsDir, sessionsDir } from '../../sessions/index.ts';
import type { AppDirs } from '../settings/dirs.ts';
import { readTextIfExists, writeTextAtomic } from '../../stores/index.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** The maximum age in days, and the maximum size and number of the remaining files. */
export type RetentionLimits = { readonly days: number; readonly bytes: number; readonly files: number };

const defaultRetention: { readonly logs: RetentionLimits; readonly blobs: RetentionLimits } = {
  logs: { days: 30, bytes: 2 ** 24, files: 2000 },
  blobs: { days: 30, bytes: 2 ** 30, files: 50_000 },
};

/** The options of a cleanup. */
export type CleanupOptions = {
  readonly signal: AbortSignal;
  readonly now?: number;
  readonly retention?: typeof defaultRetention;
};

/** Deletes files beyond the limits, at most once a day. Files that a session refers to, in the trash too, and files younger than a day stay. */
export async function cleanUpState(
  { state, data }: Pick<AppDirs, 'state' | 'data'>,
  { signal, now = Date.now(), retention = defaultRetention }: CleanupOptions,
): Promise<void> {
  const marker = path.join(state, 'tidied');
  const last = Date.parse(readTextIfExists(marker)?.trim() ?? '');
  if (last <= now && now - last < dayMs) return;
  // Written first: if this fails, the cleanup must not run at every start.
  writeTextAtomic(marker, `${new Date(now).toISOString()}\n`);
  const logs = await listOwnFiles(path.join(state, 'logs'), /^\d{4}-\d\d-\d\d_[\d-]+$/);
  for (const old of selectExpired(logs, retention.logs, now)) await removeUnlessTouched(old, signal);
  const blobs = await listOwnFiles(path.join(state, 'blobs'), /^[0-9a-f]{64}$|^[0-9a-f-]{36}\.tmp$/);
  if (selectExpired(blobs, retention.blobs, now).length === 0) return;
  const referenced = await findReferencedBlobs(
    [sessionsDir({ data }), subagentSessionsDir({ data }), trashDir({ data })],
    blobs,
    signal,
  );
  for (const old of selectExpired(blobs, retention.blobs, now, referenced)) await removeUnlessTouched(old, signal);
}

type StateFile = { readonly file: string; readonly bytes: number; readonly time: number };

/** The regular files of a directory whose name matches, oldest first. Other files are ignored: the directory may be shared with other programs. */
async function listOwnFiles(folder: string, pattern: RegExp): Promise<readonly StateFile[]> {
  const found: StateFile[] = [];
  for (const name of await readdir(folder).catch(() => [])) {
    if (!pattern.test(name)) continue;
    const file = path.join(folder, name);
    const stats = await lstat(file).catch(() => undefined);
    if (stats?.isFile()) found.push({ file, bytes: stats.size, time: stats.mtimeMs });
  }
  return found.toSorted((a, b) => a.time - b.time);
}

/** The files to delete: those that are too old, then the oldest until the rest is within the limits. */
function selectExpired(
  all: readonly StateFile[],
  { days, bytes, files }: RetentionLimits,
  now: number,
  referenced: ReadonlySet<string> = new Set(),
): readonly StateFile[] {
  let [total, count] = [all.reduce((sum, each) => sum + each.bytes, 0), all.length];
  return all.filter(({ file, bytes: size, time }) => {
    const age = now - time;
    const isExpired = age > days * dayMs || total > bytes || count > files;
    if (!isExpired || age < dayMs || referenced.has(path.basename(file))) return false;
    total -= size;
    count -= 1;
    return true;
  });
}

/** The names of blobs that occur in any file of these directories. Throws if a file cannot be read, because it may refer to any blob. */
async function findReferencedBlobs(
  folders: readonly string[],
  blobs: readonly StateFile[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const names = new Set(blobs.map(({ file }) => path.basename(file)));
  const found = new Set<string>();
  for (const file of (await Promise.all(folders.map(listAllFiles))).flat()) {
    let rest = Buffer.alloc(0);
    for await (const chunk of createReadStream(file, { highWaterMark: 2 ** 17, signal })) {
      const bytes = Buffer.concat([rest, chunk as Buffer]);
      for (const hash of extractHashes(bytes)) if (names.has(hash)) found.add(hash);
      rest = bytes.subarray(-63);
    }
  }
  return found;
}

/** Every run of 64 hexadecimal digits. Checks the last digit first: a byte that is not a digit excludes the 63 positions before it. */
function* extractHashes(bytes: Buffer): Generator<string> {
  for (let end = 63; end < bytes.length;) {
    let at = end;
    while (at > end - 64 && isHexDigit(bytes[at] ?? 0)) at -= 1;
    if (at === end - 64) yield bytes.toString('latin1', end - 63, end + 1);
    end = at + 64 + (at === end - 64 ? 64 : 0);
  }
}

const isHexDigit = (code: number): boolean => (code > 47 && code < 58) || (code > 96 && code < 103);

/** All files of a directory; none if it does not exist. */
async function listAllFiles(folder: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.filter((entry) => !entry.isDirectory()).map(({ name }) => path.join(folder, name));
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

/** Deletes a file unless it was modified since it was listed. */
async function removeUnlessTouched({ file, time }: StateFile, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const stats = await lstat(file).catch(() => undefined);
  if (stats?.mtimeMs === time) await rm(file, { force: true });
}

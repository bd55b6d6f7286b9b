// Keeps what is kept beside sessions from growing for ever: logs of old starts, and earlier contents of files that no session can put back any more.
import { createReadStream } from 'node:fs';
import { lstat, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { errnoCode } from '../../stores/jsonl/disk.ts';
import { trashDir } from '../../sessions/session-operations.ts';
import { subagentSessionsDir, sessionsDir } from '../../sessions/session-directory.ts';
import type { AppDirs } from '../settings/dirs.ts';
import { readTextIfExists, writeTextAtomic } from '../../stores/private-file.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** How much may stay: nothing older than so many days, and of the rest so many bytes and files. */
export type RetentionLimits = { readonly days: number; readonly bytes: number; readonly files: number };

const defaultRetention: { readonly logs: RetentionLimits; readonly blobs: RetentionLimits } = {
  logs: { days: 30, bytes: 2 ** 24, files: 2000 },
  blobs: { days: 30, bytes: 2 ** 30, files: 50_000 },
};

/** What tidying is given; the time and the bounds are the usual ones unless named. */
export type CleanupOptions = {
  readonly signal: AbortSignal;
  readonly now?: number;
  readonly bounds?: typeof defaultRetention;
};

/** Removes what is too old or too much, at most once a day. What a session refers to stays, in the trash too, and so does whatever is not a day old. */
export async function cleanUpState(
  { state, data }: Pick<AppDirs, 'state' | 'data'>,
  { signal, now = Date.now(), bounds = defaultRetention }: CleanupOptions,
): Promise<void> {
  const mark = path.join(state, 'tidied');
  const last = Date.parse(readTextIfExists(mark)?.trim() ?? '');
  if (last <= now && now - last < dayMs) return;
  // First of all: who cannot write this down would look through everything at every start.
  writeTextAtomic(mark, `${new Date(now).toISOString()}\n`);
  const logs = await listOwnFiles(path.join(state, 'logs'), /^\d{4}-\d\d-\d\d_[\d-]+$/);
  for (const old of selectExpired(logs, bounds.logs, now)) await removeUnlessTouched(old, signal);
  const blobs = await listOwnFiles(path.join(state, 'blobs'), /^[0-9a-f]{64}$|^[0-9a-f-]{36}\.tmp$/);
  if (selectExpired(blobs, bounds.blobs, now).length === 0) return;
  const referred = await findReferencedBlobs(
    [sessionsDir({ data }), subagentSessionsDir({ data }), trashDir({ data })],
    blobs,
    signal,
  );
  for (const old of selectExpired(blobs, bounds.blobs, now, referred)) await removeUnlessTouched(old, signal);
}

type StateFile = { readonly file: string; readonly bytes: number; readonly time: number };

/** The regular files of a folder that have a name of ours, oldest first; none where there is no folder. A person may have named a folder that others use too. */
async function listOwnFiles(folder: string, ours: RegExp): Promise<readonly StateFile[]> {
  const found: StateFile[] = [];
  for (const name of await readdir(folder).catch(() => [])) {
    if (!ours.test(name)) continue;
    const file = path.join(folder, name);
    const seen = await lstat(file).catch(() => undefined);
    if (seen?.isFile()) found.push({ file, bytes: seen.size, time: seen.mtimeMs });
  }
  return found.toSorted((a, b) => a.time - b.time);
}

/** What has to go: what is too old, and then the oldest until the rest is within bounds. */
function selectExpired(
  all: readonly StateFile[],
  { days, bytes, files }: RetentionLimits,
  now: number,
  spared: ReadonlySet<string> = new Set(),
): readonly StateFile[] {
  let [total, count] = [all.reduce((sum, each) => sum + each.bytes, 0), all.length];
  return all.filter(({ file, bytes: size, time }) => {
    const age = now - time;
    const goes = age > days * dayMs || total > bytes || count > files;
    if (!goes || age < dayMs || spared.has(path.basename(file))) return false;
    total -= size;
    count -= 1;
    return true;
  });
}

/** The names among these files that stand anywhere in the files of these folders. A file that cannot be read may refer to anything: then it throws. */
async function findReferencedBlobs(
  folders: readonly string[],
  blobs: readonly StateFile[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const names = new Set(blobs.map(({ file }) => path.basename(file)));
  const found = new Set<string>();
  for (const file of (await Promise.all(folders.map(listAllFiles))).flat()) {
    let rest = Buffer.alloc(0);
    for await (const piece of createReadStream(file, { highWaterMark: 2 ** 17, signal })) {
      const bytes = Buffer.concat([rest, piece as Buffer]);
      for (const hash of extractHashes(bytes)) if (names.has(hash)) found.add(hash);
      rest = bytes.subarray(-63);
    }
  }
  return found;
}

/** Every word of 64 hexadecimal digits. Looks for its last digit first: whatever is none rules out the 63 places before it. */
function* extractHashes(bytes: Buffer): Generator<string> {
  for (let end = 63; end < bytes.length;) {
    let at = end;
    while (at > end - 64 && isHexDigit(bytes[at] ?? 0)) at -= 1;
    if (at === end - 64) yield bytes.toString('latin1', end - 63, end + 1);
    end = at + 64 + (at === end - 64 ? 64 : 0);
  }
}

const isHexDigit = (code: number): boolean => (code > 47 && code < 58) || (code > 96 && code < 103);

/** Everything in a folder that is no folder; none where there is no folder. */
async function listAllFiles(folder: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.filter((entry) => !entry.isDirectory()).map(({ name }) => path.join(folder, name));
  } catch (error) {
    if (errnoCode(error) === 'ENOENT') return [];
    throw error;
  }
}

/** Removes a file unless somebody has touched it since: then it is needed again. */
async function removeUnlessTouched({ file, time }: StateFile, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const seen = await lstat(file).catch(() => undefined);
  if (seen?.mtimeMs === time) await rm(file, { force: true });
}

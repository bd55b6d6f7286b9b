// Reads files up to a max size, and replaces them atomically.
import { hash, randomUUID } from 'node:crypto';
import { constants, lstatSync, type BigIntStats } from 'node:fs';
import { link, lstat, open, rename, unlink, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { escapeInvisibleLine, systemErrorCode, type FileStamp, type ReplaceOptions } from '../core/index.ts';
import { withOpenFolder, withCreatedFolder, openNoFollow, readOnlyFlags, type OpenFolder } from './fd-paths.ts';
import { toWorkspaceError, workspaceError } from './errors.ts';

/** Max size in bytes of a file that is read or changed. */
export const maxFileBytes: number = 32 * 1024 * 1024;

/** Returns the sha256 of bytes, in hex. */
export const sha256Hex = (bytes: Uint8Array): string => hash('sha256', bytes);

/** Returns the bytes of a canonical file, as many as it had when it was opened. */
export async function readBytes(canonical: string): Promise<Uint8Array> {
  const handle = await openNoFollow(canonical);
  try {
    return (await readOpenFile(handle, canonical)).bytes;
  } finally {
    await handle.close();
  }
}

/** Returns the version stamp of a canonical path without opening it. */
export function fileStamp(canonical: string): FileStamp {
  try {
    const { dev, ino, size, mode, mtimeNs, ctimeNs } = lstatSync(canonical, { bigint: true });
    const latest = mtimeNs > ctimeNs ? mtimeNs : ctimeNs;
    return {
      version: [canonical, dev, ino, size, mode, mtimeNs, ctimeNs].join(' '),
      modifiedMs: Number(latest / 1_000_000n),
      size: Number(size),
    };
  } catch (error) {
    throw toWorkspaceError(error, canonical);
  }
}

/** A file before a change. */
type ExistingFile = { readonly bytes: Uint8Array; readonly stats: BigIntStats };

async function readOpenFile(handle: FileHandle, canonical: string): Promise<ExistingFile> {
  const stats = await handle.stat({ bigint: true });
  const shown = escapeInvisibleLine(canonical);
  if (stats.isDirectory()) throw workspaceError('not-a-file', `${shown} is a folder, not a file.`);
  if (!stats.isFile()) throw workspaceError('not-a-file', `${shown} is not a regular file.`);
  if (stats.size > maxFileBytes)
    throw workspaceError('too-large', `${shown} has ${stats.size} bytes; at most ${maxFileBytes} are read at once.`);
  const bytes = Buffer.alloc(Number(stats.size));
  let length = 0;
  while (length < bytes.length) {
    const { bytesRead } = await handle.read(bytes, length, bytes.length - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return { bytes: bytes.subarray(0, length), stats };
}

/** Replaces the content of a canonical file, or removes the file if `bytes` is undefined. `agree` receives the present bytes and throws to refuse. */
export async function replaceFileContent(
  canonical: string,
  bytes: Uint8Array | undefined,
  agree: (present: Uint8Array | undefined) => Promise<void>,
  { isMounted = () => false }: ReplaceOptions = {},
): Promise<void> {
  const name = path.basename(canonical);
  const within = bytes ? withCreatedFolder : withOpenFolder;
  await within(path.dirname(canonical), async (folder) => {
    try {
      const present = await readExisting(folder, name, canonical);
      await agree(present?.bytes);
      if (present && isMounted(canonical)) {
        if (!bytes) throw mountedError(canonical);
        await writeInPlace(folder, name, bytes, present);
      } else if (bytes) await writeAtomically(folder, name, bytes, present);
      else await unlink(folder.pathOf(name));
      await folder.handle.sync().catch(() => {});
    } catch (error) {
      throw toWorkspaceError(error, canonical);
    }
  });
}

async function readExisting(folder: OpenFolder, name: string, canonical: string): Promise<ExistingFile | undefined> {
  let handle: FileHandle;
  try {
    handle = await open(folder.pathOf(name), readOnlyFlags);
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const present = await readOpenFile(handle, canonical);
    const shown = escapeInvisibleLine(canonical);
    if (present.stats.nlink > 1n)
      throw workspaceError(
        'linked',
        `${shown} was not changed: it has a second name (hard link), which may be outside.`,
      );
    if ((present.stats.mode & 0o222n) === 0n)
      throw workspaceError('no-access', `${shown} was not changed: it is read-only.`);
    return present;
  } finally {
    await handle.close();
  }
}

/** Writes a draft in the same folder, syncs it, then renames it: a reader sees the old content or the new. */
async function writeAtomically(
  folder: OpenFolder,
  name: string,
  bytes: Uint8Array,
  present: ExistingFile | undefined,
): Promise<void> {
  const draft = folder.pathOf(`.fairlead-${randomUUID()}.tmp`);
  const handle = await open(draft, 'wx', present ? 0o600 : 0o666);
  try {
    try {
      await handle.writeFile(bytes);
      if (present) await copyOwnership(handle, present.stats);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await (present ? replaceExisting(folder, name, draft, present) : linkNew(folder, name, draft));
  } catch (error) {
    await unlink(draft).catch(() => {});
    throw error;
  }
}

const mountedError = (canonical: string): Error =>
  workspaceError(
    'in-use',
    `${escapeInvisibleLine(canonical)} was left alone: a command that runs in this folder could write it if it were removed. Stop the running commands (stop_command), then try again.`,
  );

/** Writes into the present file: its inode stays. */
async function writeInPlace(folder: OpenFolder, name: string, bytes: Uint8Array, present: ExistingFile): Promise<void> {
  const handle = await open(folder.pathOf(name), constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    assertUnchanged(name, await handle.stat({ bigint: true }), present);
    await handle.writeFile(bytes);
    await handle.truncate(bytes.length);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function assertUnchanged(name: string, now: BigIntStats, { stats }: ExistingFile): void {
  if (now.ino === stats.ino && now.mtimeNs === stats.mtimeNs && now.ctimeNs === stats.ctimeNs) return;
  throw workspaceError(
    'changed',
    `${escapeInvisibleLine(name)} was changed by another program at the same time; read it again.`,
  );
}

/** Gives the new file the owner and mode of the old one. */
async function copyOwnership(handle: FileHandle, { uid, gid, mode }: BigIntStats): Promise<void> {
  const own = await handle.stat({ bigint: true });
  // If the owner cannot be changed, the file belongs to the own user.
  if (own.uid !== uid || own.gid !== gid) await handle.chown(Number(uid), Number(gid)).catch(() => {});
  await handle.chmod(Number(mode & 0o7777n));
}

async function replaceExisting(folder: OpenFolder, name: string, draft: string, present: ExistingFile): Promise<void> {
  assertUnchanged(name, await lstat(folder.pathOf(name), { bigint: true }), present);
  await rename(draft, folder.pathOf(name));
}

/** Gives the new file its name only if that name is still free. */
async function linkNew(folder: OpenFolder, name: string, draft: string): Promise<void> {
  try {
    await link(draft, folder.pathOf(name));
    await unlink(draft);
  } catch (error) {
    if (systemErrorCode(error) === 'EEXIST')
      throw workspaceError(
        'changed',
        `${escapeInvisibleLine(name)} was created by another program at the same time; read it first.`,
      );
    // Some file systems have no hard links.
    await rename(draft, folder.pathOf(name));
  }
}

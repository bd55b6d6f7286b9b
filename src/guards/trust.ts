// The trust store: approvals by content. An item of a folder or a server is used only while its hash is the approved one.
import { randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync, type Stats } from 'node:fs';
import path from 'node:path';
import { FairleadError, isObject, systemErrorCode } from '../core/index.ts';

/** An item: its stable name and the hash of its content. */
export type ContentApproval = { readonly subject: string; readonly hash: string };

/** The status of an item: approved as it is, changed since the approval, or never approved. */
export type TrustStatus = 'approved' | 'changed' | 'new';

/** Approvals by content. A subject has at most one approved hash; earlier hashes do not count. */
export type TrustStore = {
  check(item: ContentApproval): TrustStatus;
  approve(items: readonly ContentApproval[]): void;
  /** Returns false if there was no approval to revoke. */
  revoke(subject: string): boolean;
  list(): readonly ContentApproval[];
};

type ApprovedHashes = Readonly<Record<string, string>>;

/** Creates a trust store in memory. */
export function memoryTrust(): TrustStore {
  const approved = new Map<string, string>();
  return createTrustStore(
    () => Object.fromEntries(approved),
    (next) => {
      approved.clear();
      for (const [subject, hash] of Object.entries(next)) approved.set(subject, hash);
    },
  );
}

/** Creates a trust store in a file that only its owner can read or write. A file that another user could have written approves nothing. */
export function fileTrust(file: string): TrustStore {
  let cached: { readonly stamp: string; readonly approved: ApprovedHashes } | undefined;
  const read = (): ApprovedHashes => {
    const stats = tryStat(file);
    if (stats === undefined) return {};
    if (!stats.isFile() || isWritableByOthers(stats)) throw unsafeFileError(file);
    // The file is only ever replaced as a whole, so the same stamp means the same content.
    const stamp = `${stats.ino} ${stats.mtimeMs} ${stats.ctimeMs} ${stats.size}`;
    if (cached?.stamp !== stamp) cached = { stamp, approved: loadApprovals(file) };
    return cached.approved;
  };
  return createTrustStore(read, (next) => saveApprovals(file, next));
}

function createTrustStore(read: () => ApprovedHashes, write: (next: ApprovedHashes) => void): TrustStore {
  return {
    check({ subject, hash }) {
      const approved = read();
      if (!Object.hasOwn(approved, subject)) return 'new';
      return approved[subject] === hash ? 'approved' : 'changed';
    },
    approve(items) {
      if (items.length === 0) return;
      write({ ...read(), ...Object.fromEntries(items.map(({ subject, hash }) => [subject, hash])) });
    },
    revoke(subject) {
      const { [subject]: removed, ...rest } = read();
      if (removed === undefined) return false;
      write(rest);
      return true;
    },
    list: () => Object.entries(read()).map(([subject, hash]) => ({ subject, hash })),
  };
}

function loadApprovals(file: string): ApprovedHashes {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw brokenFileError(file, cause);
  }
  const { approved } = isObject(content) ? content : {};
  if (!isObject(approved) || !Object.values(approved).every((hash) => typeof hash === 'string'))
    throw brokenFileError(file);
  return approved as ApprovedHashes;
}

function tryStat(file: string): Stats | undefined {
  try {
    return lstatSync(file);
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined;
    throw brokenFileError(file, error);
  }
}

/** Returns true if another user could have written the file. */
function isWritableByOthers({ mode, uid }: Stats): boolean {
  if (process.platform === 'win32') return false;
  return (mode & 0o022) !== 0 || uid !== (process.getuid?.() ?? uid);
}

function saveApprovals(file: string, approved: ApprovedHashes): void {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const temporaryFile = `${file}.${process.pid}-${randomBytes(4).toString('hex')}.tmp`;
  try {
    writeFileSync(temporaryFile, `${JSON.stringify({ approved }, undefined, 2)}\n`, {
      mode: 0o600,
      flag: 'wx',
      flush: true,
    });
    renameSync(temporaryFile, file);
  } catch (error) {
    rmSync(temporaryFile, { force: true });
    throw error;
  }
}

const unsafeFileError = (file: string): FairleadError =>
  new FairleadError('trust/unsafe', `${file} could have been written by another user, so its approvals are ignored.`, {
    blame: 'user',
    hint: `Check it, then restrict it to yourself (chmod 600 ${file}), or remove it and approve again.`,
  });

const brokenFileError = (file: string, cause?: unknown): FairleadError =>
  new FairleadError('trust/broken', `${file} is not a list of approvals, so it is ignored.`, {
    blame: 'user',
    hint: 'Remove it and approve again what you trust.',
    ...(cause === undefined ? {} : { cause }),
  });

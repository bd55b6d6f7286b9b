// What a person approved by its content: an item of a folder or of a server is used only while its hash is the one that was approved.
import { randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync, type Stats } from 'node:fs';
import path from 'node:path';
import { FairleadError, isObject } from '../core/index.ts';

/** An item by its lasting name and the hash of its content. */
export type Approval = { readonly subject: string; readonly hash: string };

/** How an item stands: approved as it is, changed since it was approved, or never seen. */
export type Standing = 'approved' | 'changed' | 'new';

/** Approvals by content. One subject has at most one approved hash: what it was before counts for nothing. */
export type Trust = {
  judge(item: Approval): Standing;
  approve(items: readonly Approval[]): void;
  /** Whether there was an approval to take back. */
  revoke(subject: string): boolean;
  list(): readonly Approval[];
};

type Approved = Readonly<Record<string, string>>;

/** Approvals of this process alone. */
export function memoryTrust(): Trust {
  const approved = new Map<string, string>();
  return trustOver(
    () => Object.fromEntries(approved),
    (next) => {
      approved.clear();
      for (const [subject, hash] of Object.entries(next)) approved.set(subject, hash);
    },
  );
}

/** Approvals kept in a file that only its owner can read or write; one that others could have written approves nothing. */
export function fileTrust(file: string): Trust {
  let known: { readonly stamp: string; readonly approved: Approved } | undefined;
  const read = (): Approved => {
    const found = statOf(file);
    if (found === undefined) return {};
    if (!found.isFile() || isOpen(found)) throw unsafe(file);
    // It is only ever replaced whole, so a file of the same stamp has the same content.
    const stamp = `${found.ino} ${found.mtimeMs} ${found.ctimeMs} ${found.size}`;
    if (known?.stamp !== stamp) known = { stamp, approved: load(file) };
    return known.approved;
  };
  return trustOver(read, (next) => save(file, next));
}

function trustOver(read: () => Approved, write: (next: Approved) => void): Trust {
  return {
    judge({ subject, hash }) {
      const known = read();
      if (!Object.hasOwn(known, subject)) return 'new';
      return known[subject] === hash ? 'approved' : 'changed';
    },
    approve(items) {
      if (items.length === 0) return;
      write({ ...read(), ...Object.fromEntries(items.map(({ subject, hash }) => [subject, hash])) });
    },
    revoke(subject) {
      const { [subject]: gone, ...rest } = read();
      if (gone === undefined) return false;
      write(rest);
      return true;
    },
    list: () => Object.entries(read()).map(([subject, hash]) => ({ subject, hash })),
  };
}

function load(file: string): Approved {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw broken(file, cause);
  }
  const { approved } = isObject(content) ? content : {};
  if (!isObject(approved) || !Object.values(approved).every((hash) => typeof hash === 'string')) throw broken(file);
  return approved as Approved;
}

function statOf(file: string): Stats | undefined {
  try {
    return lstatSync(file);
  } catch (error) {
    if (isObject(error) && error['code'] === 'ENOENT') return undefined;
    throw broken(file, error);
  }
}

/** Whether somebody else than we could have written it. */
function isOpen({ mode, uid }: Stats): boolean {
  if (process.platform === 'win32') return false;
  return (mode & 0o022) !== 0 || uid !== (process.getuid?.() ?? uid);
}

function save(file: string, approved: Approved): void {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}-${randomBytes(4).toString('hex')}.tmp`;
  try {
    writeFileSync(draft, `${JSON.stringify({ approved }, undefined, 2)}\n`, { mode: 0o600, flag: 'wx', flush: true });
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

const unsafe = (file: string): FairleadError =>
  new FairleadError('trust/unsafe', `${file} could have been written by somebody else, so nothing in it counts.`, {
    blame: 'user',
    hint: `Look at it, then make it yours alone (chmod 600 ${file}) or remove it and approve again.`,
  });

const broken = (file: string, cause?: unknown): FairleadError =>
  new FairleadError('trust/broken', `${file} is not a list of approvals, so nothing in it counts.`, {
    blame: 'user',
    hint: 'Remove it and approve again what you trust.',
    ...(cause === undefined ? {} : { cause }),
  });

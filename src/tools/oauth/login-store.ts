// The login store: one file that only its owner can read, replaced atomically.
import { randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { FairleadError, isObject, systemErrorCode } from '../../core/index.ts';

/** Logins by name. */
export type LoginStore<L extends object> = {
  /** Returns a stored login; an empty object if there is none. */
  get(of: string): Partial<L>;
  set(of: string, login: L): void;
  /** Returns the names of all logins. */
  list(): readonly string[];
};

/** Creates a login store in memory. */
export function memoryLogins<L extends object>(): LoginStore<L> {
  const logins = new Map<string, L>();
  return {
    get: (of) => logins.get(of) ?? {},
    set: (of, login) => void logins.set(of, login),
    list: () => [...logins.keys()],
  };
}

/** Creates a login store in a file. A file that other users can read is not used: its tokens may be known. */
export function fileLogins<L extends object>(file: string): LoginStore<L> {
  return {
    get(of) {
      const all = loadLogins(file);
      return Object.hasOwn(all, of) ? (all[of] ?? {}) : {};
    },
    set(of, login) {
      mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
      const draft = `${file}.${process.pid}-${randomBytes(4).toString('hex')}.tmp`;
      try {
        const text = `${JSON.stringify({ ...loadLogins(file), [of]: login }, undefined, 2)}\n`;
        writeFileSync(draft, text, { mode: 0o600, flag: 'wx', flush: true });
        renameSync(draft, file);
      } catch (error) {
        rmSync(draft, { force: true });
        throw error;
      }
    },
    list: () => Object.keys(loadLogins(file)),
  };
}

function loadLogins(file: string): Readonly<Record<string, object>> {
  let text: string;
  try {
    const { mode } = lstatSync(file);
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) throw exposedTokensError(file);
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return {};
    throw error;
  }
  try {
    const all: unknown = JSON.parse(text);
    // A file that cannot be parsed costs only a new login.
    return isObject(all) ? (all as Readonly<Record<string, object>>) : {};
  } catch {
    return {};
  }
}

const exposedTokensError = (file: string): FairleadError =>
  new FairleadError('oauth/exposed-tokens', `Other users can read ${file}, so its logins are not used.`, {
    blame: 'user',
    hint: `Remove it and log in again, or restrict it to yourself: chmod 600 ${file}`,
  });

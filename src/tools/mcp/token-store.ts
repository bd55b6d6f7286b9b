// Where logins to servers are kept: one file that only its owner can read, replaced whole.
import { randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { StoredOAuthClientInformation, StoredOAuthTokens } from '@modelcontextprotocol/client';
import { FairleadError, isObject } from '../../core/index.ts';

/** What is kept of one login: who we are there, our tokens, and the port that people come back to. */
export type KeptLogin = {
  readonly client?: StoredOAuthClientInformation;
  readonly tokens?: StoredOAuthTokens;
  readonly port?: number;
};

/** Logins by the address of their server. */
export type TokenStore = {
  get(url: string): KeptLogin;
  set(url: string, login: KeptLogin): void;
};

/** Logins of this process alone. */
export function memoryTokens(): TokenStore {
  const logins = new Map<string, KeptLogin>();
  return { get: (url) => logins.get(url) ?? {}, set: (url, login) => void logins.set(url, login) };
}

/** Logins in a file. One that others can read is not used: its tokens may be known. */
export function fileTokens(file: string): TokenStore {
  return {
    get: (url) => {
      const all = load(file);
      return Object.hasOwn(all, url) ? (all[url] ?? {}) : {};
    },
    set(url, login) {
      mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
      const draft = `${file}.${process.pid}-${randomBytes(4).toString('hex')}.tmp`;
      try {
        const text = `${JSON.stringify({ ...load(file), [url]: login }, undefined, 2)}\n`;
        writeFileSync(draft, text, { mode: 0o600, flag: 'wx', flush: true });
        renameSync(draft, file);
      } catch (error) {
        rmSync(draft, { force: true });
        throw error;
      }
    },
  };
}

function load(file: string): Readonly<Record<string, KeptLogin>> {
  let text: string;
  try {
    const { mode } = lstatSync(file);
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) throw exposed(file);
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (isObject(error) && error['code'] === 'ENOENT') return {};
    throw error;
  }
  try {
    const all: unknown = JSON.parse(text);
    // A file that cannot be read costs a new login, no more.
    return isObject(all) ? (all as Readonly<Record<string, KeptLogin>>) : {};
  } catch {
    return {};
  }
}

const exposed = (file: string): FairleadError =>
  new FairleadError('mcp/exposed-tokens', `Others can read ${file}, so the logins in it are not used.`, {
    blame: 'user',
    hint: `Remove it and log in again, or make it yours alone: chmod 600 ${file}`,
  });

// The last line of each session file as this program wrote it, kept outside the directory of the sessions: shows a file that another program rewrote with correct hashes.
import { createHash } from 'node:crypto';
import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, readSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isObject } from '../core/index.ts';
import type { SessionDirs } from './session-directory.ts';

/** Where the last line ended, and its hash. The hash of a line covers all lines before it. */
type Head = { readonly end: number; readonly hash: string };

/** Records the last line of a session file that was closed. Without a state directory, or if it cannot be written, nothing is recorded. */
export function recordHead({ state }: SessionDirs, file: string, session: string): void {
  if (state === undefined) return;
  try {
    const head = readHead(file);
    if (head === undefined) return;
    mkdirSync(headsDir(state), { recursive: true, mode: 0o700 });
    writeFileSync(headFile(state, session), JSON.stringify(head), { mode: 0o600 });
  } catch {
    // A session must not fail because its head cannot be recorded.
  }
}

/** Returns a sentence if a session file does not contain the line that was recorded; undefined if it does, or if none was recorded. */
export function findRewrittenHead({ state }: SessionDirs, file: string, session?: string): string | undefined {
  if (state === undefined) return undefined;
  try {
    const id = session ?? readSessionId(file);
    const known: unknown = JSON.parse(readFileSync(headFile(state, id), 'utf8'));
    if (!isObject(known) || typeof known['end'] !== 'number' || typeof known['hash'] !== 'string') return undefined;
    return readHead(file, known['end'])?.hash === known['hash']
      ? undefined
      : 'The file is not the one that was last closed here: another program rewrote it, or an earlier copy was restored.';
  } catch {
    return undefined;
  }
}

const headsDir = (state: string): string => path.join(state, 'session-heads');

const headFile = (state: string, session: string): string =>
  path.join(headsDir(state), `${createHash('sha256').update(session).digest('hex').slice(0, 32)}.json`);

const tailBytes = 64;

/** Reads the hash of the line that ends at a position, by default at the end of the file; undefined if no line ends there. */
function readHead(file: string, position?: number): Head | undefined {
  const fd = openSync(file, 'r');
  try {
    const end = position ?? fstatSync(fd).size;
    const tail = Buffer.alloc(Math.min(tailBytes, end));
    const length = readSync(fd, tail, 0, tail.length, end - tail.length);
    const hash = /"hash":"([\w-]{22})"\}\n$/.exec(tail.toString('latin1', 0, length))?.[1];
    return hash === undefined ? undefined : { end, hash };
  } finally {
    closeSync(fd);
  }
}

const maxHeaderBytes = 4096;

/** Reads the session id in the first line of a file. */
function readSessionId(file: string): string {
  const fd = openSync(file, 'r');
  try {
    const start = Buffer.alloc(maxHeaderBytes);
    const [line = ''] = start.toString('utf8', 0, readSync(fd, start)).split('\n', 1);
    return String((JSON.parse(line) as { readonly session?: unknown }).session);
  } finally {
    closeSync(fd);
  }
}

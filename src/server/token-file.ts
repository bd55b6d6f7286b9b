// The file of a generated token: readable by its owner only, created once, and never printed to a log.
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { FairleadError, errorMessage } from '../core/index.ts';

/** A shorter key is too weak for a server that other machines can reach. */
export const minKeyLength = 16;

/** A token, and the file that contains it. */
export type TokenFile = { readonly key: string; readonly isNew: boolean; readonly file: string };

/**
 * Reads the token file, or creates it. If two servers start at once, one creates the file and the other reads it. `variable` is the
 * environment variable that a user can set instead.
 */
export function loadOrCreateToken(folder: string, name: string, variable: string): TokenFile {
  const file = path.join(folder, name);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const key = randomBytes(32).toString('base64url');
    try {
      writeFileSync(file, `${key}\n`, { mode: 0o600, flag: 'wx', flush: true });
      return { key, isNew: true, file };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    if (process.platform !== 'win32' && (statSync(file).mode & 0o077) !== 0)
      throw new Error('other users may read the file.');
    const token = readFileSync(file, 'utf8').trim();
    if (token.length < minKeyLength) throw new Error('the file contains no token.');
    return { key: token, isNew: false, file };
  } catch (cause) {
    throw new FairleadError('server/no-token', `The token in ${file} cannot be used: ${errorMessage(cause)}`, {
      blame: 'user',
      hint: `Delete the file to create a new token, or set ${variable}.`,
      cause,
    });
  }
}

// Private files: readable by their owner only, in directories that are created on demand, replaced atomically.
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { FairleadError, errorMessage, systemErrorCode } from '../core/index.ts';

/** Creates a directory and its parents for their owner only; an existing directory is not changed. */
export function makePrivateDir(directory: string): void {
  withFileError(directory, 'create', () => {
    try {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
    } catch (error) {
      throw systemErrorCode(error) === 'EEXIST' ? new Error('a file of that name exists.', { cause: error }) : error;
    }
  });
}

/** The text of a file; undefined if there is none. */
export function readTextIfExists(file: string): string | undefined {
  return withFileError(file, 'read', () => {
    try {
      return readFileSync(file, 'utf8');
    } catch (error) {
      if (/^(ENOENT|ENOTDIR)$/.test(systemErrorCode(error) ?? '')) return undefined;
      throw error;
    }
  });
}

/** Replaces the text of a file atomically. A link stays a link. */
export function writeTextAtomic(file: string, text: string): void {
  makePrivateDir(path.dirname(file));
  withFileError(file, 'write', () => {
    const target = resolveLink(file);
    const tempFile = `${target}.${process.pid}-${randomBytes(4).toString('hex')}.tmp`;
    try {
      writeFileSync(tempFile, text, { mode: 0o600, flag: 'wx', flush: true });
      renameSync(tempFile, target);
    } catch (error) {
      rmSync(tempFile, { force: true });
      throw error;
    }
  });
}

function resolveLink(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}

/** Converts an error of the operating system into one that names the file. `action` completes "Could not". */
export function withFileError<T>(file: string, action: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof FairleadError) throw error;
    if (systemErrorCode(error) === 'EEXIST')
      throw new FairleadError('stores/exists', `${file} already exists.`, {
        blame: 'user',
        hint: 'Name another file, or remove that one.',
      });
    throw new FairleadError('stores/file', `Could not ${action} ${file}: ${errorMessage(error)}`, {
      blame: 'user',
      hint: 'Check the permissions and the free space there.',
      cause: error,
    });
  }
}

// Files that only their owner may read: folders are made when first needed, and a file is replaced whole or not at all.
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { FairleadError, errorMessage } from '../core/index.ts';
import { errnoCode } from './jsonl/disk.ts';

/** Makes a folder, and those above it, for its owner only; one that is there stays as it is. */
export function makePrivateDir(folder: string): void {
  withFileError(folder, 'make', () => {
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
    } catch (error) {
      throw errnoCode(error) === 'EEXIST' ? new Error('a file of that name is in the way.', { cause: error }) : error;
    }
  });
}

/** The text of a file, or nothing if there is none. */
export function readTextIfExists(file: string): string | undefined {
  return withFileError(file, 'read', () => {
    try {
      return readFileSync(file, 'utf8');
    } catch (error) {
      if (/^(ENOENT|ENOTDIR)$/.test(errnoCode(error) ?? '')) return undefined;
      throw error;
    }
  });
}

/** Writes a file in one step: whoever reads it sees the old text or the new one. A link stays a link. */
export function writeTextAtomic(file: string, text: string): void {
  makePrivateDir(path.dirname(file));
  withFileError(file, 'write', () => {
    const target = resolveLink(file);
    const draft = `${target}.${process.pid}-${randomBytes(4).toString('hex')}.tmp`;
    try {
      writeFileSync(draft, text, { mode: 0o600, flag: 'wx', flush: true });
      renameSync(draft, target);
    } catch (error) {
      rmSync(draft, { force: true });
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

/** An error of the operating system as a sentence that names the file. */
export function withFileError<T>(file: string, doing: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof FairleadError) throw error;
    if (errnoCode(error) === 'EEXIST')
      throw new FairleadError('cli/exists', `${file} is there already.`, {
        blame: 'user',
        hint: 'Name another file, or remove that one.',
      });
    throw new FairleadError('cli/file', `Could not ${doing} ${file}: ${errorMessage(error)}`, {
      blame: 'user',
      hint: 'Look at the rights and the room of that place.',
      cause: error,
    });
  }
}

// Creates and stores the marker of an installation.
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { readStoredCanary } from './canary.ts';

/** Letters only, so that it is one word in every encoding. */
const toLetters = (bytes: Buffer): string =>
  bytes.toString('hex').replaceAll(/./g, (digit) => 'abcdefghijklmnop'[Number.parseInt(digit, 16)] ?? '');

/** Returns a new marker, or the one that another process has stored meanwhile. If none can be stored, it is derived from the home directory. */
export function createCanary(file: string): string {
  try {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, toLetters(randomBytes(12)), { mode: 0o600, flag: 'wx' });
  } catch {
    // It exists, or the directory cannot be written.
  }
  return (
    readStoredCanary(file) ??
    toLetters(createHash('sha256').update(`fairlead canary ${homedir()}`).digest().subarray(0, 12))
  );
}

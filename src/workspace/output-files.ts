// Saves long command output in text files: limited per file and in total, and removed when old.
import { hash, randomUUID } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readdirSync, rmSync, statSync, writeSync } from 'node:fs';
import path from 'node:path';
import type { OutputSize } from '../core/index.ts';
import { maxFileBytes } from './files.ts';

/** Max bytes of one output, as many as can be read. Further output is counted and dropped. */
const maxBytesPerOutput = maxFileBytes;
/** Max bytes of all outputs together. The oldest are removed first. */
const maxBytesTotal = 8 * maxBytesPerOutput;
const maxAgeMs = 7 * 24 * 60 * 60 * 1000;
/** Max characters of a line, which is broken there: an endless line could not be read in parts. */
const maxLineLength = 10_000;

/** Returns the output folder of a working folder. Outputs of other working folders cannot be read from there. */
export const outputFolderFor = (base: string, cwd: string): string => path.join(base, hash('sha256', cwd).slice(0, 16));

/** The output of one command. */
export type OutputFile = {
  /** Appends text. The file is created with the first text; if that fails, nothing is saved. */
  append(text: string): void;
  /** Returns the path, if the file was created. */
  location(): OutputSize['file'];
  close(): void;
};

/** Creates the output file of one command in this folder. */
export function createOutputFile(folder: string): OutputFile {
  const file = path.join(folder, `output-${randomUUID().slice(0, 8)}.txt`);
  const broken = createLineBreaker();
  let handle: number | undefined;
  let bytes = 0;
  let state: 'new' | 'whole' | 'cut' | 'lost' = 'new';
  return {
    append(text) {
      if (state === 'cut' || state === 'lost') return;
      try {
        handle ??= openOutputFile(folder, file);
        const piece = Buffer.from(broken(text));
        const fit = piece.subarray(0, completeUtf8Length(piece, maxBytesPerOutput - bytes));
        for (let at = 0; at < fit.length;) at += writeSync(handle, fit, at);
        bytes += fit.length;
        state = fit.length < piece.length ? 'cut' : 'whole';
      } catch {
        // A full disk must not fail the command; a partial output is still useful.
        state = bytes > 0 ? 'cut' : 'lost';
      }
    },
    location: () =>
      state === 'whole' || state === 'cut' ? { path: file, bytes, whole: state === 'whole' } : undefined,
    close() {
      if (handle !== undefined) closeSync(handle);
      handle = undefined;
    },
  };
}

function openOutputFile(folder: string, file: string): number {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  try {
    removeOldOutputs(path.dirname(folder));
  } catch {
    // Another process may clean up at the same time; the next output tries again.
  }
  return openSync(file, 'wx', 0o600);
}

/** Removes old outputs of all working folders, then the oldest until the total fits. Only files with our names, because the folder may contain others. */
function removeOldOutputs(base: string): void {
  const files = readdirSync(base)
    .filter((each) => /^[0-9a-f]{16}$/.test(each))
    .flatMap((each) => readdirSync(path.join(base, each), { withFileTypes: true }))
    .filter((each) => each.isFile() && /^output-[0-9a-f]{8}\.txt$/.test(each.name))
    .flatMap((each) => {
      const at = path.join(each.parentPath, each.name);
      const stats = statSync(at, { throwIfNoEntry: false });
      return stats ? [{ at, size: stats.size, time: stats.mtimeMs }] : [];
    })
    .toSorted((a, b) => b.time - a.time);
  let room = maxBytesTotal - maxBytesPerOutput;
  for (const { at, size, time } of files) {
    room -= size;
    if (room < 0 || Date.now() - time > maxAgeMs) rmSync(at, { force: true });
  }
}

/** Returns how many of these bytes fit without splitting a UTF-8 character. */
function completeUtf8Length(bytes: Uint8Array, room: number): number {
  if (bytes.length <= room) return bytes.length;
  let end = room;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return end;
}

/** Breaks long lines, and escapes the NUL character, which would make the text binary. */
function createLineBreaker(): (text: string) => string {
  let column = 0;
  return (text) => {
    let done = '';
    for (let at = 0; at < text.length;) {
      const end = text.indexOf('\n', at) + 1;
      const line = text.slice(at, end === 0 ? text.length : end);
      const room = maxLineLength - column;
      const fits = line.length <= room || (end > 0 && line.length === room + 1);
      const part = fits ? line : line.slice(0, room).replace(/[\ud800-\udbff]$/, '');
      done += fits ? part : `${part}\n`;
      column = fits && end === 0 ? column + part.length : 0;
      at += part.length;
    }
    return done.replaceAll('\0', '␀');
  };
}

// Writes every letter of a bundle in ASCII: Node keeps such a text at one byte a letter, and a start reads, checks and compiles it sooner.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** A template whose escapes count as letters: there an escape would change what the program says. */
const rawTemplatePattern = /String\.raw`[^`]*[^\0-\x7f][^`]*`/;

/** The same program in ASCII. In strings, templates, names and patterns an escape equals its character. */
export function escapeNonAscii(program: string): string {
  const raw = rawTemplatePattern.exec(program)?.[0];
  if (raw !== undefined) throw new Error(`A raw template holds letters beyond ASCII: ${raw.slice(0, 80)}`);
  return program.replaceAll(/(\\*)([^\0-\x7f])/g, (_, slashes: string, letter: string) => {
    const escape = `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;
    // A letter that was escaped for nothing is the letter itself.
    return slashes.length % 2 ? slashes.slice(1) + escape : slashes + escape;
  });
}

/** Writes all programs of a folder and its chunks in ASCII. */
export function escapeNonAsciiInDir(folder: string): void {
  for (const each of [folder, path.join(folder, 'chunks')])
    for (const name of readdirSync(each)) {
      if (!name.endsWith('.js')) continue;
      const file = path.join(each, name);
      const program = readFileSync(file, 'utf8');
      const plain = escapeNonAscii(program);
      if (plain !== program) writeFileSync(file, plain);
    }
}

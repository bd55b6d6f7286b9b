// Escapes non-ASCII characters of a bundle: Node stores ASCII source with one byte per character, and loads it faster.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Matches raw templates with non-ASCII characters, in which an escape would change the text. */
const rawTemplatePattern = /String\.raw`[^`]*[^\0-\x7f][^`]*`/;

/** Returns the same program in ASCII. In strings, templates, names and patterns an escape equals its character. */
export function escapeNonAscii(program: string): string {
  const raw = rawTemplatePattern.exec(program)?.[0];
  if (raw !== undefined) throw new Error(`A raw template contains non-ASCII characters: ${raw.slice(0, 80)}`);
  return program.replaceAll(/(\\*)([^\0-\x7f])/g, (_, slashes: string, letter: string) => {
    const escape = `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;
    // An unnecessary escape equals the character itself.
    return slashes.length % 2 ? slashes.slice(1) + escape : slashes + escape;
  });
}

/** Converts all programs of a folder and its chunks to ASCII. */
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

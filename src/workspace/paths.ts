// Where a path really leads, and whether that is inside the roots: links resolved, compared name by name, never by string prefix.
import { lstatSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { escapeInvisibleLine } from '../core/index.ts';
import { codeOf, explain, refuse } from './trouble.ts';

const longest = 4096;

/** The canonical path of what is there, or of what would be made there; throws where that is outside all roots, and outside the folder beside them that may be used too. */
export function locate(given: string, cwd: string, roots: readonly string[], beside?: string): string {
  mustBePath(given);
  const found = resolveLinks(path.resolve(cwd, given), given);
  if (roots.some((root) => contains(root, found))) return found;
  if (beside !== undefined && contains(beside, found)) return found;
  throw refuse(
    'outside',
    `${escapeInvisibleLine(given)} is outside the workspace (${roots.map(escapeInvisibleLine).join(', ')}).`,
  );
}

function mustBePath(given: string): void {
  if (given === '') throw refuse('bad-path', 'The path is empty.');
  if (given.includes('\0')) throw refuse('bad-path', 'The path holds a NUL character, which no file name can.');
  if (!given.isWellFormed()) throw refuse('bad-path', 'The path is not well-formed Unicode.');
  if (given.length > longest) throw refuse('bad-path', `The path is longer than ${longest} characters.`);
}

/** An absolute path with the links of its deepest ancestor that exists resolved; below that there is nothing yet that could be a link. */
export function resolveLinks(wanted: string, given: string = wanted): string {
  const missing: string[] = [];
  for (let at = wanted; ; at = path.dirname(at)) {
    try {
      return path.join(realpathSync.native(at), ...missing);
    } catch (error) {
      if (codeOf(error) === 'ELOOP')
        throw refuse('bad-path', `The links at ${escapeInvisibleLine(given)} lead in a circle.`);
      if (codeOf(error) !== 'ENOENT' || at === path.dirname(at)) throw explain(error, given);
      // A link whose target is missing: to write there would make a file where nobody looked.
      if (isThere(at))
        throw refuse('bad-path', `${escapeInvisibleLine(given)} is or passes a link that leads nowhere.`);
      missing.unshift(path.basename(at));
    }
  }
}

function isThere(at: string): boolean {
  try {
    lstatSync(at);
    return true;
  } catch {
    return false;
  }
}

const namesIn = (canonical: string): readonly string[] => canonical.split(path.sep).filter((name) => name !== '');

/** Whether a canonical path is a canonical root or inside it. */
export function contains(root: string, canonical: string): boolean {
  const names = namesIn(canonical);
  return namesIn(root).every((name, i) => name === names[i]);
}

/** Refuses a write to a protected place, or where a name is protected however it is written: file systems may fold case and Unicode forms, and drop trailing dots and blanks. */
export function mustBeOpen(canonical: string, roots: readonly string[], protect: readonly string[]): void {
  const root = roots.find((each) => contains(each, canonical)) ?? '';
  const names = namesIn(canonical).slice(namesIn(root).length).map(folded);
  const hit = protect.find((each) =>
    path.isAbsolute(each) ? contains(each, canonical) : names.includes(folded(each)),
  );
  if (hit !== undefined)
    throw refuse(
      'protected',
      `${escapeInvisibleLine(canonical)} was not changed: ${escapeInvisibleLine(hit)} is protected.`,
    );
}

const folded = (name: string): string =>
  name
    .normalize('NFKC')
    .replaceAll(/\p{Cf}/gu, '')
    .toLowerCase()
    .replace(/[. ]+$/, '');

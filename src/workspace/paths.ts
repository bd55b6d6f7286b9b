// Where a path really leads, and whether that is inside the roots: links resolved, compared name by name, never by string prefix.
import { lstatSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { escapeInvisibleLine, isPathInside, normalizeFileName, systemErrorCode } from '../core/index.ts';
import { toWorkspaceError, workspaceError } from './errors.ts';

const maxPathLength = 4096;

/** The canonical path of what is there, or of what would be made there; throws where that is outside all roots, and outside the folder beside them that may be used too. */
export function resolveWithinRoots(given: string, cwd: string, roots: readonly string[], beside?: string): string {
  assertValidPath(given);
  const found = resolveLinks(path.resolve(cwd, given), given);
  if (roots.some((root) => isPathInside(root, found))) return found;
  if (beside !== undefined && isPathInside(beside, found)) return found;
  throw workspaceError(
    'outside',
    `${escapeInvisibleLine(given)} is outside the workspace (${roots.map(escapeInvisibleLine).join(', ')}).`,
  );
}

function assertValidPath(given: string): void {
  if (given === '') throw workspaceError('bad-path', 'The path is empty.');
  if (given.includes('\0')) throw workspaceError('bad-path', 'The path holds a NUL character, which no file name can.');
  if (!given.isWellFormed()) throw workspaceError('bad-path', 'The path is not well-formed Unicode.');
  if (given.length > maxPathLength)
    throw workspaceError('bad-path', `The path is longer than ${maxPathLength} characters.`);
}

/** An absolute path with the links of its deepest ancestor that exists resolved; below that there is nothing yet that could be a link. */
export function resolveLinks(wanted: string, given: string = wanted): string {
  const missing: string[] = [];
  for (let at = wanted; ; at = path.dirname(at)) {
    try {
      return path.join(realpathSync.native(at), ...missing);
    } catch (error) {
      if (systemErrorCode(error) === 'ELOOP')
        throw workspaceError('bad-path', `The links at ${escapeInvisibleLine(given)} lead in a circle.`);
      if (systemErrorCode(error) !== 'ENOENT' || at === path.dirname(at)) throw toWorkspaceError(error, given);
      // A link whose target is missing: to write there would make a file where nobody looked.
      if (pathExists(at))
        throw workspaceError('bad-path', `${escapeInvisibleLine(given)} is or passes a link that leads nowhere.`);
      missing.unshift(path.basename(at));
    }
  }
}

function pathExists(at: string): boolean {
  try {
    lstatSync(at);
    return true;
  } catch {
    return false;
  }
}

const pathSegments = (canonical: string): readonly string[] => canonical.split(path.sep).filter((name) => name !== '');

/** Refuses a write to a protected place, or where a name is protected however it is written: file systems may fold case and Unicode forms, and drop trailing dots and blanks. */
export function assertWritable(canonical: string, roots: readonly string[], protect: readonly string[]): void {
  const root = roots.find((each) => isPathInside(each, canonical)) ?? '';
  const names = pathSegments(canonical).slice(pathSegments(root).length).map(normalizeFileName);
  const hit = protect.find((each) =>
    path.isAbsolute(each) ? isPathInside(each, canonical) : names.includes(normalizeFileName(each)),
  );
  if (hit !== undefined)
    throw workspaceError(
      'protected',
      `${escapeInvisibleLine(canonical)} was not changed: ${escapeInvisibleLine(hit)} is protected.`,
    );
}

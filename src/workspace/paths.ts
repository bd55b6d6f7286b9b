// Resolves paths and checks that they are inside the roots: links are resolved, and paths are compared by segments, never by string prefix.
import { lstatSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { escapeInvisibleLine, isPathInside, normalizeFileName, systemErrorCode } from '../core/index.ts';
import { toWorkspaceError, workspaceError } from './errors.ts';

const maxPathLength = 4096;

/** Returns the canonical path of an existing or new file. Throws if it is outside all roots and outside the additional folder. */
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
  if (given.includes('\0'))
    throw workspaceError('bad-path', 'The path contains a NUL character, which no file name can.');
  if (!given.isWellFormed()) throw workspaceError('bad-path', 'The path is not well-formed Unicode.');
  if (given.length > maxPathLength)
    throw workspaceError('bad-path', `The path is longer than ${maxPathLength} characters.`);
}

/** Resolves the links of an absolute path as far as it exists. The rest does not exist yet, so it contains no link. */
export function resolveLinks(wanted: string, given: string = wanted): string {
  const missing: string[] = [];
  for (let at = wanted; ; at = path.dirname(at)) {
    try {
      return path.join(realpathSync.native(at), ...missing);
    } catch (error) {
      if (systemErrorCode(error) === 'ELOOP')
        throw workspaceError('bad-path', `The links at ${escapeInvisibleLine(given)} form a loop.`);
      if (systemErrorCode(error) !== 'ENOENT' || at === path.dirname(at)) throw toWorkspaceError(error, given);
      // A link whose target is missing: writing there would create a file at a path that was not checked.
      if (pathExists(at))
        throw workspaceError(
          'bad-path',
          `${escapeInvisibleLine(given)} is or contains a link whose target is missing.`,
        );
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

/** Throws if a path is protected, in any spelling: file systems may ignore case, Unicode normalization form, and trailing dots and spaces. */
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

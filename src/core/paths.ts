// Pure path helpers for security decisions: containment by segments, and file names as a file system may fold them.
import { normalizeUnicode } from './normalize-unicode.ts';
import { trimEndChars } from './trim-end.ts';

/**
 * Returns true if a path is the folder itself or lies inside it. Compares segment by segment, so `/a/bc` is not inside `/a/b`
 * and a child named `..x` is inside. Both paths must be absolute, or both relative to the same folder; links are not resolved.
 * Throws if only one of them is absolute: any answer could open a guard.
 */
export function isPathInside(folder: string, path: string): boolean {
  const [outer, inner] = [parsePath(folder), parsePath(path)];
  if ((outer.root === '') !== (inner.root === ''))
    throw new TypeError(`An absolute and a relative path cannot be compared: ${folder}, ${path}`);
  return outer.root === inner.root && outer.segments.every((name, i) => name === inner.segments[i]);
}

type ParsedPath = { readonly root: string; readonly segments: readonly string[] };

const windowsRoot = /^(?:[a-z]:[\\/]|\\\\)/i;

function parsePath(path: string): ParsedPath {
  // Windows accepts both separators and ignores case. On POSIX a backslash is a character of a file name.
  const isWindows = windowsRoot.test(path);
  const root = isWindows
    ? (windowsRoot.exec(path)?.[0] ?? '').toLowerCase().replaceAll('/', '\\')
    : path.startsWith('/')
      ? '/'
      : '';
  const rest = (isWindows ? path.toLowerCase() : path).slice(root.length);
  const segments: string[] = [];
  for (const name of rest.split(isWindows ? /[\\/]/ : '/')) {
    if (name === '' || name === '.') continue;
    if (name === '..' && (root !== '' || (segments.length > 0 && segments.at(-1) !== '..'))) segments.pop();
    else segments.push(name);
  }
  return { root, segments };
}

/**
 * Returns a file name in one normal form. File systems may ignore case, Unicode normalization form, invisible format characters
 * and trailing dots and spaces, so two names with the same normal form may be one file.
 */
export const normalizeFileName = (name: string): string =>
  trimEndChars(
    normalizeUnicode(name, 'NFKC')
      .replaceAll(/\p{Cf}/gu, '')
      .toLowerCase(),
    '. ',
  );

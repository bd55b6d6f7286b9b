// Finds files in a tool call that other programs execute or load automatically. Changing one always needs approval.
import path from 'node:path';
import { isObject, isPathInside, normalizeFileName, type ToolCall } from '../core/index.ts';
import type { ResolvePath } from './grants.ts';
import { autoExecutedPaths, homeStartupPaths } from './sandbox/auto-executed-paths.ts';

/** Returns the auto-executed names in the paths that a call changes, without duplicates. */
export function findAutoExecutedFiles({ input }: Pick<ToolCall, 'input'>, locate: ResolvePath): readonly string[] {
  const { path: singlePath, paths: pathList } = isObject(input) ? input : {};
  const paths = [singlePath, ...(Array.isArray(pathList) ? pathList : [])].filter((each) => typeof each === 'string');
  const normalized = paths.map((each) => normalizePath(relativeToCwd(each, locate)));
  return autoExecutedPaths.filter((each) => {
    const sought = normalizePath(each);
    return normalized.some((file) => file.includes(sought));
  });
}

/** Returns those of these files that a command may not change in this folder: what other programs execute or load, and what contains it; real paths. */
export function findProtectedFiles(
  files: readonly string[],
  { root, home }: { readonly root: string; readonly home: string },
): readonly string[] {
  const homeFolder = isPathInside(root, home) ? path.relative(root, home) : undefined;
  const names = [
    ...autoExecutedPaths,
    ...(homeFolder === undefined ? [] : homeStartupPaths.map((name) => path.join(homeFolder, name))),
  ].map(normalizePath);
  return files.filter((file) => {
    const sought = normalizePath(path.relative(root, file));
    return names.some((name) => sought.startsWith(name) || name.startsWith(sought));
  });
}

/** Returns the path with a separator around each normalised name, so that a part of a path is a part of the text. */
const normalizePath = (file: string): string => `/${file.split(/[/\\]/).map(normalizeFileName).join('/')}/`;

/** Returns the path relative to the working folder, so that the name of that folder itself is not matched. */
function relativeToCwd(file: string, locate: ResolvePath): string {
  try {
    return path.relative(locate('.'), locate(file));
  } catch {
    return file;
  }
}

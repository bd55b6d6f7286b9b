// Finds files in a tool call that other programs execute or load automatically. Changing one always needs approval.
import path from 'node:path';
import { isObject, isPathInside, normalizeFileName, type ToolCall } from '../core/index.ts';
import type { ResolvePath } from './grants.ts';
import { autoExecutedPaths, homeStartupPaths } from './sandbox/auto-executed-paths.ts';
import { createPresenceCheck } from './sandbox/open-folder.ts';
import { followPath } from './sandbox/protected-links.ts';

/** Returns the auto-executed names in the paths that a call changes, or that links lead to these paths, without duplicates. */
export function findAutoExecutedFiles({ input }: Pick<ToolCall, 'input'>, locate: ResolvePath): readonly string[] {
  const { path: singlePath, paths: pathList } = isObject(input) ? input : {};
  const paths = [singlePath, ...(Array.isArray(pathList) ? pathList : [])].filter((each) => typeof each === 'string');
  if (paths.length === 0) return [];
  const normalized = paths.map((each) => normalizePath(relativeToCwd(each, locate)));
  const named = autoExecutedPaths.filter((each) => {
    const sought = normalizePath(each);
    return normalized.some((file) => file.includes(sought));
  });
  return [...new Set([...named, ...findLinkedNames(paths, locate)])];
}

/** Returns the names in the working folder that are links, or below a link, and lead to one of these paths or a folder above it, whether it exists or not. */
function findLinkedNames(paths: readonly string[], locate: ResolvePath): readonly string[] {
  const root = resolvePath('.', locate);
  const files = paths.flatMap((each) => resolvePath(each, locate) ?? []);
  if (root === undefined || files.length === 0) return [];
  const isPresent = createPresenceCheck(root);
  return ['.git', ...autoExecutedPaths].filter((name) => {
    const at = path.join(root, name);
    if (!isPresent(at)) return false;
    const { links, location } = followPath(root, at);
    return links.length > 0 && location !== undefined && files.some((file) => isPathInside(location, file));
  });
}

function resolvePath(file: string, locate: ResolvePath): string | undefined {
  try {
    const found = locate(file);
    return path.isAbsolute(found) ? found : undefined;
  } catch {
    return undefined;
  }
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

// Files of a project: finds the repository, and reads files that must lie inside it.
export { tryRealPath, resolvesInside, findRepositoryRoot, ancestorDirs } from './paths.ts';
export { collectFiles } from './search-dirs.ts';
export { readTextFile } from './text-file.ts';

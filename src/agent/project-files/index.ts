// Exports of src/agent/project-files for other modules.
export { tryRealPath, resolvesInside, findRepositoryRoot, ancestorDirs } from './paths.ts';
export { collectFiles } from './search-dirs.ts';
export { readTextFile } from './text-file.ts';

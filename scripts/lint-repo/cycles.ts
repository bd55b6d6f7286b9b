// Checks import cycles: none of value imports, and none of any kind (types and lazy imports included) between files of different folders.
import path from 'node:path';
import { isTestFile, type ImportKind, type RepoCheck, type SourceTree } from './source-tree.ts';

/** Names the files of every cycle of value imports, and of every cycle that leaves a folder. */
export const checkCycles: RepoCheck = (tree) => [
  ...findCycles(tree, ['value']).map((files) => `These files import each other in a cycle: ${formatFiles(files)}.`),
  ...findCycles(tree, ['value', 'type', 'lazy'])
    .filter((files) => new Set(files.map((file) => path.posix.dirname(file))).size > 1)
    .map((files) => `These files of different folders import each other in a cycle: ${formatFiles(files)}.`),
];

const formatFiles = (files: readonly string[]): string => files.toSorted().join(', ');

type TarjanMark = { order: number; low: number; open: boolean };

/** Tarjan's strongly connected components, kept when they hold more than one file or a file that imports itself. */
function findCycles(tree: SourceTree, kinds: readonly ImportKind[]): string[][] {
  const marks = new Map<string, TarjanMark>();
  const stack: string[] = [];
  const found: string[][] = [];
  for (const file of tree.sources.keys()) if (!marks.has(file)) visit(file);
  return found;

  function visit(file: string): TarjanMark {
    const mark: TarjanMark = { order: marks.size, low: marks.size, open: true };
    marks.set(file, mark);
    stack.push(file);
    for (const target of getImportTargets(tree, file, kinds)) {
      const seen = marks.get(target);
      if (!seen) mark.low = Math.min(mark.low, visit(target).low);
      else if (seen.open) mark.low = Math.min(mark.low, seen.order);
    }
    if (mark.low === mark.order) close(file);
    return mark;
  }

  function close(file: string): void {
    const members = stack.splice(stack.indexOf(file));
    for (const member of members) marks.get(member)!.open = false;
    if (members.length > 1 || getImportTargets(tree, file, kinds).includes(file)) found.push(members);
  }
}

function getImportTargets(tree: SourceTree, file: string, kinds: readonly ImportKind[]): string[] {
  if (isTestFile(file)) return [];
  const imports = tree.sources.get(file)?.imports ?? [];
  return imports.flatMap(({ kind, target }) =>
    kinds.includes(kind) && target !== undefined && tree.sources.has(target) ? [target] : [],
  );
}

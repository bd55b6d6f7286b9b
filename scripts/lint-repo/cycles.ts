// No two files need each other in order to load: a cycle of value imports is a fault, one of types alone is not.
import type { RepoCheck, SourceTree } from './source-tree.ts';

/** Names the files of every cycle of value imports. */
export const checkCycles: RepoCheck = (tree) =>
  findCycles(tree).map((files) => `These files import each other in a circle: ${files.toSorted().join(', ')}.`);

type TarjanMark = { order: number; low: number; open: boolean };

/** Tarjan's strongly connected components, kept when they hold more than one file or a file that imports itself. */
function findCycles(tree: SourceTree): string[][] {
  const marks = new Map<string, TarjanMark>();
  const stack: string[] = [];
  const found: string[][] = [];
  for (const file of tree.sources.keys()) if (!marks.has(file)) visit(file);
  return found;

  function visit(file: string): TarjanMark {
    const mark: TarjanMark = { order: marks.size, low: marks.size, open: true };
    marks.set(file, mark);
    stack.push(file);
    for (const target of getValueImports(tree, file)) {
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
    if (members.length > 1 || getValueImports(tree, file).includes(file)) found.push(members);
  }
}

function getValueImports(tree: SourceTree, file: string): string[] {
  const imports = tree.sources.get(file)?.imports ?? [];
  return imports.flatMap((each) =>
    each.kind === 'value' && each.target && tree.sources.has(each.target) ? [each.target] : [],
  );
}

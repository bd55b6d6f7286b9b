// No two files need each other in order to load: a cycle of value imports is a fault, one of types alone is not.
import type { HouseCheck, Tree } from './tree.ts';

/** Names the files of every cycle of value imports. */
export const cycles: HouseCheck = (tree) =>
  components(tree).map((files) => `These files import each other in a circle: ${files.toSorted().join(', ')}.`);

type Mark = { order: number; low: number; open: boolean };

/** Tarjan's strongly connected components, kept when they hold more than one file or a file that imports itself. */
function components(tree: Tree): string[][] {
  const marks = new Map<string, Mark>();
  const stack: string[] = [];
  const found: string[][] = [];
  for (const file of tree.sources.keys()) if (!marks.has(file)) visit(file);
  return found;

  function visit(file: string): Mark {
    const mark: Mark = { order: marks.size, low: marks.size, open: true };
    marks.set(file, mark);
    stack.push(file);
    for (const target of needs(tree, file)) {
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
    if (members.length > 1 || needs(tree, file).includes(file)) found.push(members);
  }
}

function needs(tree: Tree, file: string): string[] {
  const imports = tree.sources.get(file)?.imports ?? [];
  return imports.flatMap((each) =>
    each.kind === 'value' && each.target && tree.sources.has(each.target) ? [each.target] : [],
  );
}

// Which files travel together in the bundle: opening fifty small files costs a short run more than reading a few large ones.
import path from 'node:path';
import { readSourceTree, type SourceTree } from '../lint-repo/source-tree.ts';

/** A chunk by name, and the modules whose static imports it holds; what an earlier one holds, a later one does not. */
type ChunkGroup = { readonly name: string; readonly roots: readonly string[] };

const chunkGroups: readonly ChunkGroup[] = [
  // What every start pays for.
  { name: 'entry', roots: ['src/cli/main.ts', 'src/cli/args/help.ts'] },
  { name: 'library', roots: ['src/index.ts'] },
  { name: 'stores', roots: ['src/stores/index.ts'] },
  // The way to a model that speaks chat, as most do.
  {
    name: 'wire',
    roots: ['src/providers/index.ts', 'src/providers/openai-compatible/chat.ts', 'src/providers/gateway/policies.ts'],
  },
  { name: 'print-mode', roots: ['src/cli/commands/conversation.ts', 'src/cli/print-mode/print-mode.ts'] },
];

/** The chunk of each source file that has one, by its path. */
export function createChunkNamer(root: string): (id: string) => string | null {
  const tree = readSourceTree(path.join(root, 'src'));
  const names = new Map<string, string>();
  for (const { name, roots } of chunkGroups)
    for (const file of roots.flatMap((each) => [...getStaticImportClosure(tree, each.slice('src/'.length))]))
      if (!names.has(file)) names.set(file, name);
  return (id) => {
    const file = path.relative(path.join(root, 'src'), id).replaceAll('\\', '/');
    return names.get(file) ?? (/[\\/]node_modules[\\/]cockatiel[\\/]/.test(id) ? 'wire' : null);
  };
}

/** A file and everything that is loaded with it. */
function getStaticImportClosure(tree: SourceTree, root: string, seen: Set<string> = new Set()): ReadonlySet<string> {
  if (seen.has(root) || !tree.sources.has(root)) return seen;
  seen.add(root);
  for (const { kind, target } of tree.sources.get(root)?.imports ?? [])
    if (kind === 'value' && target !== undefined) getStaticImportClosure(tree, target, seen);
  return seen;
}

// Groups source files into chunks of the bundle: a short run starts faster with a few large files than with many small ones.
import path from 'node:path';
import { readSourceTree, type Program, type SourceTree } from '../lint-repo/source-tree.ts';

/** Files that are in one chunk: those that the static imports of the roots load. A file is in the first chunk that contains it. */
type ChunkGroup = {
  readonly roots: readonly string[];
  /** The name of the chunk; if it is absent, the module of a file decides. */
  readonly name?: string;
  /** Only files that these roots load too are in the chunk. */
  readonly sharedWith?: readonly string[];
};

/** The chunk of a module, so that a program loads little more than the modules that it imports; `print-mode` for the rest. */
const moduleChunks: Readonly<Record<string, string>> = {
  core: 'agent',
  agent: 'agent',
  rules: 'tools',
  guards: 'tools',
  workspace: 'tools',
  tools: 'tools',
  stores: 'stores',
  wire: 'wire',
  providers: 'providers',
};

/** A one-shot with a provider that has the chat completions format, as most have. */
const oneShotRoots: readonly string[] = [
  'src/cli/commands/conversation.ts',
  'src/cli/print-mode/print-mode.ts',
  'src/stores/index.ts',
  'src/providers/openai-compatible/chat.ts',
];

const chunkGroups: readonly ChunkGroup[] = [
  // Loaded at every start.
  { name: 'entry', roots: ['src/cli/main.ts', 'src/cli/args/help.ts'] },
  // What the library and a one-shot share; the rest of the library is not loaded by a one-shot.
  { name: 'library', roots: ['src/index.ts'], sharedWith: oneShotRoots },
  { name: 'library-agent', roots: ['src/index.ts'] },
  { roots: oneShotRoots },
];

// Packages that files of these chunks import, and the compiler's own helpers.
const packageChunks: readonly (readonly [RegExp, string])[] = [
  [/@oxc-project\+runtime/, 'library'],
  [/[\\/]node_modules[\\/]@cfworker[\\/]/, 'library'],
  [/[\\/]package\.json$/, 'entry'],
];

/** Returns the function that names the chunk of a source file; null leaves the choice to the bundler. */
export function createChunkNamer(root: string): (id: string) => string | null {
  const tree = readSourceTree(path.join(root, 'src'));
  const names = new Map<string, string>();
  const loadedBy = (roots: readonly string[]): ReadonlySet<string> =>
    new Set(roots.flatMap((each) => [...getStaticImportClosure(tree, each.slice('src/'.length))]));
  for (const { name, roots, sharedWith } of chunkGroups) {
    const shared = sharedWith && loadedBy(sharedWith);
    for (const file of loadedBy(roots))
      if (!names.has(file) && shared?.has(file) !== false)
        names.set(file, name ?? moduleChunks[file.slice(0, file.indexOf('/'))] ?? 'print-mode');
  }
  return (id) => {
    const file = path.relative(path.join(root, 'src'), id).replaceAll('\\', '/');
    return names.get(file) ?? packageChunks.find(([pattern]) => pattern.test(id))?.[1] ?? null;
  };
}

/** A file and every file that its static imports load. */
function getStaticImportClosure(tree: SourceTree, root: string): ReadonlySet<string> {
  const seen = new Set<string>();
  const visit = (file: string): void => {
    if (seen.has(file) || !tree.sources.has(file)) return;
    seen.add(file);
    for (const target of listLoadedFiles(tree, file)) visit(target);
  };
  visit(root);
  return seen;
}

/** The files that a file loads. An import from an index loads only the files that define the imported names: the bundler drops the rest. */
function listLoadedFiles(tree: SourceTree, file: string): readonly string[] {
  return (tree.sources.get(file)?.body ?? []).flatMap((node) => {
    if (node.type !== 'ImportDeclaration' && node.type !== 'ExportNamedDeclaration') return [];
    const isType = node.type === 'ImportDeclaration' ? node.importKind === 'type' : node.exportKind === 'type';
    if (isType || !node.source?.value.startsWith('.')) return [];
    const target = resolvePath(file, node.source.value);
    const names = getImportedNames(node);
    if (names === undefined) return [target];
    return names.map((name) => findDefiningFile(tree, target, name));
  });
}

/** The names that a statement imports as values; absent if it imports the whole module. */
function getImportedNames(node: ImportNode | ExportNode): readonly string[] | undefined {
  if (node.specifiers.length === 0) return undefined;
  const names: string[] = [];
  for (const each of node.specifiers) {
    if (each.type === 'ImportDefaultSpecifier' || each.type === 'ImportNamespaceSpecifier') return undefined;
    const isType = each.type === 'ImportSpecifier' ? each.importKind === 'type' : each.exportKind === 'type';
    const name = each.type === 'ImportSpecifier' ? each.imported : each.local;
    if (!isType) names.push('name' in name ? name.name : name.value);
  }
  return names;
}

/** The file that defines a name which another file exports: that file, or one that it re-exports the name from. */
function findDefiningFile(tree: SourceTree, file: string, name: string): string {
  for (const node of tree.sources.get(file)?.body ?? []) {
    if (node.type !== 'ExportNamedDeclaration' || !node.source) continue;
    for (const { exported, local } of node.specifiers)
      if ('name' in exported && exported.name === name && 'name' in local)
        return findDefiningFile(tree, resolvePath(file, node.source.value), local.name);
  }
  return file;
}

type ImportNode = Extract<Program['body'][number], { type: 'ImportDeclaration' }>;
type ExportNode = Extract<Program['body'][number], { type: 'ExportNamedDeclaration' }>;

const resolvePath = (from: string, specifier: string): string => path.posix.join(path.posix.dirname(from), specifier);

// Checks the sizes and names of files and folders, the length of the agent loop, and the contents of index files.
import { isTestFile, type RepoCheck, type SourceFile, type SourceTree } from './source-tree.ts';

const maxModules = 20;

/** Reports files, folders and index files that are too large, and names without meaning. */
export const checkSizes: RepoCheck = (tree) => [
  ...checkFileLengths(tree),
  ...checkModules(tree),
  ...checkExportAll(tree),
  ...checkFileNames(tree),
];

function getMaxLines(file: string): number {
  if (file === 'src/core/loop.ts') return 80;
  return file.startsWith('src/providers/') ? 400 : 320;
}

function checkFileLengths(tree: SourceTree): string[] {
  return getProductFiles(tree).flatMap((file) => {
    const lines = file.text.trimEnd().split('\n').length;
    const most = getMaxLines(file.path);
    return lines > most ? [`${file.path} has ${lines} lines; at most ${most}.`] : [];
  });
}

function checkModules(tree: SourceTree): string[] {
  const names = new Set(tree.paths.flatMap((file) => /^src\/([^/]+)\//.exec(file)?.[1] ?? []));
  const crowded = names.size > maxModules ? [`src has ${names.size} folders; at most ${maxModules}.`] : [];
  const doorless = [...names].filter((name) => !tree.sources.has(`src/${name}/index.ts`));
  return [...crowded, ...doorless.map((name) => `src/${name} has no index.ts that lists its public names.`)];
}

function checkExportAll(tree: SourceTree): string[] {
  return getProductFiles(tree).flatMap((file) =>
    file.body.some((node) => node.type === 'ExportAllDeclaration')
      ? [`${file.path} says "export *"; list the names it exports.`]
      : [],
  );
}

function checkFileNames(tree: SourceTree): string[] {
  return getProductFiles(tree).flatMap(({ path }) => {
    const empty = /(?:^|[/.-])(utils?|helpers?|common|misc|manager|service|impl)(?:[/.-]|$)/.exec(path)?.[1];
    return empty === undefined ? [] : [`${path} is called "${empty}", which says nothing; name the thing it holds.`];
  });
}

function getProductFiles(tree: SourceTree): SourceFile[] {
  return [...tree.sources.values()].filter((file) => /^(src|scripts|web)\//.test(file.path) && !isTestFile(file.path));
}

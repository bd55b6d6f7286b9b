// Small files with telling names, a loop on one screen, a source folder whose listing draws the architecture, doors that list what they open.
import { isTest, type HouseCheck, type SourceFile, type Tree } from './tree.ts';

const mostRooms = 13;

/** Fails on a file, a folder or an index that has outgrown its measure, and on a name that says nothing. */
export const sizes: HouseCheck = (tree) => [...tooLong(tree), ...rooms(tree), ...doors(tree), ...names(tree)];

function mostLines(file: string): number {
  if (file === 'src/core/loop.ts') return 80;
  return file.startsWith('src/providers/') ? 400 : 300;
}

function tooLong(tree: Tree): string[] {
  return ours(tree).flatMap((file) => {
    const lines = file.text.trimEnd().split('\n').length;
    const most = mostLines(file.path);
    return lines > most ? [`${file.path} has ${lines} lines; at most ${most}.`] : [];
  });
}

function rooms(tree: Tree): string[] {
  const names = new Set(tree.paths.flatMap((file) => /^src\/([^/]+)\//.exec(file)?.[1] ?? []));
  const crowded = names.size > mostRooms ? [`src has ${names.size} folders; at most ${mostRooms}.`] : [];
  const doorless = [...names].filter((name) => !tree.sources.has(`src/${name}/index.ts`));
  return [...crowded, ...doorless.map((name) => `src/${name} has no index.ts that lists its public names.`)];
}

function doors(tree: Tree): string[] {
  return ours(tree).flatMap((file) =>
    file.body.some((node) => node.type === 'ExportAllDeclaration')
      ? [`${file.path} says "export *"; list the names it exports.`]
      : [],
  );
}

function names(tree: Tree): string[] {
  return ours(tree).flatMap(({ path }) => {
    const empty = /(?:^|[/.-])(utils?|helpers?|common|misc|manager|service|impl)(?:[/.-]|$)/.exec(path)?.[1];
    return empty === undefined ? [] : [`${path} is called "${empty}", which says nothing; name the thing it holds.`];
  });
}

function ours(tree: Tree): SourceFile[] {
  return [...tree.sources.values()].filter((file) => /^(src|scripts|web)\//.test(file.path) && !isTest(file.path));
}

// Resolves the exported names of a module through its re-exports to the declarations and their doc comments.
import path from 'node:path';
import type { Program, SourceFile } from '../lint-repo/source-tree.ts';

type Statement = Program['body'][number];
type Files = ReadonlyMap<string, SourceFile>;

/** An exported name with the file and the statements that declare it; none if the declaration was not found. */
export type ResolvedExport = {
  readonly name: string;
  readonly file: SourceFile | undefined;
  readonly statements: readonly Statement[];
};

/** Returns the source file of every package subpath, such as `fairlead/core` and `src/core/index.ts`. */
export function getSubpathSources(manifest: string): ReadonlyMap<string, string> {
  const { name, exports } = JSON.parse(manifest) as {
    name: string;
    exports: Readonly<Record<string, string | { readonly types?: string }>>;
  };
  return new Map(
    Object.entries(exports).flatMap(([subpath, target]) => {
      const types = typeof target === 'string' ? undefined : target.types;
      const source = types && /^\.\/dist\/types\/(.*)\.d\.ts$/.exec(types)?.[1];
      return source ? [[path.posix.join(name, subpath), `src/${source}.ts`]] : [];
    }),
  );
}

/** Returns every name that a module exports, with its declaration. */
export function resolveExports(files: Files, entry: string): readonly ResolvedExport[] {
  const file = files.get(entry);
  return [...new Set((file?.body ?? []).flatMap(getExportedNames))].map((name) => findDeclaration(files, entry, name));
}

/** Returns the text of the doc comment directly above a position, without its stars, if there is one. */
export function getDocComment(file: SourceFile, start: number): string | undefined {
  const above = file.comments.findLast((each) => each.end <= start);
  if (above?.type !== 'Block' || !above.value.startsWith('*')) return undefined;
  if (!/^[ \t]*\n?[ \t]*$/.test(file.text.slice(above.end, start))) return undefined;
  return above.value.replace(/^\s*\*+ ?/gm, '').trim();
}

/** Finds the declaration of a name that a module declares, imports or re-exports. */
export function findDeclaration(files: Files, from: string, name: string): ResolvedExport {
  const file = files.get(from);
  const own = (file?.body ?? []).filter((node) => getDeclaredNames(node).includes(name));
  if (file && own.length > 0) return { name, file, statements: own };
  for (const node of file?.body ?? []) {
    const link = getLink(node, name);
    if (link === undefined) continue;
    const target = link.source === undefined ? from : path.posix.join(path.posix.dirname(from), link.source);
    if (target === from && link.name === name) continue;
    const found = findDeclaration(files, target, link.name);
    if (found.statements.length > 0) return { ...found, name };
  }
  return { name, file: undefined, statements: [] };
}

/** Returns where a statement takes a name from: a re-export, an import, or a renaming in the same file. */
function getLink(node: Statement, name: string): { name: string; source: string | undefined } | undefined {
  if (node.type === 'ImportDeclaration') {
    const found = node.specifiers.find((each) => each.type === 'ImportSpecifier' && each.local.name === name);
    if (found?.type !== 'ImportSpecifier') return undefined;
    return { name: getName(found.imported), source: node.source.value };
  }
  if (node.type !== 'ExportNamedDeclaration') return undefined;
  const found = node.specifiers.find((each) => getName(each.exported) === name);
  return found && { name: getName(found.local), source: node.source?.value };
}

function getExportedNames(node: Statement): string[] {
  if (node.type !== 'ExportNamedDeclaration') return [];
  return [...node.specifiers.map((each) => getName(each.exported)), ...getDeclaredNames(node)];
}

function getDeclaredNames(node: Statement): string[] {
  const declaration = node.type === 'ExportNamedDeclaration' ? node.declaration : node;
  if (!declaration) return [];
  if ('declarations' in declaration)
    return declaration.declarations.flatMap(({ id }) => (id.type === 'Identifier' ? [id.name] : []));
  return 'id' in declaration && declaration.id && 'name' in declaration.id ? [declaration.id.name] : [];
}

const getName = (id: { readonly type: string; readonly name?: string; readonly value?: unknown }): string =>
  id.name ?? String(id.value);

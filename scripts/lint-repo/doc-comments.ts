// Every name that src and web export says in a sentence what it is for, in a doc comment directly above it.
import { isTestFile, getLineNumber, type RepoCheck, type Program, type SourceFile } from './source-tree.ts';

type Statement = Program['body'][number];

/** Fails on an exported declaration without a doc comment of at least one sentence; re-exports are exempt. */
export const checkDocComments: RepoCheck = (tree) =>
  [...tree.sources.values()]
    .filter((file) => /^(src|web)\//.test(file.path) && !isTestFile(file.path))
    .flatMap(findUndocumented);

function findUndocumented(file: SourceFile): string[] {
  const named = getListedExports(file);
  const seen = new Set<string>();
  return file.body.flatMap((node) => {
    const names = getExportedNames(node, named).filter((name) => !seen.has(name));
    for (const name of names) seen.add(name);
    if (names.length === 0 || hasDocComment(file, node.start)) return [];
    return [
      `${file.path}:${getLineNumber(file.text, node.start)} exports ${names.join(', ')} without a doc comment sentence above it.`,
    ];
  });
}

/** Names that a file exports in a list without a source, such as `export { a, b }`. */
function getListedExports(file: SourceFile): Set<string> {
  const names = file.body.flatMap((node) => {
    if (node.type !== 'ExportNamedDeclaration' || node.source) return [];
    return node.specifiers.flatMap((each) => (each.local.type === 'Identifier' ? [each.local.name] : []));
  });
  return new Set(names);
}

function getExportedNames(node: Statement, listed: ReadonlySet<string>): string[] {
  if (node.type === 'ExportDefaultDeclaration') return ['default'];
  if (node.type === 'ExportNamedDeclaration') return node.declaration ? getDeclaredNames(node.declaration) : [];
  return getDeclaredNames(node).filter((name) => listed.has(name));
}

function getDeclaredNames(node: object): string[] {
  if ('declarations' in node && Array.isArray(node.declarations))
    return node.declarations.flatMap((each) => getDeclaredName(each));
  return getDeclaredName(node);
}

function getDeclaredName(node: unknown): string[] {
  const id = typeof node === 'object' && node !== null && 'id' in node ? node.id : undefined;
  if (typeof id !== 'object' || id === null || !('name' in id)) return id ? ['a pattern'] : [];
  return typeof id.name === 'string' ? [id.name] : [];
}

function hasDocComment(file: SourceFile, start: number): boolean {
  const above = file.comments.findLast((each) => each.end <= start);
  if (!above || above.type !== 'Block' || !above.value.startsWith('*')) return false;
  if (!/^[ \t]*\n?[ \t]*$/.test(file.text.slice(above.end, start))) return false;
  const words = above.value.replace(/^\s*\*+ ?/gm, '').trim();
  return /\S+\s+\S+\s+\S[^]*?[.!?]/.test(words);
}

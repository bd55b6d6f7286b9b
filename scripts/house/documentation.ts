// Every name that src and web export says in a sentence what it is for, in a doc comment directly above it.
import { isTest, lineAt, type HouseCheck, type Program, type SourceFile } from './tree.ts';

type Statement = Program['body'][number];

/** Fails on an exported declaration without a doc comment of at least one sentence; re-exports are exempt. */
export const documentation: HouseCheck = (tree) =>
  [...tree.sources.values()]
    .filter((file) => /^(src|web)\//.test(file.path) && !isTest(file.path))
    .flatMap(undocumented);

function undocumented(file: SourceFile): string[] {
  const named = listedBelow(file);
  const seen = new Set<string>();
  return file.body.flatMap((node) => {
    const names = exportedNames(node, named).filter((name) => !seen.has(name));
    for (const name of names) seen.add(name);
    if (names.length === 0 || hasSentenceAbove(file, node.start)) return [];
    return [
      `${file.path}:${lineAt(file.text, node.start)} exports ${names.join(', ')} without a doc comment sentence above it.`,
    ];
  });
}

/** Names that a file exports in a list without a source, such as `export { a, b }`. */
function listedBelow(file: SourceFile): Set<string> {
  const names = file.body.flatMap((node) => {
    if (node.type !== 'ExportNamedDeclaration' || node.source) return [];
    return node.specifiers.flatMap((each) => (each.local.type === 'Identifier' ? [each.local.name] : []));
  });
  return new Set(names);
}

function exportedNames(node: Statement, listed: ReadonlySet<string>): string[] {
  if (node.type === 'ExportDefaultDeclaration') return ['default'];
  if (node.type === 'ExportNamedDeclaration') return node.declaration ? declaredNames(node.declaration) : [];
  return declaredNames(node).filter((name) => listed.has(name));
}

function declaredNames(node: object): string[] {
  if ('declarations' in node && Array.isArray(node.declarations))
    return node.declarations.flatMap((each) => nameOf(each));
  return nameOf(node);
}

function nameOf(node: unknown): string[] {
  const id = typeof node === 'object' && node !== null && 'id' in node ? node.id : undefined;
  if (typeof id !== 'object' || id === null || !('name' in id)) return id ? ['a pattern'] : [];
  return typeof id.name === 'string' ? [id.name] : [];
}

function hasSentenceAbove(file: SourceFile, start: number): boolean {
  const above = file.comments.findLast((each) => each.end <= start);
  if (!above || above.type !== 'Block' || !above.value.startsWith('*')) return false;
  if (!/^[ \t]*\n?[ \t]*$/.test(file.text.slice(above.end, start))) return false;
  const words = above.value.replace(/^\s*\*+ ?/gm, '').trim();
  return /\S+\s+\S+\s+\S[^]*?[.!?]/.test(words);
}

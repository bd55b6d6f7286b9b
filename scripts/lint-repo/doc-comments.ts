// Checks that every exported name of src and web has a doc comment of at least one sentence.
import { getDocComment, getSubpathSources, resolveExports } from '../docs/exports.ts';
import {
  isTestFile,
  getLineNumber,
  type RepoCheck,
  type Program,
  type SourceFile,
  type SourceTree,
} from './source-tree.ts';

type Statement = Program['body'][number];

/** Fails on an exported declaration without a doc comment of at least one sentence, and on a package export without a declaration. */
export const checkDocComments: RepoCheck = (tree) => [
  ...[...tree.sources.values()]
    .filter((file) => /^(src|web)\//.test(file.path) && !isTestFile(file.path))
    .flatMap(findUndocumented),
  ...findUnresolvedExports(tree),
];

/** A package export from another package, or without a declaration, would be missing in the API reference. */
function findUnresolvedExports(tree: SourceTree): string[] {
  if (!tree.paths.includes('package.json')) return [];
  return [...getSubpathSources(tree.text('package.json'))].flatMap(([subpath, source]) => {
    if (!tree.sources.has(source)) return [`${subpath} is exported by package.json, but ${source} does not exist.`];
    return resolveExports(tree.sources, source)
      .filter(
        ({ file, statements }) => !file || !statements.some((each) => isSentence(getDocComment(file, each.start))),
      )
      .map(({ name }) => `${subpath} exports ${name} without a declaration and a doc comment sentence in src.`);
  });
}

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

const hasDocComment = (file: SourceFile, start: number): boolean => isSentence(getDocComment(file, start));

/** Whether a text has at least three words and ends with a period. */
const isSentence = (text: string | undefined): boolean => text !== undefined && /\S+\s+\S+\s+\S[^]*?[.!?]/.test(text);

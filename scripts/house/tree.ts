// The tree the house checks look at: every source file of a folder, read and parsed once.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync, Visitor } from 'rolldown/utils';

/** How a file reaches another one: at load time, for types only, or when the code gets there. */
export type ImportKind = 'value' | 'type' | 'lazy';

/** One import of a file; `target` is the path inside the tree when the specifier is relative. */
export type Import = {
  readonly specifier: string;
  readonly kind: ImportKind;
  readonly line: number;
  readonly target: string | undefined;
};

/** The part of a syntax tree that the checks read. */
export type Program = ReturnType<typeof parseSync>['program'];

/** A comment with its place in the text. */
export type Comment = {
  readonly type: 'Line' | 'Block';
  readonly value: string;
  readonly start: number;
  readonly end: number;
};

/** A parsed TypeScript file; `problem` is set when it does not parse, and the rest is then empty. */
export type SourceFile = {
  readonly path: string;
  readonly text: string;
  readonly problem: string | undefined;
  readonly imports: readonly Import[];
  readonly body: Program['body'];
  readonly comments: readonly Comment[];
};

/** All that the checks may look at; paths are relative to the root, with forward slashes. */
export type Tree = {
  readonly root: string;
  readonly paths: readonly string[];
  readonly sources: ReadonlyMap<string, SourceFile>;
  text(path: string): string;
};

/** A check takes the tree and answers with one sentence for each thing that is wrong. */
export type HouseCheck = (tree: Tree) => string[];

const skippedFolders = new Set(['node_modules', 'dist', 'coverage', '.git']);

/** Reads a folder into a tree. */
export function readTree(root: string): Tree {
  const paths = walk(root, '').toSorted();
  const text = (file: string): string => readFileSync(path.join(root, file), 'utf8');
  const sources = new Map<string, SourceFile>();
  for (const file of paths)
    if (/\.m?tsx?$/.test(file) && !file.endsWith('.d.ts')) sources.set(file, parse(file, text(file)));
  return { root, paths, sources, text };
}

/** Whether a path is a test, which stands outside the floors. */
export function isTest(file: string): boolean {
  return file.endsWith('.test.ts');
}

/** The line, counted from one, of a place in a text. */
export function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}

function walk(root: string, folder: string): string[] {
  return readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const inside = path.posix.join(folder, entry.name);
    if (entry.isDirectory())
      return skippedFolders.has(entry.name) || entry.name.startsWith('dist-') ? [] : walk(root, inside);
    return entry.isFile() ? [inside] : [];
  });
}

function parse(file: string, text: string): SourceFile {
  const result = parseSync(file, text);
  const error = result.errors.find((each) => each.severity === 'Error');
  if (error) return { path: file, text, problem: error.message, imports: [], body: [], comments: [] };
  return {
    path: file,
    text,
    problem: undefined,
    imports: importsOf(file, text, result.program),
    body: result.program.body,
    comments: result.comments,
  };
}

function importsOf(file: string, text: string, program: Program): Import[] {
  const imports: Import[] = [];
  const add = (specifier: unknown, kind: ImportKind, start: number): void => {
    if (typeof specifier !== 'string') return;
    const target = specifier.startsWith('.') ? path.posix.join(path.posix.dirname(file), specifier) : undefined;
    imports.push({ specifier, kind, line: lineAt(text, start), target });
  };
  new Visitor({
    ImportDeclaration: (node) => add(node.source.value, node.importKind === 'type' ? 'type' : 'value', node.start),
    ExportNamedDeclaration: (node) =>
      add(node.source?.value, node.exportKind === 'type' ? 'type' : 'value', node.start),
    ExportAllDeclaration: (node) => add(node.source.value, node.exportKind === 'type' ? 'type' : 'value', node.start),
    ImportExpression: (node) => add(node.source.type === 'Literal' ? node.source.value : undefined, 'lazy', node.start),
    TSImportType: (node) => add(node.source.value, 'type', node.start),
  }).visit(program);
  return imports;
}

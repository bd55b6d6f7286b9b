// Source tree of the repository checks: every source file of a folder, read and parsed once, its syntax tree on first use.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync, Visitor } from 'rolldown/utils';

/** How a file reaches another one: at load time, for types only, or when the code gets there. */
export type ImportKind = 'value' | 'type' | 'lazy';

/** One import of a file; `target` is the path inside the tree when the specifier is relative. */
export type FileImport = {
  readonly specifier: string;
  readonly kind: ImportKind;
  readonly line: number;
  readonly target: string | undefined;
};

/** The part of a syntax tree that the checks read. */
export type Program = ReturnType<typeof parseSync>['program'];

/** A comment with its place in the text. */
export type SourceComment = {
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
  readonly imports: readonly FileImport[];
  readonly body: Program['body'];
  readonly comments: readonly SourceComment[];
};

/** The input of the checks; paths are relative to the root, with forward slashes. */
export type SourceTree = {
  readonly root: string;
  readonly paths: readonly string[];
  readonly sources: ReadonlyMap<string, SourceFile>;
  text(path: string): string;
};

/** A check returns one sentence for each problem in the tree. */
export type RepoCheck = (tree: SourceTree) => string[];

const skippedDirs = new Set(['node_modules', 'dist', 'coverage', '.git']);

/** Reads a folder into a tree. */
export function readSourceTree(root: string): SourceTree {
  const paths = listFiles(root, '').toSorted();
  const text = (file: string): string => readFileSync(path.join(root, file), 'utf8');
  const sources = new Map<string, SourceFile>();
  for (const file of paths)
    if (/\.m?tsx?$/.test(file) && !file.endsWith('.d.ts')) sources.set(file, parseSourceFile(file, text(file)));
  return { root, paths, sources, text };
}

/** Whether a path is a test, which the layers do not include. */
export function isTestFile(file: string): boolean {
  return file.endsWith('.test.ts');
}

/** Returns the line number of a position, starting at 1. */
export function getLineNumber(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}

function listFiles(root: string, folder: string): string[] {
  return readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const inside = path.posix.join(folder, entry.name);
    if (entry.isDirectory())
      return skippedDirs.has(entry.name) || entry.name.startsWith('dist-') ? [] : listFiles(root, inside);
    // In a worktree .git is a file that holds a path of the machine.
    return entry.isFile() && entry.name !== '.git' ? [inside] : [];
  });
}

/** Parses one file of the tree. Its syntax tree, which takes several times as long, is built for the first check that reads it. */
export function parseSourceFile(file: string, text: string): SourceFile {
  const result = parseSync(file, text);
  const error = result.errors.find((each) => each.severity === 'Error');
  if (error) return { path: file, text, problem: error.message, imports: [], body: [], comments: [] };
  let imports: readonly FileImport[] | undefined;
  return {
    path: file,
    text,
    problem: undefined,
    get imports() {
      return (imports ??= getImports(file, text, result.program));
    },
    get body() {
      return result.program.body;
    },
    get comments() {
      return result.comments;
    },
  };
}

function getImports(file: string, text: string, program: Program): FileImport[] {
  const imports: FileImport[] = [];
  const add = (specifier: unknown, kind: ImportKind, start: number): void => {
    if (typeof specifier !== 'string') return;
    const target = specifier.startsWith('.') ? path.posix.join(path.posix.dirname(file), specifier) : undefined;
    imports.push({ specifier, kind, line: getLineNumber(text, start), target });
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

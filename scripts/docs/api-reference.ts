// API reference: for every package subpath, each exported name with its doc comment and its declaration.
import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseSourceFile, type SourceFile } from '../lint-repo/source-tree.ts';
import { getDocComment, getSubpathSources, resolveExports, type ResolvedExport } from './exports.ts';

/** An exported name as the reference shows it. */
export type ApiEntry = {
  readonly name: string;
  readonly description: string;
  readonly declaration: string;
  readonly source: string;
};

/** A package subpath with the names it exports. */
export type ApiModule = { readonly subpath: string; readonly entries: readonly ApiEntry[] };

/** Reads the API of the package from declarations that the compiler writes for this purpose. */
export function readApi(root: string): readonly ApiModule[] {
  const subpaths = getSubpathSources(readFileSync(path.join(root, 'package.json'), 'utf8'));
  const files = subpaths.size > 0 ? emitDeclarations(root) : new Map<string, SourceFile>();
  return [...subpaths].map(([subpath, source]) => ({
    subpath,
    entries: resolveExports(files, source)
      .flatMap(toEntry)
      .toSorted((a, b) => a.name.localeCompare(b.name, 'en')),
  }));
}

/** Writes declarations into a temporary directory and parses them, under the paths of their sources. */
function emitDeclarations(root: string): ReadonlyMap<string, SourceFile> {
  const outDir = mkdtempSync(path.join(tmpdir(), 'fairlead-declarations-'));
  try {
    const compiler = path.join(root, 'node_modules/typescript/bin/tsc');
    const args = [compiler, '--project', path.join(root, 'tsconfig.build.json'), '--outDir', outDir];
    // Declarations are written even where the compiler reports an error; `npm run types` is the check for those.
    spawnSync(process.execPath, args, { cwd: root, stdio: 'ignore' });
    return new Map(
      globSync('**/*.d.ts', { cwd: outDir }).map((name) => {
        const file = `src/${name.replaceAll('\\', '/').replace(/\.d\.ts$/, '.ts')}`;
        return [file, parseSourceFile(file, readFileSync(path.join(outDir, name), 'utf8'))];
      }),
    );
  } finally {
    rmSync(outDir, { recursive: true, force: true });
  }
}

/** Returns nothing for a name without a declaration, which the check of doc comments reports. */
function toEntry({ name, file, statements }: ResolvedExport): readonly ApiEntry[] {
  if (!file) return [];
  const documented = statements.map((each) => getDocComment(file, each.start)).find((each) => each !== undefined);
  const declaration = statements
    .map((each) => file.text.slice(each.start, each.end))
    .join('\n')
    .replace(/^export (declare )?/gm, '')
    .replace(/^ {4}#private;\n/m, '')
    .replace(/^( {4})+/gm, (indent) => indent.replaceAll('    ', '  '));
  return [{ name, description: documented ?? '', declaration, source: file.path }];
}

// Builds dist/: one code-split ESM bundle with a chunk for each lazily imported module, the page of the server, and a declaration for each public entry.
// What package.json lists as a dependency of users stays outside the bundle; what it lists for developers is bundled when imported.
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { builtinModules } from 'node:module';
import path from 'node:path';
import { build } from 'rolldown';
import { buildWeb } from '../web/build.ts';
import { applyEagerCompile } from './build/eager-compile.ts';
import { rewriteBuiltinsInDir } from './build/builtin-imports.ts';
import { collectCalledFunctions } from './build/coverage.ts';
import { createChunkNamer } from './build/chunks.ts';
import { writeBillOfMaterials } from './build/bill-of-materials.ts';
import { escapeNonAsciiInDir } from './build/ascii.ts';
import { rewriteLazyRuntimeInDir } from './build/lazy-runtime.ts';
import { inlineReexportsInDir } from './build/inline-reexports.ts';
import { replaceBundledTypes } from './build/bundled-types.ts';

type Manifest = {
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
};

const root = path.resolve(import.meta.dirname, '..');
const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as Manifest;
const isRelease = process.argv.includes('--whole');
const external = new Set(
  [manifest.dependencies, manifest.peerDependencies, manifest.optionalDependencies].flatMap((each) =>
    Object.keys(each ?? {}),
  ),
);

const { entries, missing } = publicEntries();
if (missing.length > 0 && isRelease) fail(`package.json exports ${missing.join(', ')}, which src does not have.`);

// Built in a new folder and renamed at the end, so that a failed build leaves the old one complete.
const stagingDir = path.join(root, `dist-${process.pid}`);
process.on('exit', () => rmSync(stagingDir, { recursive: true, force: true }));
const { output } = await build({
  cwd: root,
  input: {
    bin: 'src/cli/bin.ts',
    'harness-serve': 'src/cli/serve-bin.ts',
    'start-harness': 'src/cli/start-harness.ts',
    ...entries,
  },
  platform: 'node',
  preserveEntrySignatures: 'allow-extension',
  // The oldest supported Node, by "engines" in package.json.
  transform: { target: 'node22' },
  external: (id, importer = '') =>
    id.startsWith('node:') ||
    builtinModules.includes(id) ||
    external.has(getPackageName(id)) ||
    isDbosTelemetry(importer, id),
  output: {
    dir: stagingDir,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    minify: false,
    codeSplitting: {
      // The chunk function follows imports itself: the bundler would include every file that an index re-exports.
      includeDependenciesRecursively: false,
      groups: [{ debugName: 'files loaded together', name: createChunkNamer(root) }],
    },
    comments: { legal: true, annotation: true, jsdoc: false },
  },
  logLevel: 'warn',
  onLog(level, log, handler) {
    // chunks.ts decides which files share a chunk; it is intended that some lazy imports become static.
    if (level === 'warn' && log.code === 'INEFFECTIVE_DYNAMIC_IMPORT') return;
    if (level === 'warn') fail(log.message);
    handler(level, log);
  },
});
// Read by src/guards/detector/weights.ts.
copyFileSync(path.join(root, 'src/guards/detector/weights.bin'), path.join(stagingDir, 'detector-weights.bin'));
escapeNonAsciiInDir(stagingDir);
rewriteLazyRuntimeInDir(stagingDir);
rewriteBuiltinsInDir(stagingDir);
inlineReexportsInDir(stagingDir);
applyEagerCompile(
  await collectCalledFunctions(stagingDir).catch((error: Error) => {
    if (isRelease) fail(error.message);
    console.log(`Built without eager compilation, because the program could not be run: ${error.message}`);
    return new Map();
  }),
);
const modules = output.flatMap((chunk) =>
  chunk.type === 'chunk' ? chunk.moduleIds.map((id) => ({ id, output: chunk.fileName })) : [],
);
const page = await buildWeb(path.join(stagingDir, 'web'));
try {
  writeBillOfMaterials(root, stagingDir, [...modules, ...page.map((id) => ({ id, output: 'web' }))]);
} catch (error) {
  fail((error as Error).message);
}
const declarations = spawnSync('tsc', ['-p', 'tsconfig.build.json', '--outDir', path.join(stagingDir, 'types')], {
  cwd: root,
  stdio: 'inherit',
  shell: process.platform === 'win32',
  env: { ...process.env, PATH: [path.join(root, 'node_modules/.bin'), process.env['PATH']].join(path.delimiter) },
});
if (declarations.status !== 0) fail('tsc could not write the declarations.');
replaceBundledTypes(path.join(stagingDir, 'types'), (id) => !external.has(getPackageName(id)));
rmSync(path.join(root, 'dist'), { recursive: true, force: true });
renameSync(stagingDir, path.join(root, 'dist'));
if (missing.length > 0) console.log(`Built without ${missing.join(', ')}: not in src yet.`);

/** The source file of each entry of the exports map, by the name of its bundle; a file that does not exist is listed as missing. */
function publicEntries(): { entries: Record<string, string>; missing: string[] } {
  const entries: Record<string, string> = {};
  const missing: string[] = [];
  for (const target of Object.values(manifest.exports)) {
    if (typeof target === 'string') continue;
    const source = target.types.replace('./dist/types/', 'src/').replace(/\.d\.ts$/, '.ts');
    if (existsSync(path.join(root, source))) entries[path.basename(target.default, '.js')] = source;
    else missing.push(source);
  }
  return { entries, missing };
}

/** Optional telemetry packages of DBOS, which are not installed and never enabled. */
function isDbosTelemetry(importer: string, id: string): boolean {
  return importer.includes('@dbos-inc') && /^(winston|@opentelemetry)\b/.test(id);
}

function getPackageName(id: string): string {
  return id.split('/', id.startsWith('@') ? 2 : 1).join('/');
}

function fail(sentence: string): never {
  console.error(`The build stopped: ${sentence}`);
  process.exit(1);
}

// Replaces imports of Node built-ins in a bundle by process.getBuiltinModule: an import makes Node create a module wrapper with all exports, which slows the start.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseSpecifiers } from './inline-reexports.ts';

const builtinImportPattern = /^import (?:\* as ([\w$]+)|([\w$]+)?(?:, )?(?:\{ ([^{}]*) \})?) from "(node:[\w/]+)";$/;

/** Built-ins that Node does not load at its start: loaded at the first call of one of their functions. */
const lazyBuiltins = new Set(
  ['child_process', 'crypto', 'dns/promises', 'fs/promises', 'module', 'timers/promises'].map((each) => `node:${each}`),
);

/** Returns the same program without static imports of Node built-ins. Only imports at the start of the file are replaced: further down the same words may be text. */
export function rewriteBuiltinImports(program: string): string {
  const lines = program.split('\n');
  for (const [i, line] of lines.entries()) {
    if (!line.startsWith('import ')) break;
    const [, all, main, names, from] = builtinImportPattern.exec(line) ?? [];
    if (from === undefined) continue;
    const isLate = all === undefined && main === undefined && lazyBuiltins.has(from);
    lines[i] =
      isLate && parseSpecifiers(names).every(([name, as]) => canLoadLazily(from, name, as, program))
        ? formatLazyBuiltin(from, names)
        : formatEagerBuiltin(from, all ?? main, names);
  }
  return lines.join('\n');
}

/** Uses `globalThis.process`, because a program may import `process` itself. */
const formatBuiltinAccess = (from: string): string => `globalThis.process.getBuiltinModule("${from}")`;

function formatEagerBuiltin(from: string, whole: string | undefined, names: string | undefined): string {
  const parts = names?.replaceAll(' as ', ': ');
  if (whole === undefined) return `const { ${parts} } = ${formatBuiltinAccess(from)};`;
  return parts === undefined
    ? `const ${whole} = ${formatBuiltinAccess(from)};`
    : `const ${whole} = ${formatBuiltinAccess(from)}, { ${parts} } = ${whole};`;
}

/** Each name is a function that loads the module at its first call and replaces all names. */
function formatLazyBuiltin(from: string, names = ''): string {
  const take = `take_${from.replaceAll(/\W/g, '_')}`;
  const stubs = parseSpecifiers(names).map(([, as]) => `${as} = (...given) => (${take}(), ${as}(...given))`);
  return `const ${take} = () => ({ ${names.replaceAll(' as ', ': ')} } = ${formatBuiltinAccess(from)}); let ${stubs.join(', ')};`;
}

/** Whether an export can be loaded late: it is a function, not a class, and is only called. */
function canLoadLazily(from: string, name: string, as: string, program: string): boolean {
  const found = (process.getBuiltinModule(from) as Readonly<Record<string, unknown>> | undefined)?.[name];
  if (typeof found !== 'function' || /^[^a-z]/.test(name)) return false;
  const own = Reflect.ownKeys(found).filter((key) => !['length', 'name', 'prototype'].includes(String(key)));
  // A function without own properties can only be called; others have some, such as util.promisify.custom.
  const whole = as.replaceAll('$', String.raw`\$`);
  return own.length === 0 || !new RegExp(String.raw`promisify[\w$]*\(${whole}\)|(?<![.\w$])${whole}\.`).test(program);
}

/** Replaces the imports in all programs of a folder and its chunks. */
export function rewriteBuiltinsInDir(folder: string): void {
  const files = [folder, path.join(folder, 'chunks')].flatMap((each) =>
    readdirSync(each)
      .filter((name) => name.endsWith('.js'))
      .map((name) => path.join(each, name)),
  );
  const programs = new Map(files.map((file) => [file, readFileSync(file, 'utf8')]));
  assertNoChunkCycles(programs);
  for (const [file, program] of programs) {
    const direct = rewriteBuiltinImports(program);
    if (direct !== program) writeFileSync(file, direct);
  }
}

/** Files in an import cycle are skipped: one runs before its import has run, and would find the module missing. */
function assertNoChunkCycles(programs: ReadonlyMap<string, string>): void {
  const done = new Set<string>();
  const visit = (file: string, above: readonly string[]): void => {
    if (above.includes(file)) throw new Error(`Import cycle between chunks: ${[...above, file].join(' -> ')}`);
    if (done.has(file)) return;
    for (const target of getRelativeImports(file, programs.get(file) ?? '')) visit(target, [...above, file]);
    done.add(file);
  };
  for (const file of programs.keys()) visit(file, []);
}

const getRelativeImports = (file: string, program: string): readonly string[] =>
  [...program.matchAll(/^(?:import|export) (?:.* from )?"(\.[^"]+)";$/gm)].map(([, target = '']) =>
    path.join(path.dirname(file), target),
  );

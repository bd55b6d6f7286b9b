// Takes Node's own modules in a bundle directly: an import of one makes Node build a module around it and touch every name it has, which a short run pays for.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const builtin = /^import (?:\* as ([\w$]+)|([\w$]+)?(?:, )?(?:\{ ([^{}]*) \})?) from "(node:[\w/]+)";$/;

/** The same program without static imports of Node's own modules. Only the imports at its very beginning are looked at: further down the same words may be text. */
export function withDirectBuiltins(program: string): string {
  const lines = program.split('\n');
  for (const [i, line] of lines.entries()) {
    if (!line.startsWith('import ')) break;
    const [, all, main, names, from] = builtin.exec(line) ?? [];
    if (from !== undefined) lines[i] = taken(from, all ?? main, names);
  }
  return lines.join('\n');
}

function taken(from: string, whole: string | undefined, names: string | undefined): string {
  // By its full name: a program may import `process` itself.
  const source = `globalThis.process.getBuiltinModule("${from}")`;
  const parts = names?.replaceAll(' as ', ': ');
  if (whole === undefined) return `const { ${parts} } = ${source};`;
  return parts === undefined ? `const ${whole} = ${source};` : `const ${whole} = ${source}, { ${parts} } = ${whole};`;
}

/** Takes Node's modules directly in all programs of a folder and its chunks. */
export function takeBuiltinsDirectly(folder: string): void {
  const files = [folder, path.join(folder, 'chunks')].flatMap((each) =>
    readdirSync(each)
      .filter((name) => name.endsWith('.js'))
      .map((name) => path.join(each, name)),
  );
  const programs = new Map(files.map((file) => [file, readFileSync(file, 'utf8')]));
  refuseCycles(programs);
  for (const [file, program] of programs) {
    const direct = withDirectBuiltins(program);
    if (direct !== program) writeFileSync(file, direct);
  }
}

/** In a cycle one program runs before another that it imports has run, and would find the module not taken yet. */
function refuseCycles(programs: ReadonlyMap<string, string>): void {
  const done = new Set<string>();
  const visit = (file: string, above: readonly string[]): void => {
    if (above.includes(file)) throw new Error(`Chunks import each other in a circle: ${[...above, file].join(' -> ')}`);
    if (done.has(file)) return;
    for (const target of importsOf(file, programs.get(file) ?? '')) visit(target, [...above, file]);
    done.add(file);
  };
  for (const file of programs.keys()) visit(file, []);
}

const importsOf = (file: string, program: string): readonly string[] =>
  [...program.matchAll(/^(?:import|export) (?:.* from )?"(\.[^"]+)";$/gm)].map(([, target = '']) =>
    path.join(path.dirname(file), target),
  );

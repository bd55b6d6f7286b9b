// Rewrites lazy imports of re-exporting files to the chunk with the module, because every loaded file slows the start.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** A re-exported name: the exported name, the source file and the name there. */
type Reexport = { readonly as: string; readonly from: string; readonly name: string };

const importPattern = /^import \{ (.*) \} from "(\.[^"]+)";$/;
const exportPattern = /^export \{ (.*) \};$/;

/** Returns the re-exports of a file that contains nothing else; undefined for other files. */
export function parseReexports(program: string): readonly Reexport[] | undefined {
  const lines = program.split('\n').filter((line) => line !== '');
  const exported = exportPattern.exec(lines.at(-1) ?? '');
  const known = new Map<string, Omit<Reexport, 'as'>>();
  for (const line of lines.slice(0, -1)) {
    const [, names, from] = importPattern.exec(line) ?? [];
    if (names === undefined || from === undefined) return undefined;
    for (const [name, local] of parseSpecifiers(names)) known.set(local, { name, from });
  }
  const passed = parseSpecifiers(exported?.[1] ?? '').map(([local, as]) => ({ as, ...known.get(local) }));
  return passed.length && passed.every((each): each is Reexport => each.from !== undefined) ? passed : undefined;
}

/** Parses `a as b, c` into pairs of names. */
export const parseSpecifiers = (names = ''): readonly (readonly [string, string])[] =>
  names === ''
    ? []
    : names.split(', ').map((each) => {
        const [name = '', as = name] = each.split(' as ');
        return [name, as] as const;
      });

/** Returns the direct lazy import of the re-exports; `to` returns the relative path of a file. */
export function formatDirectImport(passed: readonly Reexport[], to: (from: string) => string): string {
  const sources = [...new Set(passed.map(({ from }) => from))];
  const parts = passed.map(({ as, from, name }) => `${as}: m${sources.indexOf(from)}.${name}`).join(', ');
  const imports = sources.map((from) => `import("${to(from)}")`);
  return imports.length === 1
    ? `${imports[0]}.then((m0) => ({ ${parts} }))`
    : `Promise.all([${imports.join(', ')}]).then(([${sources.map((_, i) => `m${i}`).join(', ')}]) => ({ ${parts} }))`;
}

/** Rewrites all programs of a folder and its chunks; chunks without importers are deleted. */
export function inlineReexportsInDir(folder: string): void {
  const programs = new Map(
    [folder, path.join(folder, 'chunks')].flatMap((each) =>
      readdirSync(each)
        .filter((name) => name.endsWith('.js'))
        .map((name) => [path.join(each, name), readFileSync(path.join(each, name), 'utf8')] as const),
    ),
  );
  const passing = new Map([...programs].map(([file, program]) => [file, parseReexports(program)]));
  for (const [file, program] of programs) {
    const short = program.replaceAll(/\bimport\("(\.[^"]+)"\)/g, (whole, target: string) => {
      const between = path.join(path.dirname(file), target);
      const passed = passing.get(between);
      const to = (from: string): string => {
        const found = path.relative(path.dirname(file), path.join(path.dirname(between), from)).replaceAll('\\', '/');
        return found.startsWith('.') ? found : `./${found}`;
      };
      return passed ? formatDirectImport(passed, to) : whole;
    });
    if (short !== program) writeFileSync(file, short);
    programs.set(file, short);
  }
  const text = [...programs.values()].join('\n');
  for (const [file, passed] of passing)
    if (passed && path.basename(path.dirname(file)) === 'chunks' && !text.includes(path.basename(file))) rmSync(file);
}

// Lets lazy imports lead straight to the chunk that holds the module: a file that only passes names on costs a start as much as any other.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** A name that a file passes on: under which name, from which file, and what it is called there. */
type Reexport = { readonly as: string; readonly from: string; readonly name: string };

const importPattern = /^import \{ (.*) \} from "(\.[^"]+)";$/;
const exportPattern = /^export \{ (.*) \};$/;

/** What a program passes on, if it does nothing else; nothing for any other. */
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

/** `a as b, c` as pairs of the two names. */
export const parseSpecifiers = (names = ''): readonly (readonly [string, string])[] =>
  names === ''
    ? []
    : names.split(', ').map((each) => {
        const [name = '', as = name] = each.split(' as ');
        return [name, as] as const;
      });

/** The lazy import of what is passed on, without the file in between; `to` says where a file is from here. */
export function formatDirectImport(passed: readonly Reexport[], to: (from: string) => string): string {
  const sources = [...new Set(passed.map(({ from }) => from))];
  const parts = passed.map(({ as, from, name }) => `${as}: m${sources.indexOf(from)}.${name}`).join(', ');
  const imports = sources.map((from) => `import("${to(from)}")`);
  return imports.length === 1
    ? `${imports[0]}.then((m0) => ({ ${parts} }))`
    : `Promise.all([${imports.join(', ')}]).then(([${sources.map((_, i) => `m${i}`).join(', ')}]) => ({ ${parts} }))`;
}

/** Takes the shortcuts in all programs of a folder and its chunks; chunks that no file imports any more are deleted. */
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

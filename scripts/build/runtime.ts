// Takes the bundler's runtime late where only lazy imports need it: it is one more file for every start.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const importLine = /^import \{ (\w+) as __toESM \} from "(\.[^"]*\/rolldown-runtime-[^"]+)";\n/m;
const lazyUse = /\(m\) => \/\* @__PURE__ \*\/ __toESM\(m\.default(, 1)?\)/g;

/** The same program, in which each lazy import of a CommonJS module brings the runtime along itself; as it was, if there is more to the runtime than that. */
export function withLateRuntime(program: string): string {
  const [line, name, from] = importLine.exec(program) ?? [];
  if (line === undefined) return program;
  const late = program
    .replace(line, '')
    .replaceAll(
      lazyUse,
      (_, mode = '') => `(m) => import("${from}").then((runtime) => runtime.${name}(m.default${mode}))`,
    );
  return late.includes('__toESM') ? program : late;
}

/** Takes the runtime late in all chunks of a folder. */
export function takeRuntimeLate(folder: string): void {
  for (const name of readdirSync(path.join(folder, 'chunks'))) {
    if (!name.endsWith('.js')) continue;
    const file = path.join(folder, 'chunks', name);
    const program = readFileSync(file, 'utf8');
    const late = withLateRuntime(program);
    if (late !== program) writeFileSync(file, late);
  }
}

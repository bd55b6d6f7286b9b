// Takes the bundler's runtime late where only lazy imports need it: it is one more file for every start.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const runtimeImportPattern = /^import \{ (\w+) as __toESM \} from "(\.[^"]*\/rolldown-runtime-[^"]+)";\n/m;
const lazyInteropPattern = /\(m\) => \/\* @__PURE__ \*\/ __toESM\(m\.default(, 1)?\)/g;

/** The same program, in which each lazy import of a CommonJS module brings the runtime along itself; as it was, if there is more to the runtime than that. */
export function rewriteLazyRuntime(program: string): string {
  const [line, name, from] = runtimeImportPattern.exec(program) ?? [];
  if (line === undefined) return program;
  const late = program
    .replace(line, '')
    .replaceAll(
      lazyInteropPattern,
      (_, mode = '') => `(m) => import("${from}").then((runtime) => runtime.${name}(m.default${mode}))`,
    );
  return late.includes('__toESM') ? program : late;
}

/** Takes the runtime late in all chunks of a folder. */
export function rewriteLazyRuntimeInDir(folder: string): void {
  for (const name of readdirSync(path.join(folder, 'chunks'))) {
    if (!name.endsWith('.js')) continue;
    const file = path.join(folder, 'chunks', name);
    const program = readFileSync(file, 'utf8');
    const late = rewriteLazyRuntime(program);
    if (late !== program) writeFileSync(file, late);
  }
}

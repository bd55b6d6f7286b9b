// Loads the runtime of the bundler lazily if only lazy imports need it, so that a start loads one file less.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const runtimeImportPattern = /^import \{ (\w+) as __toESM \} from "(\.[^"]*\/rolldown-runtime-[^"]+)";\n/m;
const lazyInteropPattern = /\(m\) => \/\* @__PURE__ \*\/ __toESM\(m\.default(, 1)?\)/g;

/** Returns the same program, in which each lazy import of a CommonJS module loads the runtime itself; unchanged if the runtime is used otherwise. */
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

/** Rewrites all chunks of a folder. */
export function rewriteLazyRuntimeInDir(folder: string): void {
  for (const name of readdirSync(path.join(folder, 'chunks'))) {
    if (!name.endsWith('.js')) continue;
    const file = path.join(folder, 'chunks', name);
    const program = readFileSync(file, 'utf8');
    const late = rewriteLazyRuntime(program);
    if (late !== program) writeFileSync(file, late);
  }
}

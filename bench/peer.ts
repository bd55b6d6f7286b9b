// Reaches into a peer's folder: what is imported from a file there resolves there.
import { writeFileSync } from 'node:fs';
import path from 'node:path';

/** Imports a package as a program in this folder would. */
export async function importFromPeer(folder: string, name: string): Promise<Record<string, unknown>> {
  const door = path.join(folder, '_fairlead-bench.mjs');
  writeFileSync(door, 'export const get = (name) => import(name);\n');
  const { get } = (await import(door)) as { readonly get: (name: string) => Promise<Record<string, unknown>> };
  return get(name);
}

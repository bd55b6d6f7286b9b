// Finds the modules of a kernel that a virtual machine needs, with those that they depend on, in the order in which they are loaded.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';

/** The modules for the devices of the virtual machine: its bus, its ports for output, and its file system. */
export const neededModules = ['virtio_pci', 'virtio_console', '9pnet_virtio', '9p'] as const;

/** A module, ready to be loaded. */
export type KernelModule = { readonly name: string; readonly content: Buffer };

const moduleName = (file: string): string =>
  path
    .basename(file)
    .replace(/\.ko(?:\.\w+)?$/, '')
    .replaceAll('-', '_');

/** Returns the modules in a folder of modules; a text says which one is missing or cannot be read. Modules that are part of the kernel are left out. */
export function findKernelModules(folder: string): readonly KernelModule[] | string {
  const read = (name: string): string =>
    existsSync(path.join(folder, name)) ? readFileSync(path.join(folder, name), 'utf8') : '';
  const builtIn = new Set(read('modules.builtin').split('\n').map(moduleName));
  const files = new Map<string, { readonly file: string; readonly needs: readonly string[] }>();
  for (const line of read('modules.dep').split('\n')) {
    const [file = '', needs = ''] = line.split(':');
    if (file !== '') files.set(moduleName(file), { file, needs: needs.split(' ').filter(Boolean).map(moduleName) });
  }
  const order: string[] = [];
  const missing: string[] = [];
  const visit = (name: string): void => {
    if (builtIn.has(name) || order.includes(name)) return;
    const found = files.get(name);
    if (!found) return void missing.push(name);
    for (const each of found.needs.toReversed()) visit(each);
    if (!order.includes(name)) order.push(name);
  };
  for (const name of neededModules) visit(name);
  if (missing.length > 0) return `the kernel of ${folder} has no module ${missing.join(', ')}`;
  const modules: KernelModule[] = [];
  for (const name of order) {
    const file = path.join(folder, files.get(name)?.file ?? '');
    const content = readModule(file);
    if (!content) return `${file} cannot be read`;
    modules.push({ name, content });
  }
  return modules;
}

/** Reads a module, decompressed; undefined if that is not possible. */
function readModule(file: string): Buffer | undefined {
  try {
    const bytes = readFileSync(file);
    if (file.endsWith('.ko')) return bytes;
    if (file.endsWith('.gz')) return gunzipSync(bytes);
    if (file.endsWith('.zst')) return zstdDecompressSync(bytes);
    // Node has no decoder for it.
    if (file.endsWith('.xz'))
      return process.getBuiltinModule('node:child_process').execFileSync('/usr/bin/xz', ['-dc', file], {
        maxBuffer: 64 * 1024 * 1024,
        stdio: ['ignore', 'pipe', 'ignore'],
      });
    return undefined;
  } catch {
    return undefined;
  }
}

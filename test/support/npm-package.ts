// Packs the built package as npm publishes it, for tests that install it elsewhere.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';

/** The repository. */
export const repoRoot: string = path.resolve(import.meta.dirname, '../..');

/** A tarball, and the files in it. */
export type PackedPackage = { readonly tarball: string; readonly files: readonly string[] };

type NpmPackOutput = readonly { readonly filename: string; readonly files: readonly { readonly path: string }[] }[];

/** Runs npm in a directory and returns its output. */
export function runNpm(cwd: string, ...args: string[]): string {
  // An outer `npm run` passes its settings in the environment; the inner npm must find its own directory.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(npm_(package|lifecycle|command|config_local)|INIT_CWD)/.test(name),
    ),
  );
  const own = process.env['npm_execpath'];
  const [command, prefix] = own === undefined ? ['npm', []] : [process.execPath, [own]];
  return execFileSync(command, [...prefix, ...args], { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Packs the built package into a directory. */
export function packPackage(folder: string): PackedPackage {
  assert.ok(existsSync(path.join(repoRoot, 'dist/bin.js')), 'dist is not built: run "npm run build" first');
  const [packed] = JSON.parse(
    runNpm(repoRoot, 'pack', '--json', '--ignore-scripts', '--pack-destination', folder),
  ) as NpmPackOutput;
  assert.ok(packed);
  return { tarball: path.join(folder, packed.filename), files: packed.files.map((file) => file.path) };
}

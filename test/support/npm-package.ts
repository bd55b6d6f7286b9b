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

/** The command that starts npm. */
export type NpmCommand = {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
};

// An outer `npm run` passes what it runs and its directory in the environment; the inner npm must find its own.
const outerRun = /^(npm_(package|lifecycle|command|config_local)|INIT_CWD)/;

/** Returns the command that starts the npm which runs the tests, without the variables of the environment that a pattern matches. */
export function getNpmCommand(args: readonly string[], removed: RegExp = outerRun): NpmCommand {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !removed.test(name)));
  const own = process.env['npm_execpath'];
  return own === undefined ? { file: 'npm', args, env } : { file: process.execPath, args: [own, ...args], env };
}

/** Runs npm in a directory and returns its output. */
export function runNpm(cwd: string, ...args: string[]): string {
  const npm = getNpmCommand(args);
  return execFileSync(npm.file, npm.args, {
    cwd,
    env: npm.env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
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

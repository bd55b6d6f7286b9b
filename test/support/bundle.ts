// Bundles a test program into few files, which start six times faster than its sources without a compile cache.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Bundles a program and its imports; returns the file to run, which is removed when this process ends. */
export async function bundleProgram(program: string): Promise<string> {
  const dir = mkdtempSync(path.join(tmpdir(), 'fairlead-bundle-'));
  process.on('exit', () => rmSync(dir, { recursive: true, force: true }));
  const { build } = await import('rolldown');
  await build({ cwd: path.dirname(program), input: program, platform: 'node', output: { dir }, logLevel: 'silent' });
  return path.join(dir, `${path.basename(program, '.ts')}.js`);
}

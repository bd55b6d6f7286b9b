// Whether this machine can confine commands: tests that need it are skipped by name where it cannot.
import { realpathSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { chooseSandbox } from '../../src/guards/index.ts';

/** Why no command can be confined here, or false. */
export async function noSandbox(): Promise<string | false> {
  const found = await chooseSandbox({
    roots: [realpathSync(tmpdir())],
    home: homedir(),
    path: process.env['PATH'] ?? '',
  });
  return found.name === 'refused' && found.description;
}

/** Why no Node can run inside a sandbox here, or false: one that lies in the temporary folder is hidden with it. */
export const noNodeInside: string | false =
  realpathSync(process.execPath).startsWith(`${realpathSync(tmpdir())}/`) &&
  'this Node lies in the temporary folder, which a sandbox hides';

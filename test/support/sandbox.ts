// Whether this machine can sandbox commands: tests that need it are skipped otherwise.
import { realpathSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { chooseSandbox } from '../../src/guards/index.ts';

/** Returns why no command can be sandboxed here, or false. */
export async function noSandbox(): Promise<string | false> {
  const found = await chooseSandbox({
    roots: [realpathSync(tmpdir())],
    home: homedir(),
    path: process.env['PATH'] ?? '',
  });
  return found.name === 'refused' && found.description;
}

/** Returns why no command can be sandboxed by namespaces here, or false: a container has another system inside, and macOS no mounts. */
export async function noNamespaceSandbox(): Promise<string | false> {
  const { name, description } = await chooseSandbox({
    roots: [realpathSync(tmpdir())],
    home: homedir(),
    path: process.env['PATH'] ?? '',
  });
  return name !== 'bubblewrap' && name !== 'util-linux' && `no sandbox of namespaces here: ${description}`;
}

/** Why Node cannot run inside a sandbox here, or false: a Node in the temporary folder is hidden with it. */
export const noNodeInside: string | false =
  realpathSync(process.execPath).startsWith(`${realpathSync(tmpdir())}/`) &&
  'this Node lies in the temporary folder, which a sandbox hides';

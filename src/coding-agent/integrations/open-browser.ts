// Opens a page in the person's browser, by the way that their system has for it.
import { spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';
import path from 'node:path';
import { safeSearchFolders } from '../../tools/lsp/child.ts';

const openCommands: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Asks the system to open a page of the web; false where it is none. Whether a browser came up nobody can tell. */
export function openInBrowser(url: string): boolean {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) return false;
  const [program = 'xdg-open', ...args] = openCommands[process.platform] ?? ['xdg-open'];
  // A command could have left a program of that name in the folder that is worked in.
  const search = safeSearchFolders(process.env, realpathSync(process.cwd())).join(path.delimiter);
  const env = { ...process.env, PATH: search };
  const child = spawn(program, [...args, new URL(url).href], { stdio: 'ignore', detached: true, env });
  // Where there is no such program, the address that was said is all there is.
  child.on('error', () => undefined);
  child.unref();
  return true;
}

// Opens a web page in the browser of the user with the command of the platform.
import { spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';
import path from 'node:path';
import { foldersOutside } from '../../tools/lsp/index.ts';

const openCommands: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Asks the system to open a web page. Returns false if the URL is not http or https; whether a browser opened is not known. */
export function openInBrowser(url: string): boolean {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) return false;
  const [program = 'xdg-open', ...args] = openCommands[process.platform] ?? ['xdg-open'];
  // A command of the model could have created a program with this name in the working directory.
  const search = foldersOutside(realpathSync(process.cwd()), process.env['PATH']).join(path.delimiter);
  const env = { ...process.env, PATH: search };
  const child = spawn(program, [...args, new URL(url).href], { stdio: 'ignore', detached: true, env });
  // Without such a program the user has the address that was shown.
  child.on('error', () => undefined);
  child.unref();
  return true;
}

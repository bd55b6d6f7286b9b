// Data directory of the embedded model, by environment and platform.
import { homedir } from 'node:os';
import path from 'node:path';
import { FairleadError } from '../../core/index.ts';

type Environment = { readonly [name: string]: string | undefined };

/** The data directory: `$XDG_DATA_HOME/$HARNESS_ROOT_DIRS_NAME`, or its equivalent on this platform. */
export function dataDirectory(env: Environment = process.env, platform: NodeJS.Platform = process.platform): string {
  const name = env['HARNESS_ROOT_DIRS_NAME']?.trim() || 'fairlead';
  if (name === '.' || name === '..' || /[/\\\0]/.test(name))
    throw new FairleadError('embedded/bad-directory', `HARNESS_ROOT_DIRS_NAME is not a directory name: ${name}`, {
      blame: 'user',
      hint: 'Set it to a plain name such as "fairlead", or unset it.',
    });
  return path.join(baseDirectory(env, platform), name);
}

/** A relative XDG path is invalid by its specification and counts as unset. */
function baseDirectory(env: Environment, platform: NodeJS.Platform): string {
  const xdg = env['XDG_DATA_HOME'];
  if (xdg !== undefined && path.isAbsolute(xdg)) return xdg;
  const home = env['HOME'] || homedir();
  if (platform === 'darwin') return path.join(home, 'Library', 'Application Support');
  if (platform === 'win32') return env['LOCALAPPDATA'] || path.join(home, 'AppData', 'Local');
  return path.join(home, '.local', 'share');
}

// What the machine itself must have: Node, git, a terminal, an editor, and folders that can be written.
import { execFile } from 'node:child_process';
import { accessSync, constants, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { errorMessage, escapeInvisibleLine } from '../../core/index.ts';
import { findEditor } from '../editor/open-editor.ts';
import { wantsColors } from '../tui/ansi-style.ts';
import { fail, ok, warn, type DoctorCheck, type CheckResult, type CheckContext } from './check.ts';

const nodeCheck: DoctorCheck = {
  name: 'node',
  run() {
    const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
    if (major < 22 || (major === 22 && minor < 19))
      return fail(`Node ${process.versions.node} is too old.`, 'Install Node 22.19 or newer.');
    return ok(`Node ${process.versions.node} on ${process.platform} ${process.arch}.`);
  },
};

const gitCheck: DoctorCheck = {
  name: 'git',
  async run({ signal }) {
    const said = await readFirstLine('git', ['--version'], signal);
    return said === undefined
      ? warn('git was not found: @ then lists files by walking through folders.', 'Install git.')
      : ok(`${said}.`);
  },
};

/** The first line that a program writes, or nothing where it cannot be run. */
export function readFirstLine(
  program: string,
  args: readonly string[],
  signal: AbortSignal,
): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  execFile(program, args, { timeout: 10_000, signal }, (error, text) =>
    resolve(error ? undefined : escapeInvisibleLine(text.split('\n')[0] ?? '')),
  );
  return promise;
}

const terminalCheck: DoctorCheck = {
  name: 'terminal',
  run({ env }) {
    const { stdin, stdout } = process;
    if (!stdin.isTTY || !stdout.isTTY) return ok('This is not a terminal: everything is said in plain lines.');
    const size = `${stdout.columns} by ${stdout.rows}`;
    const colours = wantsColors(env, true) ? 'colours' : 'no colours';
    const inside = env['TMUX'] ? ', inside tmux' : '';
    const about = `${env['TERM'] ?? 'unnamed'}, ${size}, ${colours}${inside}.`;
    if (env['TERM'] === 'dumb' || env['TERM'] === undefined)
      return warn(`A simple terminal (${about})`, 'Set TERM to what the terminal is, such as xterm-256color.');
    return stdout.columns < 60 ? warn(`A narrow terminal: ${about}`, 'Make it at least 60 columns wide.') : ok(about);
  },
};

const editorCheck: DoctorCheck = {
  name: 'editor',
  run({ env }) {
    const found = findEditor(env);
    if (found === undefined)
      return warn(
        'No editor was found for /editor and /session edit.',
        'Set VISUAL or EDITOR, or install nvim, vim, vi or nano.',
      );
    const where = env['TMUX'] ? 'in a split of tmux' : 'in place';
    return ok(`${escapeInvisibleLine(found)} opens ${where}.`);
  },
};

const foldersCheck: DoctorCheck = {
  name: 'folders',
  run({ settings: { dirs } }) {
    const found = Object.entries(dirs).map(([name, folder]) => checkFolder(name, folder));
    const failed = found.filter(({ standing }) => standing === 'fail');
    const wrong = failed.length > 0 ? failed : found.filter(({ standing }) => standing === 'warn');
    const [first] = wrong;
    if (first)
      return {
        standing: first.standing,
        says: wrong.map(({ says }) => says).join(' '),
        mend: wrong.map(({ mend }) => mend).join(first.standing === 'fail' ? ' ' : '; '),
      };
    return ok(`State, data, config and cache can be written: ${[...new Set(Object.values(dirs))].join(', ')}.`);
  },
};

/** Proved by writing where the folder is there; where it is not, the nearest one above it must allow it to be made. */
function checkFolder(name: string, folder: string): CheckResult {
  const there = nearestExistingFolder(folder);
  const probe = path.join(folder, `.doctor-${process.pid}`);
  try {
    accessSync(there, constants.W_OK | constants.X_OK);
    if (there === folder) {
      writeFileSync(probe, 'x', { flag: 'wx', mode: 0o600 });
      rmSync(probe);
    }
  } catch (error) {
    const above = there === folder ? '' : `, nor made in ${there}`;
    return fail(
      `The ${name} folder ${folder} cannot be written${above}: ${errorMessage(error)}.`,
      `Give yourself the right to write there, or set XDG_${name.toUpperCase()}_HOME to a folder that is yours.`,
    );
  }
  const open = there === folder && process.platform !== 'win32' && (statSync(folder).mode & 0o066) !== 0;
  return open && name !== 'cache'
    ? warn(`The ${name} folder ${folder} is open to others.`, `chmod 700 ${folder}`)
    : ok('');
}

function nearestExistingFolder(folder: string): string {
  if (statSync(folder, { throwIfNoEntry: false }) || path.dirname(folder) === folder) return folder;
  return nearestExistingFolder(path.dirname(folder));
}

const settingsCheck: DoctorCheck = {
  name: 'settings',
  run({ settings: { warnings, all, userFile } }: CheckContext) {
    const [first, ...more] = warnings;
    if (first !== undefined)
      return warn([first, ...more].join(' '), 'fairlead config list shows what is set, and where it came from.');
    const set = [...all.values()].filter(({ origin }) => origin.type !== 'default').length;
    return ok(`${set} ${set === 1 ? 'is' : 'are'} set besides the defaults; yours are in ${userFile}.`);
  },
};

/** The checks of the machine. */
export const machineChecks: readonly DoctorCheck[] = [
  nodeCheck,
  gitCheck,
  terminalCheck,
  editorCheck,
  settingsCheck,
  foldersCheck,
];

// Checks the machine: Node, git, terminal, editor, settings, and writable directories.
import { execFile } from 'node:child_process';
import { accessSync, constants, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { errorMessage, escapeInvisibleLine } from '../../core/index.ts';
import { findEditor } from '../editor/open-editor.ts';
import { wantsColors } from '../tui/ansi-style.ts';
import { environmentOutside } from '../../tools/index.ts';
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
    const version = await readFirstLine('git', ['--version'], signal);
    return version === undefined
      ? warn('git was not found: @ completion then walks through the directories.', 'Install git.')
      : ok(`${version}.`);
  },
};

/** Returns the first line of a program's output, or undefined if it cannot be run. */
export function readFirstLine(
  program: string,
  args: readonly string[],
  signal: AbortSignal,
): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const env = environmentOutside(process.cwd());
  execFile(program, args, { timeout: 10_000, signal, env }, (error, text) =>
    resolve(error ? undefined : escapeInvisibleLine(text.split('\n')[0] ?? '')),
  );
  return promise;
}

const terminalCheck: DoctorCheck = {
  name: 'terminal',
  run({ env }) {
    const { stdin, stdout } = process;
    if (!stdin.isTTY || !stdout.isTTY) return ok('This is not a terminal: output is plain lines.');
    const size = `${stdout.columns} by ${stdout.rows}`;
    const colors = wantsColors(env, true) ? 'colors' : 'no colors';
    const inside = env['TMUX'] ? ', inside tmux' : '';
    const description = `${env['TERM'] ?? 'unnamed'}, ${size}, ${colors}${inside}.`;
    if (env['TERM'] === 'dumb' || env['TERM'] === undefined)
      return warn(
        `A simple terminal (${description})`,
        'Set TERM to the type of the terminal, such as xterm-256color.',
      );
    return stdout.columns < 60
      ? warn(`A narrow terminal: ${description}`, 'Make it at least 60 columns wide.')
      : ok(description);
  },
};

const editorCheck: DoctorCheck = {
  name: 'editor',
  run({ env }) {
    const editor = findEditor(env);
    if (editor === undefined)
      return warn(
        'No editor was found for /editor and /session edit.',
        'Set VISUAL or EDITOR, or install nvim, vim, vi or nano.',
      );
    const where = env['TMUX'] ? 'in a tmux split' : 'in the foreground';
    return ok(`${escapeInvisibleLine(editor)} opens ${where}.`);
  },
};

const foldersCheck: DoctorCheck = {
  name: 'folders',
  run({ settings: { dirs } }) {
    const results = Object.entries(dirs).map(([name, dir]) => checkDirectory(name, dir));
    const failures = results.filter(({ status }) => status === 'fail');
    const problems = failures.length > 0 ? failures : results.filter(({ status }) => status === 'warn');
    const [first] = problems;
    if (first)
      return {
        status: first.status,
        message: problems.map(({ message }) => message).join(' '),
        fix: problems.map(({ fix }) => fix).join(first.status === 'fail' ? ' ' : '; '),
      };
    return ok(`State, data, config and cache are writable: ${[...new Set(Object.values(dirs))].join(', ')}.`);
  },
};

/** Writes a file to the directory; if it does not exist, its nearest existing parent must be writable. */
function checkDirectory(name: string, dir: string): CheckResult {
  const existing = nearestExistingDirectory(dir);
  const probe = path.join(dir, `.doctor-${process.pid}`);
  try {
    accessSync(existing, constants.W_OK | constants.X_OK);
    if (existing === dir) {
      writeFileSync(probe, 'x', { flag: 'wx', mode: 0o600 });
      rmSync(probe);
    }
  } catch (error) {
    const parent = existing === dir ? '' : ` or created in ${existing}`;
    return fail(
      `The ${name} directory ${dir} cannot be written${parent}: ${errorMessage(error)}.`,
      `Make it writable, or set XDG_${name.toUpperCase()}_HOME to a directory that you own.`,
    );
  }
  const open = existing === dir && process.platform !== 'win32' && (statSync(dir).mode & 0o066) !== 0;
  return open && name !== 'cache'
    ? warn(`The ${name} directory ${dir} is accessible to other users.`, `chmod 700 ${dir}`)
    : ok('');
}

function nearestExistingDirectory(dir: string): string {
  if (statSync(dir, { throwIfNoEntry: false }) || path.dirname(dir) === dir) return dir;
  return nearestExistingDirectory(path.dirname(dir));
}

const settingsCheck: DoctorCheck = {
  name: 'settings',
  run({ settings: { warnings, all, userFile } }: CheckContext) {
    const [first, ...more] = warnings;
    if (first !== undefined)
      return warn([first, ...more].join(' '), 'fairlead config list shows each setting and its origin.');
    const set = [...all.values()].filter(({ origin }) => origin.type !== 'default').length;
    if (set === 0) return ok(`No custom settings; they would be in ${userFile}.`);
    return ok(`${set} custom setting${set === 1 ? '' : 's'}; your settings file is ${userFile}.`);
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

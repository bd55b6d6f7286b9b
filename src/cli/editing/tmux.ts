// Runs an editor in a split of the person's tmux window and waits until it is closed, however that happens.
import { isSecretVariable } from '../../workspace/index.ts';
import { shellWord } from '../shell-word.ts';
import { execFile, spawn } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Draft } from './draft.ts';

/** An editor to be run on a draft: a command line, as a shell reads it. */
export type EditorJob = {
  readonly editor: string;
  readonly draft: Draft;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly signal: AbortSignal | undefined;
};

/** How an editor ended: with this code, or otherwise and why. */
export type Ended = { readonly code: number } | { readonly why: string };

/** How the end of an editor is told that was not its own. */
export const interrupted = 'it was interrupted';

const exec = promisify(execFile);

/** Edits in a split; nothing where there is no room for one or tmux does not answer. */
export async function editInSplit(job: EditorJob): Promise<Ended | undefined> {
  const { draft, env, signal } = job;
  const channel = path.basename(draft.folder);
  const status = path.join(draft.folder, 'status');
  const script = path.join(draft.folder, 'open.sh');
  writeFileSync(script, scriptFor(job, status, channel), { mode: 0o600, flag: 'wx' });
  try {
    const pane = await split(script, env);
    if (pane === undefined) return undefined;
    await closed(pane, channel, job);
    // With `remain-on-exit` a finished pane would stay, and one that is interrupted has to go.
    await exec('tmux', ['kill-pane', '-t', pane], { env }).catch(() => {});
    return signal?.aborted ? { why: interrupted } : endOf(status);
  } finally {
    // The draft may be kept; our environment is nobody's to keep.
    rmSync(script, { force: true });
    rmSync(status, { force: true });
  }
}

/** Opens a split that runs a script, and says which pane it is. Separate arguments: tmux then runs them as they are, with no shell in between. It would also run what the name of a folder says after `-c`, so the script goes there itself. */
async function split(script: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const where = env['TMUX_PANE'] ? ['-t', env['TMUX_PANE']] : [];
  const words = ['split-window', ...where, '-P', '-F', '#{pane_id}', '/bin/sh', script];
  return exec('tmux', words, { env }).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  );
}

/** Waits for the signal that the script gives, and looks now and then whether the pane was killed before it could. */
async function closed(pane: string, channel: string, { env, signal }: EditorJob): Promise<void> {
  const waiting = spawn('tmux', ['wait-for', channel], { env, stdio: 'ignore' });
  const { promise, resolve } = Promise.withResolvers<void>();
  waiting.once('error', () => {});
  waiting.once('exit', () => resolve());
  const look = setInterval(() => {
    void exec('tmux', ['list-panes', '-a', '-F', '#{pane_id} #{pane_dead}'], { env }).then(
      ({ stdout }) => stdout.split('\n').includes(`${pane} 0`) || resolve(),
      () => resolve(),
    );
  }, 500);
  const stop = (): void => resolve();
  signal?.addEventListener('abort', stop);
  if (signal?.aborted) stop();
  await promise;
  signal?.removeEventListener('abort', stop);
  clearInterval(look);
  waiting.kill();
}

function endOf(status: string): Ended {
  try {
    return { code: Number(readFileSync(status, 'utf8')) };
  } catch {
    return { why: 'its tmux pane was closed before it had ended' };
  }
}

function scriptFor({ editor, draft, env, cwd }: EditorJob, status: string, channel: string): string {
  const settings = Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && isWanted(name, value) ? [`export ${name}=${shellWord(value)}`] : [],
  );
  return [
    // The shell has it open, so it need not lie there while the person edits, nor outlive us if we are killed.
    'rm -f -- "$0"',
    ...settings,
    `cd ${shellWord(cwd)}`,
    `set -- ${shellWord(draft.file)}`,
    `${editor} "$@"`,
    `printf %s $? > ${shellWord(status)}`,
    `tmux wait-for -S ${shellWord(channel)}`,
    '',
  ].join('\n');
}

/** A split has the environment of the tmux server, not ours. What looks like a secret is none of an editor's business, and would lie on the disk. */
function isWanted(name: string, value: string): boolean {
  const tmuxs = [
    'TERM',
    'TERM_PROGRAM',
    'TERM_PROGRAM_VERSION',
    'TMUX',
    'TMUX_PANE',
    'COLUMNS',
    'LINES',
    'SHLVL',
    'PWD',
    'OLDPWD',
    '_',
  ];
  return /^[A-Za-z_]\w*$/.test(name) && !tmuxs.includes(name) && !isSecretVariable(name, value);
}

// Runs an editor in a split of the person's tmux window and waits until it is closed, however that happens.
import { isSecretVariable } from '../../workspace/index.ts';
import { shellQuote } from '../../workspace/shell-quote.ts';
import { execFile, spawn } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import type { DraftFile } from './draft-file.ts';

/** An editor to be run on a draft: a command line, as a shell reads it. */
export type EditorJob = {
  readonly editor: string;
  readonly draft: DraftFile;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly signal: AbortSignal | undefined;
};

/** How an editor ended: with this code, or otherwise and why. */
export type EditorExit = { readonly code: number } | { readonly message: string };

/** How the end of an editor is told that was not its own. */
export const interruptedMessage = 'it was interrupted';

const execFileAsync = promisify(execFile);

/** Edits in a split; nothing where there is no room for one or tmux does not answer. */
export async function runEditorInTmuxSplit(job: EditorJob): Promise<EditorExit | undefined> {
  const { draft, env, signal } = job;
  const channel = path.basename(draft.dir);
  const status = path.join(draft.dir, 'status');
  const script = path.join(draft.dir, 'open.sh');
  writeFileSync(script, editorScript(job, status, channel), { mode: 0o600, flag: 'wx' });
  try {
    const pane = await openSplit(script, env);
    if (pane === undefined) return undefined;
    await waitForPaneClosed(pane, channel, job);
    // With `remain-on-exit` a finished pane would stay, and one that is interrupted has to go.
    await execFileAsync('tmux', ['kill-pane', '-t', pane], { env }).catch(() => {});
    return signal?.aborted ? { message: interruptedMessage } : readEditorExit(status);
  } finally {
    // The draft may be kept; our environment is nobody's to keep.
    rmSync(script, { force: true });
    rmSync(status, { force: true });
  }
}

/** Opens a split that runs a script, and says which pane it is. Separate arguments: tmux then runs them as they are, with no shell in between. It would also run what the name of a folder says after `-c`, so the script goes there itself. */
async function openSplit(script: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const where = env['TMUX_PANE'] ? ['-t', env['TMUX_PANE']] : [];
  const words = ['split-window', ...where, '-P', '-F', '#{pane_id}', '/bin/sh', script];
  return execFileAsync('tmux', words, { env }).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  );
}

/** Waits for the signal that the script gives, and looks now and then whether the pane was killed before it could. */
async function waitForPaneClosed(pane: string, channel: string, { env, signal }: EditorJob): Promise<void> {
  const waiting = spawn('tmux', ['wait-for', channel], { env, stdio: 'ignore' });
  const { promise, resolve } = Promise.withResolvers<void>();
  waiting.once('error', () => {});
  waiting.once('exit', () => resolve());
  const look = setInterval(() => {
    void execFileAsync('tmux', ['list-panes', '-a', '-F', '#{pane_id} #{pane_dead}'], { env }).then(
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

function readEditorExit(status: string): EditorExit {
  try {
    return { code: Number(readFileSync(status, 'utf8')) };
  } catch {
    return { message: 'its tmux pane was closed before it had ended' };
  }
}

function editorScript({ editor, draft, env, cwd }: EditorJob, status: string, channel: string): string {
  const settings = Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && isExportedToPane(name, value) ? [`export ${name}=${shellQuote(value)}`] : [],
  );
  return [
    // The shell has it open, so it need not lie there while the person edits, nor outlive us if we are killed.
    'rm -f -- "$0"',
    ...settings,
    `cd ${shellQuote(cwd)}`,
    `set -- ${shellQuote(draft.file)}`,
    `${editor} "$@"`,
    `printf %s $? > ${shellQuote(status)}`,
    `tmux wait-for -S ${shellQuote(channel)}`,
    '',
  ].join('\n');
}

/** A split has the environment of the tmux server, not ours. What looks like a secret is none of an editor's business, and would lie on the disk. */
function isExportedToPane(name: string, value: string): boolean {
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

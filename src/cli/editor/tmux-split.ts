// Runs an editor in a split of the user's tmux window and waits until it ends or its pane is closed.
import { isSecretVariable, shellQuote } from '../../workspace/index.ts';
import { execFile, spawn } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import type { DraftFile } from './draft-file.ts';

/** An editor to run on a draft; `editor` is a shell command line. */
export type EditorJob = {
  readonly editor: string;
  readonly draft: DraftFile;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly signal: AbortSignal | undefined;
};

/** How an editor ended: with an exit code, or with a message about another end. */
export type EditorExit = { readonly code: number } | { readonly message: string };

/** The message for an editor that was interrupted by the signal. */
export const interruptedMessage = 'it was interrupted';

const execFileAsync = promisify(execFile);

/** Runs the editor in a split; returns undefined if tmux cannot open one. */
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
    // With `remain-on-exit` a finished pane would stay open, and an interrupted one must be closed.
    await execFileAsync('tmux', ['kill-pane', '-t', pane], { env }).catch(() => {});
    return signal?.aborted ? { message: interruptedMessage } : readEditorExit(status);
  } finally {
    // The draft may be kept, but the script holds our environment.
    rmSync(script, { force: true });
    rmSync(status, { force: true });
  }
}

/**
 * Opens a split that runs a script, and returns the id of the pane. The command is passed as separate arguments, which
 * tmux runs without a shell. The script changes the directory itself: tmux would expand formats in the value of `-c`.
 */
async function openSplit(script: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const target = env['TMUX_PANE'] ? ['-t', env['TMUX_PANE']] : [];
  const args = ['split-window', ...target, '-P', '-F', '#{pane_id}', '/bin/sh', script];
  return execFileAsync('tmux', args, { env }).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  );
}

/** Waits for the signal of the script, and polls whether the pane was closed without it. */
async function waitForPaneClosed(pane: string, channel: string, { env, signal }: EditorJob): Promise<void> {
  const waiting = spawn('tmux', ['wait-for', channel], { env, stdio: 'ignore' });
  const { promise, resolve } = Promise.withResolvers<void>();
  waiting.once('error', () => {});
  waiting.once('exit', () => resolve());
  const poll = setInterval(() => {
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
  clearInterval(poll);
  waiting.kill();
}

function readEditorExit(status: string): EditorExit {
  try {
    return { code: Number(readFileSync(status, 'utf8')) };
  } catch {
    return { message: 'its tmux pane was closed before it ended' };
  }
}

function editorScript({ editor, draft, env, cwd }: EditorJob, status: string, channel: string): string {
  const settings = Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && isExportedToPane(name, value) ? [`export ${name}=${shellQuote(value)}`] : [],
  );
  return [
    // The shell has the script open, so the file can be removed at once and does not stay behind if we are killed.
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

/** A split has the environment of the tmux server, not ours. Variables that look like secrets are not exported: they would be written to disk. */
function isExportedToPane(name: string, value: string): boolean {
  const tmuxVariables = [
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
  return /^[A-Za-z_]\w*$/.test(name) && !tmuxVariables.includes(name) && !isSecretVariable(name, value);
}

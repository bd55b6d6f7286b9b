// Runs an editor in a split of the person's tmux window and waits until it is closed, however that happens.
import { execFile, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Draft } from './draft.ts';

/** An editor to be run on a draft: a command line, as a shell reads it. */
export type EditorJob = {
  readonly editor: string;
  readonly draft: Draft;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
};

/** How an editor ended: with this code, or otherwise and why. */
export type Ended = { readonly code: number } | { readonly why: string };

const exec = promisify(execFile);

/** Edits in a split; nothing where there is no room for one or tmux does not answer. */
export async function editInSplit(job: EditorJob): Promise<Ended | undefined> {
  const { draft, env } = job;
  const channel = path.basename(draft.folder);
  const status = path.join(draft.folder, 'status');
  const script = path.join(draft.folder, 'open.sh');
  writeFileSync(script, scriptFor(job, status, channel), { mode: 0o600, flag: 'wx' });
  const pane = env['TMUX_PANE'];
  const where = pane ? ['-t', pane] : [];
  let opened: string;
  try {
    // Separate arguments: tmux then runs them as they are, with no shell in between. It would run what a folder's
    // name says after `-c`, so the script goes there itself.
    const split = ['split-window', ...where, '-P', '-F', '#{pane_id}', '/bin/sh', script];
    opened = (await exec('tmux', split, { env })).stdout.trim();
  } catch {
    return undefined;
  }
  await closed(opened, channel, env);
  // With `remain-on-exit` a finished pane would stay.
  await exec('tmux', ['kill-pane', '-t', opened], { env }).catch(() => {});
  return endOf(status);
}

/** Waits for the signal that the script gives, and looks now and then whether the pane was killed before it could. */
async function closed(pane: string, channel: string, env: NodeJS.ProcessEnv): Promise<void> {
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
  await promise;
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
    value !== undefined && isWanted(name) ? [`export ${name}=${quoted(value)}`] : [],
  );
  return [
    ...settings,
    `cd ${quoted(cwd)}`,
    `set -- ${quoted(draft.file)}`,
    `${editor} "$@"`,
    `printf %s $? > ${quoted(status)}`,
    `tmux wait-for -S ${quoted(channel)}`,
    '',
  ].join('\n');
}

/** A split has the environment of the tmux server, not ours. What looks like a secret is none of an editor's business, and would lie on the disk. */
function isWanted(name: string): boolean {
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
  return /^[A-Za-z_]\w*$/.test(name) && !tmuxs.includes(name) && !/KEY|TOKEN|SECRET|PASSW|CREDENTIAL/i.test(name);
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

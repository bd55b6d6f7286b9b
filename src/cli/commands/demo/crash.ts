// The crash of the tour: the real program as a child process, killed while its tool is at work.
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { FairleadError } from '../../../core/index.ts';
import { findSession } from '../../../sessions/index.ts';
import type { Tour } from './tour.ts';

const crashPrompt = 'Send the parcel, and tell me when it is done.';
const crashTimeoutMs = 60_000;

/** Starts the program on a task and kills it once its effect has happened. */
export async function crashAndKill(guide: Tour): Promise<void> {
  const { workspace, signal } = guide;
  const script = workspace.writeScript('parcel', [
    { calls: [{ tool: 'run_command', input: { command: './send-parcel.sh' } }] },
  ]);
  const args = [
    'run',
    '--auto-approve',
    '--no-sandbox',
    '--session-name',
    'parcel',
    '--model',
    `scripted/${script}`,
    crashPrompt,
  ];
  guide.notify(`$ fairlead run --auto-approve --session-name parcel "${crashPrompt}"`);
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1] ?? '', ...args], {
    cwd: workspace.cwd,
    env: workspace.env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = waitForExit(child, (line) => guide.notify(`process ${child.pid}: ${line}`));
  try {
    await waitForFile(path.join(workspace.cwd, 'ledger.txt'), ended, signal);
    if (signal.aborted) return;
    guide.notify('ledger.txt has its line, and the command is still at work. Now:');
    guide.notify(`$ kill -KILL ${child.pid}`);
    child.kill('SIGKILL');
    guide.assertTrue(
      (await ended) === 'SIGKILL',
      `process ${child.pid} was ended by SIGKILL, with no chance to tidy up`,
    );
    guide.assertTrue(
      existsSync(findSession(workspace.settings.dirs, 'parcel').file),
      'what it had written down is on the disk',
    );
  } finally {
    child.kill('SIGKILL');
    await ended;
    // Lets the script go that the killed process left behind.
    writeFileSync(path.join(workspace.cwd, 'signed'), '');
  }
}

/** How a process ended: by which signal, or with which exit code. What it says on the way is passed on line by line. */
function waitForExit(child: ChildProcess, say: (line: string) => void): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let rest = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    const lines = `${rest}${text}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) say(line);
  });
  child.on('error', (error) => resolve(error.message));
  child.on('exit', (code, by) => resolve(by ?? `exit code ${code}`));
  return promise;
}

async function waitForFile(file: string, ended: Promise<string>, signal: AbortSignal): Promise<void> {
  let how: string | undefined;
  void ended.then((each) => (how = each));
  const late = Date.now() + crashTimeoutMs;
  while (!existsSync(file) && !signal.aborted) {
    if (how !== undefined || Date.now() > late)
      throw new FairleadError(
        'cli/demo',
        `The process that was to be killed ${how === undefined ? 'does nothing' : `ended by itself (${how})`}.`,
        {
          blame: 'harness',
          hint: 'fairlead doctor may say why.',
        },
      );
    await pause(30);
  }
}

// The crash step of the tour: runs the real program as a child process and kills it during a tool call.
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { FairleadError } from '../../../core/index.ts';
import { findSession } from '../../../sessions/index.ts';
import type { Tour } from './tour.ts';

const crashPrompt = 'Send the parcel, and tell me when it is done.';
const crashTimeoutMs = 60_000;

/** Starts the program with a task and kills it once the effect of the task has happened. */
export async function crashAndKill(tour: Tour): Promise<void> {
  const { workspace, signal } = tour;
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
  tour.notify(`$ fairlead run --auto-approve --session-name parcel "${crashPrompt}"`);
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1] ?? '', ...args], {
    cwd: workspace.cwd,
    env: workspace.env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = waitForExit(child, (line) => tour.notify(`process ${child.pid}: ${line}`));
  try {
    await waitForFile(path.join(workspace.cwd, 'ledger.txt'), exited, signal);
    if (signal.aborted) return;
    tour.notify('ledger.txt has its line, and the command is still running. Now:');
    tour.notify(`$ kill -KILL ${child.pid}`);
    child.kill('SIGKILL');
    tour.assertTrue(
      (await exited) === 'SIGKILL',
      `process ${child.pid} was killed by SIGKILL, without a chance to clean up`,
    );
    tour.assertTrue(
      existsSync(findSession(workspace.settings.dirs, 'parcel').file),
      'what it had written to the log is on disk',
    );
  } finally {
    child.kill('SIGKILL');
    await exited;
    // Ends the script that the killed process has left running.
    writeFileSync(path.join(workspace.cwd, 'signed'), '');
  }
}

/** Returns the signal or exit code of a process; its standard error is passed on line by line. */
function waitForExit(child: ChildProcess, onLine: (line: string) => void): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let rest = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    const lines = `${rest}${text}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(line);
  });
  child.on('error', (error) => resolve(error.message));
  child.on('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
  return promise;
}

async function waitForFile(file: string, exited: Promise<string>, signal: AbortSignal): Promise<void> {
  let exit: string | undefined;
  void exited.then((result) => (exit = result));
  const deadline = Date.now() + crashTimeoutMs;
  while (!existsSync(file) && !signal.aborted) {
    if (exit !== undefined || Date.now() > deadline)
      throw new FairleadError(
        'cli/demo',
        `The process to kill ${exit === undefined ? 'does nothing' : `ended by itself (${exit})`}.`,
        {
          blame: 'harness',
          hint: 'fairlead doctor may show the reason.',
        },
      );
    await pause(30);
  }
}

// Worker processes of one command: started with it, told to end with it, and gone when it is gone.
import { fork, type ChildProcess } from 'node:child_process';
import { exitCodes } from '../../args/exit-codes.ts';

/** Worker processes that were started together. */
export type WorkerProcesses = {
  /** Waits until this says that all is done: it is asked again and again, and at once of a run that a worker is done with. Gives the exit code where a signal came first. Ends the workers. */
  waitUntil(isDone: (run?: string) => Promise<boolean>): Promise<number | undefined>;
};

/** Milliseconds between two looks at everything: others may work on the same runs. */
const pollMs = 1000;

/** Starts worker processes. They are no part of the terminal's group: a Ctrl+C reaches them through here, as a request to hand over. */
export function startWorkerProcesses(count: number, store: string, args: readonly string[]): WorkerProcesses {
  const [, program = ''] = process.argv;
  // Everybody on a machine can read a command line, and an address may hold a password.
  const env = { ...process.env, HARNESS_STORE: store };
  const children = Array.from({ length: count }, () =>
    fork(program, ['worker', ...args], { env, detached: true, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] }),
  );
  return { waitUntil: (isDone) => waitForWorkers(children, isDone) };
}

async function waitForWorkers(
  children: readonly ChildProcess[],
  isDone: (run?: string) => Promise<boolean>,
): Promise<number | undefined> {
  let code: number | undefined;
  let hints: (string | undefined)[] = [undefined];
  let wake = Promise.withResolvers<void>();
  const look = (run?: string): void => {
    hints.push(run);
    wake.resolve();
  };
  const gone = Promise.all(
    children.map((child) => new Promise<void>((resolve) => child.once('exit', () => resolve()))),
  );
  void gone.then(() => look());
  // A worker tells a moment before the end is written down.
  const soon = (told: { readonly run?: string }): void => void setTimeout(() => look(told.run), 50);
  for (const child of children) child.on('message', soon).on('error', () => look());
  const end = (signal: NodeJS.Signals): void => {
    code ??= signal === 'SIGINT' ? exitCodes.interrupted : exitCodes.terminated;
    for (const child of children) child.kill('SIGTERM');
    look();
  };
  process.on('SIGINT', end).on('SIGTERM', end);
  const timer = setInterval(() => look(), pollMs);
  try {
    for (;;) {
      const now = hints.includes(undefined) ? [undefined] : [...new Set(hints)];
      hints = [];
      wake = Promise.withResolvers();
      for (const hint of now) if (await isDone(hint)) return code;
      if (code !== undefined || children.every((child) => child.exitCode !== null || child.signalCode !== null)) break;
      if (hints.length === 0) await wake.promise;
    }
    return code ?? exitCodes.failed;
  } finally {
    clearInterval(timer);
    for (const child of children) if (code === undefined) child.kill('SIGTERM');
    await gone;
    await isDone();
    process.off('SIGINT', end).off('SIGTERM', end);
  }
}

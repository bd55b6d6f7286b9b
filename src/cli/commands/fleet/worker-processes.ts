// Worker processes of one command: started by it, stopped by it, and ended when it ends.
import { fork, type ChildProcess } from 'node:child_process';
import { exitCodes } from '../../args/exit-codes.ts';

/** Worker processes that were started together. */
export type WorkerProcesses = {
  /** Waits until `isDone` returns true: it is polled, and called at once for a run that a worker has settled. Returns the exit code if a signal came first. Stops the workers. */
  waitUntil(isDone: (run?: string) => Promise<boolean>): Promise<number | undefined>;
};

/** Milliseconds between two polls of all runs: other workers may execute them too. */
const pollMs = 1000;

/** Starts worker processes, detached from the terminal's process group: Ctrl+C reaches them only through this process, as a request to release their runs. */
export function startWorkerProcesses(count: number, store: string, args: readonly string[]): WorkerProcesses {
  const [, program = ''] = process.argv;
  // Other users can read a command line, and the URL of a store may hold a password.
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
  const poll = (run?: string): void => {
    hints.push(run);
    wake.resolve();
  };
  const exited = Promise.all(
    children.map((child) => new Promise<void>((resolve) => child.once('exit', () => resolve()))),
  );
  void exited.then(() => poll());
  // A worker sends the message shortly before the settlement is stored.
  const onSettled = (message: { readonly run?: string }): void => void setTimeout(() => poll(message.run), 50);
  for (const child of children) child.on('message', onSettled).on('error', () => poll());
  const handle = (signal: NodeJS.Signals): void => {
    code ??= signal === 'SIGINT' ? exitCodes.interrupted : exitCodes.terminated;
    for (const child of children) child.kill('SIGTERM');
    poll();
  };
  process.on('SIGINT', handle).on('SIGTERM', handle);
  const timer = setInterval(() => poll(), pollMs);
  try {
    for (;;) {
      const current = hints.includes(undefined) ? [undefined] : [...new Set(hints)];
      hints = [];
      wake = Promise.withResolvers();
      for (const hint of current) if (await isDone(hint)) return code;
      if (code !== undefined || children.every((child) => child.exitCode !== null || child.signalCode !== null)) break;
      if (hints.length === 0) await wake.promise;
    }
    return code ?? exitCodes.failed;
  } finally {
    clearInterval(timer);
    for (const child of children) if (code === undefined) child.kill('SIGTERM');
    await exited;
    await isDone();
    process.off('SIGINT', handle).off('SIGTERM', handle);
  }
}

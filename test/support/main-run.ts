// Runs the program inside the test process: its main function with its own arguments, streams, environment and working directory.
// A start of the real program needs a quarter of a second of processor time, a run here a fifth of that after the first. Standard input is a pipe only if that of the test process is one.
import { Readable, Writable } from 'node:stream';
import type { ProgramResult, ProgramRunOptions } from './cli-harness.ts';
import { bin } from './program-dirs.ts';

const streamNames = ['stdin', 'stdout', 'stderr'] as const;
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The environment and the directory of a run, which replace those of the test process until it ends. */
type MainRunOptions = Pick<ProgramRunOptions, 'input'> & {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
};

// Runs change the process, so one waits for the other.
let lastRun: Promise<unknown> = Promise.resolve();

/** Runs the program in this process to its end. The test cannot send it a signal, and what it throws fails the test. */
export function runMain(args: readonly string[], options: MainRunOptions): Promise<ProgramResult> {
  const run = lastRun.then(() => runMainAlone(args, options));
  lastRun = run.catch(() => undefined);
  return run;
}

async function runMainAlone(args: readonly string[], { cwd, env, input }: MainRunOptions): Promise<ProgramResult> {
  const { main } = await import('../../src/cli/main.ts');
  const { sharedGatewayState } = await import('../../src/providers/gateway/gateway.ts');
  // A new process knows no rate limit and no failure of a provider.
  sharedGatewayState.limiters.clear();
  sharedGatewayState.circuits.clear();
  const before = {
    argv: process.argv,
    cwd: process.cwd(),
    env: { ...process.env },
    exitCode: process.exitCode,
    streams: streamNames.map((name) => Object.getOwnPropertyDescriptor(process, name)),
    listeners: signals.map((signal) => process.listeners(signal)),
  };
  const stdin = createInputStream(input);
  const [stdout, stderr] = [createTextStream(), createTextStream()];
  process.argv = [process.execPath, bin, ...args];
  replaceEnv(env);
  process.chdir(cwd);
  for (const [name, value] of Object.entries({ stdin, stdout: stdout.stream, stderr: stderr.stream }))
    Object.defineProperty(process, name, { configurable: true, enumerable: true, value });
  try {
    const code = await main(args);
    return { code, out: stdout.text(), err: stderr.text() };
  } finally {
    streamNames.forEach((name, i) => Object.defineProperty(process, name, before.streams[i] ?? {}));
    signals.forEach((signal, i) => {
      for (const listener of process.listeners(signal))
        if (before.listeners[i]?.includes(listener) !== true) process.removeListener(signal, listener);
    });
    process.argv = before.argv;
    process.chdir(before.cwd);
    replaceEnv(before.env);
    process.exitCode = before.exitCode;
  }
}

function replaceEnv(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (env[name] === undefined) delete process.env[name];
  Object.assign(process.env, env);
}

/** A stream that sends the input when it is read, as a pipe does, and ends. */
function createInputStream(input: string | undefined): Readable {
  return new Readable({
    read() {
      if (input !== undefined && input !== '') this.push(Buffer.from(input));
      this.push(null);
    },
  });
}

/** A stream that is no terminal, and the text that was written to it. */
function createTextStream(): { readonly stream: Writable; readonly text: () => string } {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      done();
    },
  });
  return { stream, text: () => Buffer.concat(chunks).toString('utf8') };
}

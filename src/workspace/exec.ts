// Runs commands: each in a process group and session of its own, which ends with it, its output bounded, its environment without secrets.
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { visibleLine, type ExecOptions, type Ran } from '../core/index.ts';
import { capped } from './capped.ts';
import { publicEnvironment } from './environment.ts';
import { codeOf, refuse } from './trouble.ts';

const longestCommand = 100_000;
const mostKept = 30_000;
/** Milliseconds between asking a group to end and ending it; a call that is aborted has half a second in all. */
const grace = 200;

const shell = ['/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash'].find((each) => existsSync(each)) ?? '/bin/sh';

/** Runs a shell command, or a program with its arguments, in this folder. */
export async function exec(command: string | readonly string[], cwd: string, options: ExecOptions): Promise<Ran> {
  const [program, ...args] = argvOf(command);
  if (options.signal?.aborted) return { code: null, signal: null, text: '', stopped: 'abort' };
  const child = spawn(program, args, {
    cwd,
    env: publicEnvironment(process.env),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  endWithUs(child);
  const output = listen(child, options);
  const ending = endOf(child, program);
  const stop = stopper(child, options);
  try {
    const { code, signal } = await ending;
    // What it left running in the background would hold its output open, and outlive us.
    killGroup(child, 'SIGKILL');
    await output.drained();
    const stopped = stop.why();
    return { code, signal, text: output.text(), ...(stopped === undefined ? {} : { stopped }) };
  } finally {
    running.delete(child);
    stop.release();
  }
}

/** What runs now. A group of its own does not hear that we are gone: it has to be told. */
const running = new Set<ChildProcess>();
let told = false;

function endWithUs(child: ChildProcess): void {
  running.add(child);
  if (told) return;
  told = true;
  process.on('exit', () => running.forEach((each) => killGroup(each, 'SIGKILL')));
}

function argvOf(command: string | readonly string[]): readonly [string, ...string[]] {
  const words = typeof command === 'string' ? [command] : command;
  const [first = ''] = words;
  if (first.trim() === '') throw refuse('bad-command', 'The command is empty, so nothing was run.');
  if (words.some((word) => word.includes('\0') || !word.isWellFormed()))
    throw refuse('bad-command', 'The command holds a NUL character or broken Unicode, so nothing was run.');
  if (words.some((word) => word.length > longestCommand))
    throw refuse(
      'bad-command',
      `The command is longer than ${longestCommand} characters; write a script and run that.`,
    );
  // One pipe for both streams, so that lines come in the order in which they were written.
  return typeof command === 'string' ? [shell, '-c', `exec 2>&1; ${command}`] : [first, ...command.slice(1)];
}

type Output = { text(): string; drained(): Promise<void> };

function listen(child: ChildProcess, { onOutput, most = mostKept }: ExecOptions): Output {
  const kept = capped(most);
  const streams = [child.stdout, child.stderr].filter((stream) => stream !== null);
  const take = (text: string): void => {
    if (text === '') return;
    kept.add(text);
    try {
      onOutput?.(text);
    } catch {
      // An onlooker that fails must not fail the command.
    }
  };
  const ends = streams.map((stream) => {
    const decoder = new StringDecoder('utf8');
    stream.on('data', (bytes: Buffer) => take(decoder.write(bytes)));
    return new Promise<void>((resolve) => {
      stream.on('close', () => {
        take(decoder.end());
        resolve();
      });
    });
  });
  return {
    text: () => kept.text(),
    /** All that was written is read before the end is told; but a process that left the group may hold the pipe for ever. */
    async drained() {
      const timer = setTimeout(() => streams.forEach((stream) => stream.destroy()), grace);
      await Promise.all(ends);
      clearTimeout(timer);
    },
  };
}

function endOf(child: ChildProcess, program: string): Promise<{ code: number | null; signal: string | null }> {
  return new Promise((resolve, reject) => {
    child.on('error', (error) => {
      // Where a folder of the search path is closed to us, the system says EACCES of a program that is nowhere.
      if (!['ENOENT', 'EACCES'].includes(codeOf(error) ?? '')) return reject(error);
      reject(refuse('no-program', `The program ${visibleLine(program)} was not found, or may not be run.`, error));
    });
    child.on('exit', (code, signal) => resolve({ code, signal }));
  });
}

type Stopper = { why(): Ran['stopped']; release(): void };

/** Ends the whole group at an abort or at its time: asked first, then made to. */
function stopper(child: ChildProcess, { signal, timeoutMs }: ExecOptions): Stopper {
  let why: Ran['stopped'];
  const timers: NodeJS.Timeout[] = [];
  const end = (reason: 'timeout' | 'abort'): void => {
    if (why !== undefined) return;
    why = reason;
    killGroup(child, 'SIGTERM');
    timers.push(setTimeout(() => killGroup(child, 'SIGKILL'), grace));
  };
  const abort = (): void => end('abort');
  signal?.addEventListener('abort', abort, { once: true });
  if (timeoutMs !== undefined) timers.push(setTimeout(() => end('timeout'), Math.min(timeoutMs, 2 ** 31 - 1)));
  return {
    why: () => why,
    release() {
      signal?.removeEventListener('abort', abort);
      timers.forEach((timer) => clearTimeout(timer));
    },
  };
}

function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (child.pid !== undefined) process.kill(process.platform === 'win32' ? child.pid : -child.pid, signal);
  } catch {
    // All of it has ended.
  }
}

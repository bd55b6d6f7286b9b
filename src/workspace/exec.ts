// Runs commands: each in a process group and session of its own, which ends with it, its output bounded, its environment without secrets.
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import {
  createBoundedText,
  escapeInvisibleLine,
  systemErrorCode,
  type ExecOptions,
  type ExecResult,
  type OutputSize,
} from '../core/index.ts';
import { publicEnvironment } from './environment.ts';
import { descendantGroups } from './process-groups.ts';
import { createOutputFile } from './output-files.ts';
import { workspaceError } from './errors.ts';

const maxCommandLength = 100_000;
const defaultMaxOutput = 30_000;
/** Milliseconds between asking a group to end and ending it; a call that is aborted has half a second in all. */
const defaultGraceMs = 200;

const bashPath = ['/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash'].find((each) => existsSync(each)) ?? '/bin/sh';

/** Runs a shell command, or a program with its arguments, in this folder; output that is to be kept goes to a folder beside it. */
export async function execCommand(
  command: string | readonly string[],
  cwd: string,
  options: ExecOptions,
  outputs?: string,
): Promise<ExecResult> {
  const [program, ...args] = toArgv(command);
  if (options.signal?.aborted) return { code: null, signal: null, text: '', stopped: 'abort' };
  const child = spawn(program, args, {
    cwd,
    env: publicEnvironment(process.env),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  killOnExit(child);
  const watcher = options.killWithParent ? spawnReaper(child) : undefined;
  const output = collectOutput(child, options, options.saveOutput ? outputs : undefined);
  const ending = waitForExit(child, program);
  const stop = createStopControl(child, options);
  try {
    const { code, signal } = await ending;
    // What it left running in the background would hold its output open, and outlive us.
    killGroup(child, 'SIGKILL');
    await output.drained();
    const stopped = stop.reason();
    const long = output.overflow();
    return { code, signal, text: output.text(), ...(stopped && { stopped }), ...(long && { outputSize: long }) };
  } finally {
    runningProcesses.delete(child);
    watcher?.kill('SIGKILL');
    output.close();
    stop.release();
  }
}

/** What runs now. A group of its own does not hear that we are gone: it has to be told. */
const runningProcesses = new Set<ChildProcess>();
let hasExitListener = false;

function killOnExit(child: ChildProcess): void {
  runningProcesses.add(child);
  if (hasExitListener) return;
  hasExitListener = true;
  process.on('exit', () => runningProcesses.forEach((each) => killGroup(each, 'SIGKILL')));
}

/** Ends the group when the pipe from us closes, however we go: where we are killed outright nothing of ours runs any more. */
function spawnReaper(child: ChildProcess): ChildProcess | undefined {
  if (child.pid === undefined || process.platform === 'win32') return undefined;
  const end = 'read _; kill -s KILL -- "-$0"';
  const watcher = spawn('/bin/sh', ['-c', end, String(child.pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    env: {},
    detached: true,
  });
  // Without it the command ends in all other ways still.
  watcher.on('error', () => {});
  watcher.unref();
  return watcher;
}

function toArgv(command: string | readonly string[]): readonly [string, ...string[]] {
  const words = typeof command === 'string' ? [command] : command;
  const [first = ''] = words;
  if (first.trim() === '') throw workspaceError('bad-command', 'The command is empty, so nothing was run.');
  if (words.some((word) => word.includes('\0') || !word.isWellFormed()))
    throw workspaceError('bad-command', 'The command holds a NUL character or broken Unicode, so nothing was run.');
  if (words.some((word) => word.length > maxCommandLength))
    throw workspaceError(
      'bad-command',
      `The command is longer than ${maxCommandLength} characters; write a script and run that.`,
    );
  // One pipe for both streams, so that lines come in the order in which they were written.
  return typeof command === 'string' ? [bashPath, '-c', `exec 2>&1; ${command}`] : [first, ...command.slice(1)];
}

type OutputCollector = {
  text(): string;
  /** How much there was, where that is more than the text. */
  overflow(): OutputSize | undefined;
  drained(): Promise<void>;
  close(): void;
};

function collectOutput(
  child: ChildProcess,
  { onOutput, maxChars = defaultMaxOutput }: ExecOptions,
  folder: string | undefined,
): OutputCollector {
  // Two halves of one length, so that nothing is left out before a file is begun.
  const room = Math.max(2, maxChars - (maxChars % 2));
  const kept = createBoundedText(room);
  const file = folder === undefined ? undefined : createOutputFile(folder);
  let bytes = 0;
  let length = 0;
  const written = (): OutputSize => {
    const place = file?.location();
    return { bytes, ...(place && { file: place }) };
  };
  const streams = [child.stdout, child.stderr].filter((stream) => stream !== null);
  const take = (text: string): void => {
    if (text === '') return;
    // What is short enough to be given back needs no file.
    if (length + text.length > room) file?.append(length > room ? text : kept.text() + text);
    length += text.length;
    kept.add(text);
    try {
      onOutput?.(text, written());
    } catch {
      // An onlooker that fails must not fail the command.
    }
  };
  const ends = streams.map((stream) => {
    const decoder = new StringDecoder('utf8');
    stream.on('data', (piece: Buffer) => {
      bytes += piece.length;
      take(decoder.write(piece));
    });
    return new Promise<void>((resolve) => {
      stream.on('close', () => {
        take(decoder.end());
        resolve();
      });
    });
  });
  return {
    text: () => kept.text(),
    overflow: () => (kept.isTruncated() ? written() : undefined),
    close: () => file?.close(),
    /** All that was written is read before the end is told; but a process that left the group may hold the pipe for ever. */
    async drained() {
      const timer = setTimeout(() => streams.forEach((stream) => stream.destroy()), defaultGraceMs);
      await Promise.all(ends);
      clearTimeout(timer);
    },
  };
}

function waitForExit(child: ChildProcess, program: string): Promise<{ code: number | null; signal: string | null }> {
  return new Promise((resolve, reject) => {
    child.on('error', (error) => {
      // Where a folder of the search path is closed to us, the system says EACCES of a program that is nowhere.
      if (!['ENOENT', 'EACCES'].includes(systemErrorCode(error) ?? '')) return reject(error);
      reject(
        workspaceError(
          'no-program',
          `The program ${escapeInvisibleLine(program)} was not found, or may not be run.`,
          error,
        ),
      );
    });
    child.on('exit', (code, signal) => resolve({ code, signal }));
  });
}

type StopControl = { reason(): ExecResult['stopped']; release(): void };

/** Ends the whole group at an abort or at its time: asked first, then made to. */
function createStopControl(
  child: ChildProcess,
  { signal, timeoutMs, graceMs = defaultGraceMs, isWrapper }: ExecOptions,
): StopControl {
  let why: ExecResult['stopped'];
  const timers: NodeJS.Timeout[] = [];
  const end = (reason: 'timeout' | 'abort'): void => {
    if (why !== undefined) return;
    why = reason;
    const held = isWrapper && child.pid !== undefined ? descendantGroups(child.pid) : [];
    if (held.length > 0) held.forEach((group) => signalProcess(-group, 'SIGTERM'));
    else killGroup(child, 'SIGTERM');
    timers.push(setTimeout(() => killGroup(child, 'SIGKILL'), graceMs));
  };
  const abort = (): void => end('abort');
  signal?.addEventListener('abort', abort, { once: true });
  if (timeoutMs !== undefined) timers.push(setTimeout(() => end('timeout'), Math.min(timeoutMs, 2 ** 31 - 1)));
  return {
    reason: () => why,
    release() {
      signal?.removeEventListener('abort', abort);
      timers.forEach((timer) => clearTimeout(timer));
    },
  };
}

function killGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid !== undefined) signalProcess(process.platform === 'win32' ? pid : -pid, signal);
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // All of it has ended.
  }
}

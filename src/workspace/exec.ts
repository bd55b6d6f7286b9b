// Runs commands: each in its own process group and session, which is killed when it ends, with bounded output and without secrets in its environment.
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
/** Milliseconds between SIGTERM and SIGKILL; an aborted call may take half a second in total. */
const defaultGraceMs = 200;

const bashPath = ['/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash'].find((each) => existsSync(each)) ?? '/bin/sh';

/** Runs a shell command, or a program with arguments, in this folder. Output to be saved goes to the given output folder. */
export async function execCommand(
  command: string | readonly string[],
  cwd: string,
  options: ExecOptions,
  outputs?: string,
): Promise<ExecResult> {
  const [program, ...args] = toArgv(command);
  if (options.signal?.aborted || options.killSignal?.aborted)
    return { code: null, signal: null, text: '', stopped: 'abort' };
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
    // Background processes of the command would keep its output open and outlive this process.
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

/** The running processes. A separate group does not receive our signals, so it is killed at exit. */
const runningProcesses = new Set<ChildProcess>();
let hasExitListener = false;

function killOnExit(child: ChildProcess): void {
  runningProcesses.add(child);
  if (hasExitListener) return;
  hasExitListener = true;
  process.on('exit', () => runningProcesses.forEach((each) => killGroup(each, 'SIGKILL')));
}

/** Kills the group when the pipe from this process closes, even after SIGKILL, when no code of this process runs any more. */
function spawnReaper(child: ChildProcess): ChildProcess | undefined {
  if (child.pid === undefined || process.platform === 'win32') return undefined;
  const end = 'read _; kill -s KILL -- "-$0"';
  const watcher = spawn('/bin/sh', ['-c', end, String(child.pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    env: {},
    detached: true,
  });
  // Without it, the command still ends in all other cases.
  watcher.on('error', () => {});
  watcher.unref();
  return watcher;
}

function toArgv(command: string | readonly string[]): readonly [string, ...string[]] {
  const words = typeof command === 'string' ? [command] : command;
  const [first = ''] = words;
  if (first.trim() === '') throw workspaceError('bad-command', 'The command is empty, so nothing was run.');
  if (words.some((word) => word.includes('\0') || !word.isWellFormed()))
    throw workspaceError('bad-command', 'The command contains a NUL character or invalid Unicode, so nothing was run.');
  if (words.some((word) => word.length > maxCommandLength))
    throw workspaceError(
      'bad-command',
      `The command is longer than ${maxCommandLength} characters; write a script and run that.`,
    );
  // One pipe for both streams, so that lines stay in the order in which they were written.
  return typeof command === 'string' ? [bashPath, '-c', `exec 2>&1; ${command}`] : [first, ...command.slice(1)];
}

type OutputCollector = {
  text(): string;
  /** The size of the complete output, if it is more than the text. */
  overflow(): OutputSize | undefined;
  drained(): Promise<void>;
  close(): void;
};

function collectOutput(
  child: ChildProcess,
  { onOutput, maxChars = defaultMaxOutput }: ExecOptions,
  folder: string | undefined,
): OutputCollector {
  // Two halves of the same length, so that nothing is omitted before a file is created.
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
    // Output that is returned in full needs no file.
    if (length + text.length > room) file?.append(length > room ? text : kept.text() + text);
    length += text.length;
    kept.add(text);
    try {
      onOutput?.(text, written());
    } catch {
      // A listener that throws must not fail the command.
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
    /** Reads all output before the end is reported. A process that left the group may keep the pipe open forever, so this has a limit. */
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
      // If a folder on PATH is not accessible, the system reports EACCES for a program that does not exist.
      if (!['ENOENT', 'EACCES'].includes(systemErrorCode(error) ?? '')) return reject(error);
      reject(
        workspaceError(
          'no-program',
          `The program ${escapeInvisibleLine(program)} was not found, or is not executable.`,
          error,
        ),
      );
    });
    child.on('exit', (code, signal) => resolve({ code, signal }));
  });
}

type StopControl = { reason(): ExecResult['stopped']; release(): void };

/** Stops the group at an abort or timeout: SIGTERM first, then SIGKILL; at once if the kill signal says so. */
function createStopControl(
  child: ChildProcess,
  { signal, killSignal, timeoutMs, graceMs = defaultGraceMs, isWrapper }: ExecOptions,
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
  const kill = (): void => {
    why ??= 'abort';
    killGroup(child, 'SIGKILL');
  };
  signal?.addEventListener('abort', abort, { once: true });
  killSignal?.addEventListener('abort', kill, { once: true });
  if (timeoutMs !== undefined) timers.push(setTimeout(() => end('timeout'), Math.min(timeoutMs, 2 ** 31 - 1)));
  return {
    reason: () => why,
    release() {
      signal?.removeEventListener('abort', abort);
      killSignal?.removeEventListener('abort', kill);
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
    // All its processes have exited.
  }
}

// The process of a language server: in its own process group, which is killed at exit, without secrets in its environment, with bounded output.
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import type { Socket } from 'node:net';
import path from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { escapeInvisibleLine } from '../../core/index.ts';
import { foldersOutside } from '../safe-path.ts';
import { encodeFrame, createFrameDecoder } from './frames.ts';

/** Variables that a server receives: enough to find programs, homes and caches, and none that could hold a key. */
const allowedVariables = new Set(
  [
    'HOME USER LOGNAME SHELL LANG LC_ALL LC_CTYPE TZ TMPDIR XDG_CACHE_HOME',
    'SYSTEMROOT SYSTEMDRIVE COMSPEC PATHEXT APPDATA LOCALAPPDATA USERPROFILE PROGRAMFILES',
    'GOPATH GOROOT GOCACHE GOMODCACHE CARGO_HOME RUSTUP_HOME JAVA_HOME DOTNET_ROOT',
  ].flatMap((names) => names.split(' ')),
);
const maxStderrChars = 4000;
/** Milliseconds for a server to exit by itself, and again after SIGTERM. */
const graceMs = 300;

/** What to start, and where. */
export type LaunchOptions = {
  /** The program and its arguments. */
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly environment: NodeJS.ProcessEnv;
};

/** The listener of a server process. */
export type ChildListener = { onMessage(value: unknown): void; onEnded(why: string): void };

/** Returns the environment of a server: allowed variables, a PATH without that folder, and the variables of its definition. */
export function serverEnvironment(
  given: NodeJS.ProcessEnv,
  folder: string,
  more: Readonly<Record<string, string>> = {},
): NodeJS.ProcessEnv {
  const known = Object.entries(given).filter(
    // A shell function in a variable is code.
    ([name, value]) => allowedVariables.has(name.toUpperCase()) && !value?.startsWith('()'),
  );
  return { ...Object.fromEntries(known), PATH: foldersOutside(folder, given['PATH']).join(path.delimiter), ...more };
}

/** A running server. It does not keep our process alive; pending requests do. */
export class LanguageServerProcess {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #listener: ChildListener;
  readonly #closed = Promise.withResolvers<void>();
  #stderrText = '';
  #ended = false;

  constructor({ argv: [program, ...args], cwd, environment }: LaunchOptions, listener: ChildListener) {
    this.#listener = listener;
    const child = spawn(program, args, {
      cwd,
      env: environment,
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
    this.#child = child;
    process.once('exit', this.#kill);
    const words = new StringDecoder('utf8');
    child.stderr.on(
      'data',
      (bytes: Buffer) => (this.#stderrText = (this.#stderrText + words.write(bytes)).slice(-maxStderrChars)),
    );
    const take = createFrameDecoder(
      (value) => this.#ended || listener.onMessage(value),
      (why) => this.#finish(why),
    );
    child.stdout.on('data', take);
    // A broken pipe is reported by the exit.
    child.stdin.on('error', () => {});
    child.on('error', (error) => this.#finish(`it could not be started (${escapeInvisibleLine(error.message)})`));
    child.on('exit', (code, signal) => this.#drain(`it exited with ${signal ?? `code ${code}`}`));
    child.unref();
    for (const stream of [child.stdin, child.stdout, child.stderr]) (stream as Socket).unref();
  }

  /** Its process id, if it could be started. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  send(message: object): void {
    if (!this.#ended) this.#child.stdin.write(encodeFrame({ jsonrpc: '2.0', ...message }));
  }

  /** Closes its stdin, then terminates and kills the group. */
  async close(): Promise<void> {
    if (this.#ended) return;
    this.#child.stdin.end();
    const timers = [
      setTimeout(() => this.#signal('SIGTERM'), graceMs),
      setTimeout(() => this.#finish('it was stopped'), 2 * graceMs),
    ];
    await this.#closed.promise;
    timers.forEach((timer) => clearTimeout(timer));
  }

  /** Reads remaining output before reporting the exit, with a limit: another process may keep the pipe open forever. */
  #drain(how: string): void {
    this.#kill();
    const finish = (): void => this.#finish(`${how}${this.#lastStderr()}`);
    const timer = setTimeout(finish, graceMs);
    this.#child.once('close', () => {
      clearTimeout(timer);
      finish();
    });
  }

  #lastStderr(): string {
    const words = escapeInvisibleLine(this.#stderrText.trim().slice(-300));
    return words === '' ? '' : `; it said: ${words}`;
  }

  readonly #kill = (): void => this.#signal('SIGKILL');

  #signal(signal: NodeJS.Signals): void {
    const { pid } = this.#child;
    try {
      if (pid !== undefined) process.kill(process.platform === 'win32' ? pid : -pid, signal);
    } catch {
      // All its processes have exited.
    }
  }

  /** Its child processes are killed with it. */
  #finish(why: string): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#kill();
    process.removeListener('exit', this.#kill);
    this.#child.stdout.destroy();
    this.#child.stderr.destroy();
    this.#closed.resolve();
    this.#listener.onEnded(why);
  }
}

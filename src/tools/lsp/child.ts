// A language server as a child process: in a group of its own that ends with us, without our secrets, its words bounded.
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { realpathSync } from 'node:fs';
import type { Socket } from 'node:net';
import path from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { escapeInvisibleLine, isPathInside } from '../../core/index.ts';
import { encodeFrame, createFrameDecoder } from './frames.ts';

/** What a server gets of our environment: enough to find programs, homes and caches, and nothing that could be a key. */
const allowedVariables = new Set(
  [
    'HOME USER LOGNAME SHELL LANG LC_ALL LC_CTYPE TZ TMPDIR XDG_CACHE_HOME',
    'SYSTEMROOT SYSTEMDRIVE COMSPEC PATHEXT APPDATA LOCALAPPDATA USERPROFILE PROGRAMFILES',
    'GOPATH GOROOT GOCACHE GOMODCACHE CARGO_HOME RUSTUP_HOME JAVA_HOME DOTNET_ROOT',
  ].flatMap((names) => names.split(' ')),
);
const maxStderrChars = 4000;
/** Milliseconds a server has to end by itself, and again after it was asked to. */
const graceMs = 300;

/** What is started, and where. */
export type LaunchOptions = {
  /** The program and its arguments. */
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly environment: NodeJS.ProcessEnv;
};

/** What a child process is heard by. */
export type ChildListener = { onMessage(value: unknown): void; onEnded(why: string): void };

/** The folders of a search path that are absolute and not inside this one: a program of the folder must not be found by its name. */
export const safeSearchFolders = (environment: NodeJS.ProcessEnv, outside: string): readonly string[] =>
  (environment['PATH'] ?? '').split(path.delimiter).filter((folder) => {
    try {
      return path.isAbsolute(folder) && !isPathInside(outside, realpathSync.native(folder));
    } catch {
      // There is no such folder yet, and whoever makes it could be anybody.
      return false;
    }
  });

/** The environment of a server in a folder: harmless variables, a search path without that folder, and what its definition adds. */
export function serverEnvironment(
  given: NodeJS.ProcessEnv,
  folder: string,
  more: Readonly<Record<string, string>> = {},
): NodeJS.ProcessEnv {
  const known = Object.entries(given).filter(
    // A shell function in a variable is code: it has no business in the list above.
    ([name, value]) => allowedVariables.has(name.toUpperCase()) && !value?.startsWith('()'),
  );
  return { ...Object.fromEntries(known), PATH: safeSearchFolders(given, folder).join(path.delimiter), ...more };
}

/** A running server. It does not keep our own process alive: what waits for it does. */
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
    // A pipe that breaks is told by the exit.
    child.stdin.on('error', () => {});
    child.on('error', (error) => this.#finish(`it could not be started (${escapeInvisibleLine(error.message)})`));
    child.on('exit', (code, signal) => this.#drain(`it ended with ${signal ?? `exit code ${code}`}`));
    child.unref();
    for (const stream of [child.stdin, child.stdout, child.stderr]) (stream as Socket).unref();
  }

  /** Its process id, where it could be started. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  send(message: object): void {
    if (!this.#ended) this.#child.stdin.write(encodeFrame({ jsonrpc: '2.0', ...message }));
  }

  /** Closes its input, asks it to end, and ends the whole group. */
  async close(): Promise<void> {
    if (this.#ended) return;
    this.#child.stdin.end();
    const timers = [
      setTimeout(() => this.#signal('SIGTERM'), graceMs),
      setTimeout(() => this.#finish('it was made to end'), 2 * graceMs),
    ];
    await this.#closed.promise;
    timers.forEach((timer) => clearTimeout(timer));
  }

  /** What it wrote before its end is read before the end is told; but whoever else holds its output may hold it for ever. */
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
      // All of it has ended.
    }
  }

  /** Whatever it started ends with it. */
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

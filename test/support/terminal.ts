// A real terminal for tests: a command in its own tmux server, with keys sent and the screen read.
import { execFile, execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { homedir, tmpdir } from 'node:os';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { connectToTmux, type TmuxClient } from './tmux-client.ts';

const execFileAsync = promisify(execFile);

// The screen stays readable after the command has ended, and Esc is not delayed.
const SETUP = [
  '-u -f /dev/null start-server',
  'set-option -g remain-on-exit on',
  'set-option -g history-limit 100000',
  'set-option -s escape-time 0',
  'set-option -s extended-keys on ;',
].join(' ; ');

/** Returns why a test cannot use a terminal here, for its `skip`; false if it can. */
export function noTerminal(): string | false {
  try {
    execFileSync('tmux', ['-V'], { stdio: 'ignore' });
    return false;
  } catch {
    return 'tmux is not installed';
  }
}

/** The size, directory and environment of the terminal. */
export type TerminalOptions = {
  readonly columns?: number;
  readonly rows?: number;
  readonly cwd?: string;
  /** Added to a minimal environment of PATH, HOME and LANG; TERM is the type of the terminal. */
  readonly env?: Readonly<Record<string, string>>;
};

/** A command running in a terminal. */
export type Terminal = {
  /** Presses keys by their tmux names: `Enter`, `Escape`, `C-c`, `M-Enter`, `S-Tab` is `BTab`. */
  keys(...names: string[]): Promise<void>;
  /** Types text, key by key. */
  type(text: string): Promise<void>;
  /** Pastes text, bracketed if the program enabled that. */
  paste(text: string): Promise<void>;
  /** Returns the screen: with `colors` including style sequences, ESC written as ␛; with `back` including the scrollback. */
  screen(how?: { readonly colors?: boolean; readonly back?: boolean }): Promise<string>;
  /** Waits until the screen or the scrollback matches, and returns it; throws with the screen after the timeout. */
  waitFor(pattern: RegExp, ms?: number, how?: { readonly colors?: boolean }): Promise<string>;
  resize(columns: number, rows: number): Promise<void>;
  /** Returns a value of the pane in tmux's format language: `#{cursor_flag}`, `#{pane_pid}`. */
  queryTmux(format: string): Promise<string>;
  /** Ends the command and the server. */
  kill(): Promise<void>;
};

/** Opens a terminal that is closed when the test ends. */
export async function openTerminal(
  t: Pick<TestContext, 'after'>,
  command: readonly string[],
  options: TerminalOptions = {},
): Promise<Terminal> {
  const name = `fairlead-${process.pid}-${randomUUID().slice(0, 8)}`;
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: homedir(),
    LANG: 'C.UTF-8',
    TERM: 'xterm-256color',
  };
  const tmux = async (...args: string[]): Promise<string> =>
    (await execFileAsync('tmux', ['-L', name, ...args], { env, maxBuffer: 64 << 20 })).stdout;
  const terminal = createTerminal(name, env, tmux);
  t.after(() => terminal.kill());
  const size = ['-x', String(options.columns ?? 80), '-y', String(options.rows ?? 24)];
  const { TERM: innerTerm = 'tmux-256color', ...extraEnv } = options.env ?? {};
  await tmux(
    ...SETUP.split(' '),
    ...`set-option -g default-terminal ${innerTerm} ;`.split(' '),
    'new-session',
    '-d',
    ...size,
    '-c',
    options.cwd ?? tmpdir(),
    ...Object.entries(extraEnv).flatMap(([key, value]) => ['-e', `${key}=${value}`]),
    '--',
    ...command,
  );
  return terminal;
}

function createTerminal(
  name: string,
  env: Record<string, string>,
  tmux: (...args: string[]) => Promise<string>,
): Terminal {
  let client: TmuxClient | undefined;
  const screen: Terminal['screen'] = async ({ colors = false, back = false } = {}) => {
    client ??= connectToTmux(name, env);
    const text = await client.run(`capture-pane -p${colors ? ' -e' : ''}${back ? ' -S -' : ''}`);
    return text.replaceAll('\x1b', '␛');
  };
  return {
    keys: async (...names) => void (await tmux('send-keys', '--', ...names)),
    type: async (text) => void (await tmux('send-keys', '-l', '--', text)),
    async paste(text) {
      const loading = spawn('tmux', ['-L', name, 'load-buffer', '-'], { env, stdio: ['pipe', 'ignore', 'ignore'] });
      loading.stdin.end(text);
      await new Promise((done) => loading.once('close', done));
      await tmux('paste-buffer', '-p', '-d');
    },
    screen,
    async waitFor(pattern, ms = 20_000, how = {}) {
      const deadline = Date.now() + ms;
      for (;;) {
        const text = await screen({ ...how, back: true });
        if (pattern.test(text)) return text;
        if (Date.now() > deadline)
          throw new Error(`${pattern.source} did not appear in ${ms} ms; the screen:\n${text}`);
        await pause(80);
      }
    },
    resize: async (columns, rows) => void (await tmux('resize-window', '-x', String(columns), '-y', String(rows))),
    queryTmux: async (format) => (await tmux('display-message', '-p', format)).trimEnd(),
    async kill() {
      // The server ends its commands with SIGHUP; it may have ended already.
      await tmux('kill-server').catch(() => undefined);
      client?.close();
    },
  };
}

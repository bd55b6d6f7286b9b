// A real terminal for tests: a command in a tmux server of its own, typed into and looked at as a person would.
import { execFile, execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { homedir, tmpdir } from 'node:os';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

const execFileAsync = promisify(execFile);

// The screen stays to be read after the command ended, and Esc is told from the start of a sequence at once.
const SETUP = [
  '-u -f /dev/null start-server',
  'set-option -g remain-on-exit on',
  'set-option -g history-limit 100000',
  'set-option -s escape-time 0',
  'set-option -s extended-keys on ;',
].join(' ; ');

/** Why a test that needs a terminal cannot run here, to be given as its `skip`; false where it can. */
export function noTerminal(): string | false {
  try {
    execFileSync('tmux', ['-V'], { stdio: 'ignore' });
    return false;
  } catch {
    return 'tmux is not installed';
  }
}

/** How the terminal is to be. */
export type TerminalOptions = {
  readonly columns?: number;
  readonly rows?: number;
  readonly cwd?: string;
  /** Added to a bare environment of PATH, HOME and LANG; TERM is what the terminal calls itself. */
  readonly env?: Readonly<Record<string, string>>;
};

/** A command running in a terminal. */
export type Terminal = {
  /** Presses keys by their tmux names: `Enter`, `Escape`, `C-c`, `M-Enter`, `S-Tab` is `BTab`. */
  keys(...names: string[]): Promise<void>;
  /** Types text, letter by letter. */
  type(text: string): Promise<void>;
  /** Pastes text, bracketed where the program asked for that. */
  paste(text: string): Promise<void>;
  /** What is on the screen now: with `colors` its style sequences, ESC written as ␛; with `back` what has scrolled away too. */
  screen(how?: { readonly colors?: boolean; readonly back?: boolean }): Promise<string>;
  /** Waits until the screen (and what scrolled away) matches, and gives it; fails with the screen as it was. */
  waitFor(pattern: RegExp, ms?: number, how?: { readonly colors?: boolean }): Promise<string>;
  resize(columns: number, rows: number): Promise<void>;
  /** What tmux knows of the pane, in its own format language: `#{cursor_flag}`, `#{pane_pid}`. */
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
  const tmux = async (...words: string[]): Promise<string> =>
    (await execFileAsync('tmux', ['-L', name, ...words], { env, maxBuffer: 64 << 20 })).stdout;
  const terminal = createTerminal(name, env, tmux);
  t.after(() => terminal.kill());
  const size = ['-x', String(options.columns ?? 80), '-y', String(options.rows ?? 24)];
  const { TERM: inside = 'tmux-256color', ...given } = options.env ?? {};
  await tmux(
    ...SETUP.split(' '),
    ...`set-option -g default-terminal ${inside} ;`.split(' '),
    'new-session',
    '-d',
    ...size,
    '-c',
    options.cwd ?? tmpdir(),
    ...Object.entries(given).flatMap(([key, value]) => ['-e', `${key}=${value}`]),
    '--',
    ...command,
  );
  return terminal;
}

function createTerminal(
  name: string,
  env: Record<string, string>,
  tmux: (...words: string[]) => Promise<string>,
): Terminal {
  const screen: Terminal['screen'] = async ({ colors = false, back = false } = {}) => {
    const seen = await tmux('capture-pane', '-p', ...(colors ? ['-e'] : []), ...(back ? ['-S', '-'] : []));
    return seen.replaceAll('\x1b', '␛');
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
      const end = Date.now() + ms;
      for (;;) {
        const now = await screen({ ...how, back: true });
        if (pattern.test(now)) return now;
        if (Date.now() > end) throw new Error(`${pattern.source} did not appear in ${ms} ms; the screen:\n${now}`);
        await pause(40);
      }
    },
    resize: async (columns, rows) => void (await tmux('resize-window', '-x', String(columns), '-y', String(rows))),
    queryTmux: async (format) => (await tmux('display-message', '-p', format)).trimEnd(),
    async kill() {
      // The server ends every command in it with SIGHUP; one that is gone already is what is wanted.
      await tmux('kill-server').catch(() => undefined);
    },
  };
}

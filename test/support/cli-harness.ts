// The real program in a home of its own with a scripted model server beside it: run once in a pipe, or opened in a terminal.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { JsonObject } from '../../src/core/index.ts';
import {
  scriptedServer,
  type ListedModel,
  type RecordedRequest,
  type Script,
  type ScriptedServer,
  type ScriptedServerOptions,
} from '../../src/testing/index.ts';
import { waitUntilArmed } from './tui.ts';
import { bin, createProgramDirs, type ProgramDirs } from './program-dirs.ts';
import { openTerminal, type Terminal, type TerminalOptions } from './terminal.ts';

export { bin };

/** How the program came out. */
export type ProgramResult = { readonly code: number | null; readonly out: string; readonly err: string };

/** What a run is given besides its arguments. */
export type ProgramRunOptions = {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Another file of the program than `bin`. */
  readonly file?: string;
};

/** A run that goes on. */
export type RunningProgram = {
  readonly ended: Promise<ProgramResult>;
  /** What it has written to standard output so far, and to standard error. */
  readonly out: () => string;
  readonly err: () => string;
  kill(signal: NodeJS.Signals): void;
  /** Hangs up on its standard output, as `head` does. */
  closeStdout(): void;
};

/** The program, its folders and its server. */
export type TestProgram = ProgramDirs & {
  readonly server: ScriptedServer;
  /** The names of the session files. */
  sessions(): readonly string[];
  /** The words of a session's file. */
  session(name: string): string;
  /** The requests for an answer, and those alone. */
  modelRequests(): readonly RecordedRequest[];
  /** Runs the program in a pipe to its end. */
  run(args: readonly string[], options?: ProgramRunOptions): Promise<ProgramResult>;
  start(args: readonly string[], options?: ProgramRunOptions): RunningProgram;
  /** Opens the program in a terminal. */
  open(args: readonly string[], options?: TerminalOptions): Promise<Terminal>;
  /** Makes the list of models and the last model known, as an earlier start would have. */
  seedModels(previous?: string): Promise<void>;
};

/** The models of the server, unless a test has others: one that calls tools and one that cannot. */
const defaultModels: readonly ListedModel[] = [
  { id: 'qwen3', tools: true, context: 32_768 },
  { id: 'tiny', tools: false, context: 2048 },
];

// A shell tells how the program ended, where the terminal's own word comes late or never, and stays so that nothing scrolls away.
const shellScript = '"$@"; echo "(left with $?)"; read _';

const maxRunMs = 30_000;

/** Prepares the program for a test. A provider is always declared: without one it would look around on this machine. */
export async function createProgram(
  t: TestContext,
  script: Script<JsonObject> = ({ prompt }) => `You said: ${prompt}`,
  options: ScriptedServerOptions = {},
): Promise<TestProgram> {
  const server = await scriptedServer(script, { models: defaultModels, ...options });
  t.after(() => server.close());
  const folders = createProgramDirs(t);
  const { cwd, data } = folders;
  const env = { ...folders.env, OLLAMA_API_URL: server.url };
  const start: TestProgram['start'] = (args, more = {}) =>
    startProcess([more.file ?? bin, ...args], { cwd: more.cwd ?? cwd, env: { ...env, ...more.env } }, more.input);
  const self: TestProgram = {
    ...folders,
    env,
    server,
    sessions() {
      const folder = data('sessions');
      const files = existsSync(folder) ? readdirSync(folder) : [];
      return files.flatMap((file) => /^session_(.*)\.jsonl$/.exec(file)?.[1] ?? []).toSorted();
    },
    session: (name) => readFileSync(data('sessions', `session_${name}.jsonl`), 'utf8'),
    modelRequests: () => server.requests.filter(({ format }) => format !== undefined),
    run: (args, more) => start(args, more).ended,
    start,
    open: (args, more = {}) =>
      openTerminal(t, ['sh', '-c', shellScript, 'sh', process.execPath, bin, ...args], {
        columns: 100,
        cwd,
        ...more,
        env: { ...env, ...more.env },
      }),
    async seedModels(previous) {
      await seedModelList(self, options.models === undefined);
      if (previous !== undefined) writeFileSync(self.state('previous_model_name'), `${previous}\n`);
      server.clearRequests();
    },
  };
  return self;
}

/** The list of the usual models as the program wrote it, with its address left open: later tests of a file need not wait for it. */
let defaultModelList: string | undefined;

async function seedModelList(made: TestProgram, usual: boolean): Promise<void> {
  const file = made.state('models.jsonl');
  if (usual && defaultModelList !== undefined) {
    mkdirSync(made.state(), { recursive: true });
    return writeFileSync(file, defaultModelList.replaceAll('<address>', made.server.url));
  }
  await made.run(['--one-shot', '--refresh-models']);
  if (usual) defaultModelList = readFileSync(file, 'utf8').replaceAll(made.server.url, '<address>');
}

type ProcessOptions = { readonly cwd: string; readonly env: Readonly<Record<string, string>> };

function startProcess(args: readonly string[], place: ProcessOptions, input: string | undefined): RunningProgram {
  const child = spawn(process.execPath, args, { ...place, stdio: ['pipe', 'pipe', 'pipe'] });
  const { promise: ended, resolve } = Promise.withResolvers<ProgramResult>();
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  // A program that needs no input may be gone before it is given any.
  child.stdin.on('error', () => undefined).end(input);
  const late = setTimeout(() => {
    err += `\n(the test ended it after ${maxRunMs} ms)`;
    child.kill('SIGKILL');
  }, maxRunMs);
  child.on('close', (code) => {
    clearTimeout(late);
    resolve({ code, out, err });
  });
  return {
    ended,
    out: () => out,
    err: () => err,
    kill: (signal) => void child.kill(signal),
    closeStdout: () => void child.stdout.destroy(),
  };
}

/** Waits until something holds; fails after a while, saying what was waited for. */
export async function waitUntil(what: string, holds: () => boolean, ms = 10_000): Promise<void> {
  for (const end = Date.now() + ms; !holds(); await pause(20))
    if (Date.now() > end) throw new Error(`${what}: not after ${ms} ms`);
}

/** The exit code with which the program in a terminal ended. */
export async function waitForExitCode(terminal: Terminal): Promise<number> {
  return Number(/\(left with (\d+)\)/.exec(await terminal.waitFor(/\(left with \d+\)/))?.[1]);
}

/** Waits for a question, and answers it with a key once it takes keys. */
export async function answerPrompt(terminal: Terminal, question: RegExp, ...keys: string[]): Promise<void> {
  await terminal.waitFor(question);
  await waitUntilArmed();
  await terminal.keys(...keys);
}

/** The messages of a request for an answer, without the standing text. */
export function requestMessages(request: RecordedRequest | undefined): readonly JsonObject[] {
  const { messages = [] } = (request?.body ?? {}) as { readonly messages?: readonly JsonObject[] };
  return messages.filter(({ role }) => role !== 'system');
}

/** The names of the tools a request offers. */
export function requestToolNames(request: RecordedRequest | undefined): readonly string[] {
  const { tools = [] } = (request?.body ?? {}) as { readonly tools?: readonly { function: { name: string } }[] };
  return tools.map((tool) => tool.function.name);
}

/** Whether a process is at work; one that has ended and is waited for by nobody is not. */
export function isProcessAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

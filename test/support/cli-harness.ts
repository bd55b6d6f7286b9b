// The real program in its own home with a scripted model server: run once in a pipe, or opened in a terminal.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { parseToolResult, type JsonObject } from '../../src/core/index.ts';
import {
  scriptedServer,
  type ListedModel,
  type RecordedRequest,
  type Script,
  type ScriptedServer,
  type ScriptedServerOptions,
} from '../../src/testing/index.ts';
import { runMain } from './main-run.ts';
import { waitUntilArmed } from './tui.ts';
import { bin, createProgramDirs, type ProgramDirs } from './program-dirs.ts';
import { openTerminal, type Terminal, type TerminalOptions } from './terminal.ts';

export { bin };

/** The result of a run of the program. */
export type ProgramResult = { readonly code: number | null; readonly out: string; readonly err: string };

/** The input and environment of a run. */
export type ProgramRunOptions = {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Another file to run instead of `bin`. */
  readonly file?: string;
};

/** A run that has not ended. */
export type RunningProgram = {
  readonly ended: Promise<ProgramResult>;
  /** The text written to standard output so far, and to standard error. */
  readonly out: () => string;
  readonly err: () => string;
  kill(signal: NodeJS.Signals): void;
  /** Closes its standard output, as `head` does. */
  closeStdout(): void;
};

/** The program, its directories and its server. */
export type TestProgram = ProgramDirs & {
  readonly server: ScriptedServer;
  /** The names of the session files. */
  sessions(): readonly string[];
  /** Returns the text of a session file. */
  session(name: string): string;
  /** Returns the requests for a model answer. */
  modelRequests(): readonly RecordedRequest[];
  /** Runs the program in a pipe to its end. */
  run(args: readonly string[], options?: ProgramRunOptions): Promise<ProgramResult>;
  /** Runs its main function in this process, for a command that another test starts as a program. */
  call(args: readonly string[], options?: Omit<ProgramRunOptions, 'file'>): Promise<ProgramResult>;
  start(args: readonly string[], options?: ProgramRunOptions): RunningProgram;
  /** Opens the program in a terminal. */
  open(args: readonly string[], options?: TerminalOptions): Promise<Terminal>;
  /** Saves the list of models and the last model, as an earlier start would have done. */
  seedModels(previous?: string): Promise<void>;
};

/** The default models of the server: one that can call tools and one that cannot. */
export const defaultModels: readonly ListedModel[] = [
  { id: 'qwen3', tools: true, context: 32_768 },
  { id: 'tiny', tools: false, context: 2048 },
];

/** Runs a command in a terminal. The shell prints the exit code, which tmux shows late or never, and waits so that nothing scrolls away. */
export const shellScript = '"$@"; echo "(left with $?)"; read _';

const maxRunMs = 30_000;

/** Prepares the program for a test. A provider is always configured: without one the program would search this machine. */
export async function createProgram(
  t: Pick<TestContext, 'after'>,
  script: Script<JsonObject> = ({ prompt }) => `You said: ${prompt}`,
  options: ScriptedServerOptions = {},
): Promise<TestProgram> {
  const server = await scriptedServer(script, { models: defaultModels, ...options });
  t.after(() => server.close());
  const dirs = createProgramDirs(t);
  const { cwd, data } = dirs;
  const env = { ...dirs.env, OLLAMA_API_URL: server.url };
  const start: TestProgram['start'] = (args, more = {}) =>
    startProcess([more.file ?? bin, ...args], { cwd: more.cwd ?? cwd, env: { ...env, ...more.env } }, more.input);
  const self: TestProgram = {
    ...dirs,
    env,
    server,
    sessions() {
      const dir = data('sessions');
      const files = existsSync(dir) ? readdirSync(dir) : [];
      return files.flatMap((file) => /^session_(.*)\.jsonl$/.exec(file)?.[1] ?? []).toSorted();
    },
    session: (name) => readFileSync(data('sessions', `session_${name}.jsonl`), 'utf8'),
    modelRequests: () => server.requests.filter(({ format }) => format !== undefined),
    run: (args, more) => start(args, more).ended,
    call: (args, more = {}) => runMain(args, { cwd, ...more, env: { ...env, ...more.env } }),
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

/** The list of the default models as the program wrote it, without its URL: later tests of a file reuse it. */
let defaultModelList: string | undefined;

async function seedModelList(program: TestProgram, isDefault: boolean): Promise<void> {
  const file = program.state('models.jsonl');
  if (isDefault && defaultModelList !== undefined) {
    mkdirSync(program.state(), { recursive: true, mode: 0o700 });
    return writeFileSync(file, defaultModelList.replaceAll('<address>', program.server.url));
  }
  // The function that the program calls for --refresh-models; test/profiles.test.ts starts the program with it.
  const { refreshModels } = await import('../../src/coding-agent/state/index.ts');
  const { state, data, config, env } = program;
  const dirs = { state: state(), data: data(), config: config(), cache: path.join(program.home, 'cache/fairlead') };
  await refreshModels(
    { dirs, env, provider: undefined, url: undefined },
    { endpoint: { provider: 'ollama' }, onWarning: assert.fail },
  );
  if (isDefault) defaultModelList = readFileSync(file, 'utf8').replaceAll(program.server.url, '<address>');
}

type ProcessOptions = { readonly cwd: string; readonly env: Readonly<Record<string, string>> };

/** Starts Node with these arguments in a pipe. */
export function startProcess(
  args: readonly string[],
  options: ProcessOptions,
  input: string | undefined,
): RunningProgram {
  const child = spawn(process.execPath, args, { ...options, stdio: ['pipe', 'pipe', 'pipe'] });
  const { promise: ended, resolve } = Promise.withResolvers<ProgramResult>();
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  // A program that needs no input may have ended before it is written.
  child.stdin.on('error', () => undefined).end(input);
  const timeout = setTimeout(() => {
    err += `\n(the test ended it after ${maxRunMs} ms)`;
    child.kill('SIGKILL');
  }, maxRunMs);
  child.on('close', (code) => {
    clearTimeout(timeout);
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

/** Waits until a condition holds; throws after a timeout. */
export async function waitUntil(description: string, holds: () => boolean, ms = 10_000): Promise<void> {
  for (const deadline = Date.now() + ms; !holds(); await pause(20))
    if (Date.now() > deadline) throw new Error(`${description}: not after ${ms} ms`);
}

/** Returns the exit code of the program in a terminal. */
export async function waitForExitCode(terminal: Terminal): Promise<number> {
  return Number(/\(left with (\d+)\)/.exec(await terminal.waitFor(/\(left with \d+\)/))?.[1]);
}

/** Waits for a question, and answers it with a key once it accepts keys. */
export async function answerPrompt(terminal: Terminal, question: RegExp, ...keys: string[]): Promise<void> {
  await terminal.waitFor(question);
  await waitUntilArmed();
  await terminal.keys(...keys);
}

/** Returns the messages of a model request, without the system prompt. */
export function requestMessages(request: RecordedRequest | undefined): readonly JsonObject[] {
  const { messages = [] } = (request?.body ?? {}) as { readonly messages?: readonly JsonObject[] };
  return messages.filter(({ role }) => role !== 'system').map(withoutTags);
}

/** Returns a message without the tags around text from outside, whose nonce differs from session to session. */
const withoutTags = (message: JsonObject): JsonObject =>
  message['role'] === 'tool' && typeof message['content'] === 'string'
    ? { ...message, content: parseToolResult(message['content']) }
    : message;

/** Returns the names of the tools in a request. */
export function requestToolNames(request: RecordedRequest | undefined): readonly string[] {
  const { tools = [] } = (request?.body ?? {}) as { readonly tools?: readonly { function: { name: string } }[] };
  return tools.map((tool) => tool.function.name);
}

/** Whether a process is running; a zombie is not. */
export function isProcessAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

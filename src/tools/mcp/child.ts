// An MCP server as a child process: in a group of its own that ends with the connection, without our secrets, its words bounded.
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { StringDecoder } from 'node:string_decoder';
import { parseJSONRPCMessage, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client';
import { FairleadError, errorMessage, escapeInvisibleLine } from '../../core/index.ts';
import { INSIDE_MCP_VARIABLE, type McpStdioConfig } from './server.ts';

/** What a server gets of our environment: enough to find programs and its home, and nothing that could be a key. */
const allowedVariables =
  'PATH HOME USER LOGNAME SHELL TERM LANG LC_ALL LC_CTYPE TZ TMPDIR SYSTEMROOT SYSTEMDRIVE COMSPEC PATHEXT APPDATA LOCALAPPDATA USERPROFILE PROGRAMFILES'.split(
    ' ',
  );
/** Bytes that one message may have. */
const maxMessageBytes = 16_000_000;
const maxStderrChars = 4000;
/** Milliseconds a server has to end by itself, and again after it was asked to. */
const graceMs = 200;

/** Groups that must not outlive this process, whatever ends it; one listener for all of them. */
const processGroups = new Set<number>();
process.on('exit', () => processGroups.forEach((pid) => signalGroup(pid, 'SIGKILL')));

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, signal);
  } catch {
    // All of it has ended.
  }
}

/** A transport over the standard input and output of a server that it starts. */
export class ChildTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Kept inside: what it said there is told by `getLastContent`. The library knows a local server by having this and `pid`. */
  readonly stderr: null = null;
  readonly #config: McpStdioConfig;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #ended: Promise<void>;
  readonly #end: () => void;
  #child: ChildProcessWithoutNullStreams | undefined;
  #stderrText = '';
  #line: Buffer[] = [];
  #bytes = 0;
  #closed = false;

  constructor(reach: McpStdioConfig, environment: NodeJS.ProcessEnv) {
    this.#config = reach;
    this.#environment = environment;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#ended = promise;
    this.#end = resolve;
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /** The end of what the server wrote to its standard error, on one line. */
  get lastStderr(): string {
    return escapeInvisibleLine(this.#stderrText.trim().slice(-300));
  }

  async start(): Promise<void> {
    const { command, args, env, cwd } = this.#config;
    const known = Object.entries(this.#environment).filter(([name]) => allowedVariables.includes(name.toUpperCase()));
    // A shell function in a variable is code: it has no business in the list above.
    const plain = known.filter(([, value]) => !value?.startsWith('()'));
    const child = spawn(command, args, {
      ...(cwd === undefined ? {} : { cwd }),
      env: { ...Object.fromEntries(plain), [INSIDE_MCP_VARIABLE]: '1', ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
    this.#child = child;
    if (child.pid !== undefined) processGroups.add(child.pid);
    const words = new StringDecoder('utf8');
    child.stderr.on(
      'data',
      (bytes: Buffer) => (this.#stderrText = (this.#stderrText + words.write(bytes)).slice(-maxStderrChars)),
    );
    child.stdout.on('data', (bytes: Buffer) => this.#receive(bytes));
    // A pipe that breaks is told by the exit.
    child.stdin.on('error', () => {});
    // What it wrote last is still in the pipe; what it left running would hold that open.
    child.on('close', () => this.#finish());
    child.on('exit', () => {
      this.#signal('SIGKILL');
      setTimeout(() => this.#finish(), graceMs).unref();
    });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', (cause) => {
        this.#finish();
        reject(
          new FairleadError('mcp/no-program', `The program ${escapeInvisibleLine(command)} could not be started.`, {
            blame: 'user',
            hint: 'Install it, or correct the command in the file that names the server.',
            cause,
          }),
        );
      });
    });
  }

  send(message: JSONRPCMessage): Promise<void> {
    const child = this.#child;
    if (child === undefined || this.#closed) return Promise.reject(new Error('The server is not running.'));
    return new Promise((resolve, reject) => {
      child.stdin.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()));
    });
  }

  /** Closes its input, asks it to end, and ends the whole group. */
  async close(): Promise<void> {
    const child = this.#child;
    if (child === undefined || this.#closed) return this.#finish();
    child.stdin.end();
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      const timer = setTimeout(() => this.#signal(signal), graceMs);
      await Promise.race([this.#ended, new Promise((resolve) => setTimeout(resolve, 2 * graceMs).unref())]);
      clearTimeout(timer);
      if (this.#closed) break;
    }
    await this.#ended;
  }

  #signal(signal: NodeJS.Signals): void {
    const pid = this.#child?.pid;
    if (pid !== undefined) signalGroup(pid, signal);
  }

  /** Everything is over, once. The group was ended with its first process: later its number may be somebody else's. */
  #finish(): void {
    if (this.#closed) return;
    this.#closed = true;
    processGroups.delete(this.#child?.pid ?? 0);
    this.#child?.stdout.destroy();
    this.#child?.stderr.destroy();
    this.#end();
    this.onclose?.();
  }

  #receive(bytes: Buffer): void {
    let rest = bytes;
    for (let at = rest.indexOf(10); at >= 0; at = rest.indexOf(10)) {
      const line = Buffer.concat([...this.#line, rest.subarray(0, at)]);
      this.#line = [];
      this.#bytes = 0;
      rest = rest.subarray(at + 1);
      this.#read(line.toString('utf8'));
    }
    if (rest.length === 0) return;
    this.#line.push(rest);
    this.#bytes += rest.length;
    if (this.#bytes <= maxMessageBytes) return;
    this.onerror?.(new Error(`The server sent more than ${maxMessageBytes} bytes in one message.`));
    this.#signal('SIGKILL');
    this.#finish();
  }

  /** What is no message is passed over: some servers print a greeting. */
  #read(line: string): void {
    if (line.trim() === '' || this.#closed) return;
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(JSON.parse(line));
    } catch (error) {
      this.onerror?.(new Error(`The server wrote something that is no message: ${errorMessage(error)}`));
      return;
    }
    this.onmessage?.(message);
  }
}

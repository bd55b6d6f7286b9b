// An MCP server as a child process: in its own process group, which is killed with the connection, without secrets in its environment, with bounded messages.
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { StringDecoder } from 'node:string_decoder';
import { parseJSONRPCMessage, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client';
import { FairleadError, errorMessage, escapeInvisibleLine } from '../../core/index.ts';
import { INSIDE_MCP_VARIABLE, type McpStdioConfig } from './server.ts';

/** Variables that a server receives: enough to find programs and its home, and none that could hold a key. */
const allowedVariables =
  'PATH HOME USER LOGNAME SHELL TERM LANG LC_ALL LC_CTYPE TZ TMPDIR SYSTEMROOT SYSTEMDRIVE COMSPEC PATHEXT APPDATA LOCALAPPDATA USERPROFILE PROGRAMFILES'.split(
    ' ',
  );
/** Variables that name the certificates of the network of a company. */
const certificateVariables: ReadonlySet<string> = new Set(
  'NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR NPM_CONFIG_CAFILE'.split(' '),
);
/** Variables with addresses of that network. An `@` may follow a password, also in a list or where a password has a slash: a server gets such an address only if its own settings name it. */
const addressVariables: ReadonlySet<string> = new Set(
  'HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY NPM_CONFIG_REGISTRY NPM_CONFIG_PROXY NPM_CONFIG_HTTPS_PROXY NPM_CONFIG_NOPROXY'.split(
    ' ',
  ),
);

/** Whether a server receives a variable. */
function isReceived(name: string, value: string): boolean {
  const upper = name.toUpperCase();
  return (
    allowedVariables.includes(upper) ||
    certificateVariables.has(upper) ||
    (addressVariables.has(upper) && !value.includes('@'))
  );
}

/** Max bytes of one message. */
const maxMessageBytes = 16_000_000;
const maxStderrChars = 4000;
/** Milliseconds for a server to exit by itself, and again after SIGTERM. */
const graceMs = 200;

/** Process groups that are killed when this process exits; one listener for all. */
const processGroups = new Set<number>();
process.on('exit', () => processGroups.forEach((pid) => signalGroup(pid, 'SIGKILL')));

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, signal);
  } catch {
    // All its processes have exited.
  }
}

/** A transport over stdin and stdout of a server that it starts. */
export class ChildTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Not exposed: `lastStderr` returns its end. The library recognizes a local server by this member and `pid`. */
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

  /** The end of what the server wrote to stderr, on one line. */
  get lastStderr(): string {
    return escapeInvisibleLine(this.#stderrText.trim().slice(-300));
  }

  async start(): Promise<void> {
    const { command, args, env, cwd } = this.#config;
    const known = Object.entries(this.#environment).filter(([name, value = '']) => isReceived(name, value));
    // A shell function in a variable is code.
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
    // A broken pipe is reported by the exit.
    child.stdin.on('error', () => {});
    // The last output is still in the pipe; child processes of the server could keep it open.
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
            hint: 'Install it, or correct the command in the file that configures the server.',
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

  /** Closes its stdin, then terminates and kills the group. */
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

  /** Finishes once. The group is killed with its first process: later its number may belong to another group. */
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

  /** Lines that are not messages are ignored: some servers print a banner. */
  #read(line: string): void {
    if (line.trim() === '' || this.#closed) return;
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(JSON.parse(line));
    } catch (error) {
      this.onerror?.(new Error(`The server wrote something that is not a message: ${errorMessage(error)}`));
      return;
    }
    this.onmessage?.(message);
  }
}

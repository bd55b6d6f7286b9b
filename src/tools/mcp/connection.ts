// A connection to one server: made when needed, made again after it broke, and not too often where it keeps breaking.
import {
  Client,
  SdkError,
  SdkErrorCode,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  UnauthorizedError,
  type ServerCapabilities,
  type Tool as Listed,
  type Transport,
} from '@modelcontextprotocol/client';
import manifest from '../../../package.json' with { type: 'json' };
import { FairleadError, messageOf, unlessAborted, visibleLine } from '../../core/index.ts';
import { ChildTransport } from './child.ts';
import type { SignIn } from './oauth.ts';
import { answerRequests, capabilitiesFor, type Answerers, type SampleCount } from './requests.ts';
import { filledIn, type McpServer } from './server.ts';
import { transportTo } from './transport.ts';

/** What a connection is made with. */
export type ConnectionOptions = {
  readonly answerers: Answerers;
  readonly environment: NodeJS.ProcessEnv;
  /** Milliseconds a server has to start and to introduce itself. */
  readonly startMs: number;
  /** Logs in to a remote server that asks for it. */
  readonly signIn?: SignIn;
  /** The server says that its tools are others now. */
  readonly onToolsChanged: (tools: readonly Listed[]) => void;
};

/** A server that can be spoken to. */
export type Connection = {
  readonly server: McpServer;
  /** A connected client; throws a sentence where there is none to be had now. */
  client(signal: AbortSignal): Promise<Client>;
  /** A call came through: what failed before is forgotten. */
  worked(): void;
  /** This client is of no use any more. */
  drop(client: Client): Promise<void>;
  /** Ends a login that the server asked for, by waiting for the person; false where none was under way. */
  login(signal: AbortSignal): Promise<boolean>;
  /** What the server says that it has, while there is a connection. */
  offers(): ServerCapabilities | undefined;
  /** The version of the protocol that is spoken, while there is a connection. */
  protocol(): string | undefined;
  /** The process of a local server. */
  pid(): number | undefined;
  close(): Promise<void>;
};

type Live = { readonly client: Client; readonly transport: Transport };

const firstWait = 500;
const longestWait = 30_000;
/** A local server that does not know the newest way to begin may say nothing at all to it. */
const probeMs = 3000;

/** A connection to this server, not made yet. */
export function connectionTo(server: McpServer, options: ConnectionOptions): Connection {
  const samples: SampleCount = { used: 0 };
  let live: Live | undefined;
  let opening: Promise<Live> | undefined;
  let failures = 0;
  let notBefore = 0;
  let closed = false;
  let lastTransport: Transport | undefined;

  const forget = (gone: Client): void => {
    if (live?.client === gone) live = undefined;
  };

  async function open(): Promise<Live> {
    const wait = notBefore - Date.now();
    if (wait > 0) throw failed(server, `it failed ${failures} times; the next try is in ${Math.ceil(wait / 1000)} s`);
    failures++;
    notBefore = Date.now() + Math.min(firstWait * 2 ** (failures - 1), longestWait);
    const made = await begin(server, options, samples, forget, (transport) => (lastTransport = transport));
    if (!closed) return (live = made);
    await made.client.close();
    throw failed(server, 'it was closed');
  }

  async function reopen(signal: AbortSignal): Promise<Live> {
    try {
      return await open();
    } catch (error) {
      if (UnauthorizedError.isInstance(error) && (await login(signal))) return open();
      throw error;
    }
  }

  async function login(signal: AbortSignal): Promise<boolean> {
    const { signIn } = options;
    if (!signIn?.pending() || !isRemote(lastTransport)) return false;
    await lastTransport.finishAuth(await signIn.arrival(signal));
    failures = 0;
    notBefore = 0;
    return true;
  }

  return {
    server,
    async client(signal) {
      if (closed) throw failed(server, 'it was closed');
      if (live) return live.client;
      opening ??= reopen(signal).finally(() => (opening = undefined));
      const attempt = opening;
      return (await unlessAborted(signal, () => attempt)).client;
    },
    worked() {
      failures = 0;
      notBefore = 0;
    },
    async drop(client) {
      forget(client);
      await client.close().catch(() => {});
    },
    login,
    offers: () => live?.client.getServerCapabilities(),
    protocol: () => live?.client.getNegotiatedProtocolVersion(),
    pid: () => (live?.transport instanceof ChildTransport ? (live.transport.pid ?? undefined) : undefined),
    async close() {
      closed = true;
      const last = live ?? (await opening?.catch(() => undefined));
      live = undefined;
      options.signIn?.close();
      if (last?.transport instanceof StreamableHTTPClientTransport)
        await Promise.race([last.transport.terminateSession().catch(() => {}), pause(1000)]);
      await last?.client.close().catch(() => {});
    },
  };
}

/** Begins to talk in the newest way that both know. A server that breaks off at that is asked again in the old way. */
async function begin(
  server: McpServer,
  options: ConnectionOptions,
  samples: SampleCount,
  onEnd: (client: Client) => void,
  onTransport: (transport: Transport) => void,
): Promise<Live> {
  const { answerers, environment, startMs, onToolsChanged, signIn } = options;
  const deadline = Date.now() + startMs;
  const reach = filledIn(server.reach, environment, server.name);
  const attempt = async (old: boolean): Promise<Live> => {
    const client: Client = new Client(identity, {
      capabilities: capabilitiesFor(answerers),
      versionNegotiation: { mode: 'auto', probe: { timeoutMs: Math.min(probeMs, startMs / 2) } },
      // A server's own schemas are not followed here: a pattern in them may be one that never ends.
      jsonSchemaValidator: {
        getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
      },
      listChanged: { tools: { onChanged: (error, tools) => !error && tools && onToolsChanged(tools) } },
    });
    answerRequests(client, server.name, answerers, samples);
    const transport = await transportTo(reach, environment, await signIn?.provider());
    onTransport(transport);
    Object.assign(client, { onclose: () => onEnd(client) });
    try {
      const timeout = Math.max(deadline - Date.now(), 1);
      await client.connect(transport, { timeout, ...(old ? { prior: { kind: 'legacy' } } : {}) });
      return { client, transport };
    } catch (error) {
      await transport.close().catch(() => {});
      if (!old && isUnsettled(error) && Date.now() < deadline) return attempt(true);
      throw reasonFor(server, error, transport);
    }
  };
  return attempt(false);
}

const identity = { name: 'fairlead', title: 'Fairlead', version: manifest.version };

const isUnsettled = (error: unknown): boolean =>
  SdkError.isInstance(error) &&
  [SdkErrorCode.EraNegotiationFailed, SdkErrorCode.RequestTimeout, SdkErrorCode.ConnectionClosed].includes(error.code);

const isRemote = (transport: unknown): transport is StreamableHTTPClientTransport | SSEClientTransport =>
  transport instanceof StreamableHTTPClientTransport || transport instanceof SSEClientTransport;

function reasonFor(server: McpServer, error: unknown, transport: Transport): Error {
  if (UnauthorizedError.isInstance(error) || error instanceof FairleadError) return error;
  const words = transport instanceof ChildTransport ? transport.lastWords : '';
  return failed(server, `${visibleLine(messageOf(error))}${words === '' ? '' : ` (it said: ${words})`}`, error);
}

/** The error for a server that cannot be spoken to. */
export const failed = (server: McpServer, why: string, cause?: unknown): FairleadError =>
  new FairleadError('mcp/unreachable', `The MCP server ${visibleLine(server.name)} cannot be reached: ${why}.`, {
    blame: 'tool',
    ...(cause === undefined ? {} : { cause }),
  });

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });

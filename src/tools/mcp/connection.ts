// A connection to one server: made when needed, made again after it broke, and not too often where it keeps breaking.
import {
  SSEClientTransport,
  StreamableHTTPClientTransport,
  UnauthorizedError,
  type Client,
  type ServerCapabilities,
  type Transport,
} from '@modelcontextprotocol/client';
import { raceAbort, type UsageTotals } from '../../core/index.ts';
import { ChildTransport } from './child.ts';
import { failed, handshake, type HandshakeOptions, type Live } from './handshake.ts';
import type { RequestCount } from './requests.ts';
import type { McpServer } from './server.ts';

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
  /** Whether the server waits for an answer of ours: that time is not its own. */
  isAsking(): boolean;
  /** What the server says that it has, while there is a connection. */
  offers(): ServerCapabilities | undefined;
  /** The version of the protocol that is spoken, while there is a connection. */
  protocol(): string | undefined;
  /** What answers of a model for this server have used up since this was last asked. */
  spent(): UsageTotals | undefined;
  /** The process of a local server. */
  pid(): number | undefined;
  close(): Promise<void>;
};

const firstWait = 500;
const longestWait = 30_000;

/** A connection to this server, not made yet. */
export function connectionTo(server: McpServer, options: HandshakeOptions): Connection {
  const count: RequestCount = { asking: 0, samples: 0 };
  const ending = new AbortController();
  let live: Live | undefined;
  let opening: Promise<Live> | undefined;
  let failures = 0;
  let notBefore = 0;
  let lastTransport: Transport | undefined;

  const holdOff = (): void => {
    notBefore = failures === 0 ? 0 : Date.now() + Math.min(firstWait * 2 ** (failures - 1), longestWait);
  };
  // A server that starts well and falls over before any call came through is no better than one that does not start.
  const forget = (gone: Client): void => {
    if (live?.client !== gone) return;
    live = undefined;
    holdOff();
  };

  async function open(): Promise<Live> {
    const wait = notBefore - Date.now();
    if (wait > 0) throw failed(server, `it failed; the next try is in ${Math.ceil(wait / 1000)} s`);
    failures++;
    try {
      live = await handshake(server, options, {
        count,
        signal: ending.signal,
        onEnd: forget,
        onTransport: (transport) => (lastTransport = transport),
      });
      return live;
    } catch (error) {
      holdOff();
      throw error;
    }
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
      if (ending.signal.aborted) throw failed(server, 'it was closed');
      signal.throwIfAborted();
      if (live) return live.client;
      opening ??= reopen(signal).finally(() => (opening = undefined));
      const attempt = opening;
      return (await raceAbort(signal, () => attempt)).client;
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
    isAsking: () => count.asking > 0,
    offers: () => live?.client.getServerCapabilities(),
    protocol: () => live?.client.getNegotiatedProtocolVersion(),
    spent() {
      const { spent } = count;
      delete count.spent;
      return spent;
    },
    pid: () => (live?.transport instanceof ChildTransport ? (live.transport.pid ?? undefined) : undefined),
    async close() {
      ending.abort();
      // One that has not said a word yet would be waited for.
      if (!live) await lastTransport?.close().catch(() => {});
      const last = live ?? (await opening?.catch(() => undefined));
      live = undefined;
      options.signIn?.close();
      if (last?.transport instanceof StreamableHTTPClientTransport)
        await Promise.race([last.transport.terminateSession().catch(() => {}), pause(1000)]);
      await last?.client.close().catch(() => {});
    },
  };
}

const isRemote = (transport: unknown): transport is StreamableHTTPClientTransport | SSEClientTransport =>
  transport instanceof StreamableHTTPClientTransport || transport instanceof SSEClientTransport;

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });

// Connection that listens for PostgreSQL notifications, and reconnects when it is lost.
import type { Client } from 'pg';
import { endClient } from './close-connections.ts';

/** A listening connection. */
export type NotificationListener = { close(): Promise<void> };

const maxReconnectMs = 1000;

/** The handler of each channel. The payload is undefined if notifications may have been missed. */
export type ChannelHandlers = ReadonlyMap<string, (payload: string | undefined) => void>;

/** Starts to listen at a URL; without one nothing is received, and waits end by their timeouts. */
export function startListener(
  findUrl: () => Promise<string | undefined>,
  channels: ChannelHandlers,
): NotificationListener {
  let client: Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  let delay = 50;

  async function connect(): Promise<void> {
    const { default: pg } = await import('pg');
    const url = await findUrl().catch(() => null);
    if (closed || url === undefined) return;
    if (url === null) return connectLater();
    const own = new pg.Client({
      connectionString: url,
      application_name: 'fairlead listener',
      connectionTimeoutMillis: 5000,
      query_timeout: 5000,
      keepAlive: true,
    });
    client = own;
    let isClosing = false;
    const reconnect = (): void => {
      if (isClosing) return;
      isClosing = true;
      void endClient(own);
      connectLater();
    };
    own.on('error', reconnect);
    own.on('end', reconnect);
    own.on('notification', ({ channel, payload = '' }) => channels.get(channel)?.(payload));
    try {
      await own.connect();
      await own.query([...channels.keys()].map((channel) => `LISTEN ${channel}`).join('; '));
      delay = 50;
      for (const handle of channels.values()) handle(undefined);
    } catch {
      reconnect();
    }
  }

  function connectLater(): void {
    if (closed) return;
    timer = setTimeout(() => void connect(), delay);
    delay = Math.min(maxReconnectMs, delay * 2);
  }

  void connect();
  return {
    async close() {
      closed = true;
      clearTimeout(timer);
      if (client) await endClient(client);
    },
  };
}

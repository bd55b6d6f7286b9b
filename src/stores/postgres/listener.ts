// One connection that hears what other processes tell, and comes back when it was lost.
import type { Client } from 'pg';
import { endClient } from './timeouts.ts';

/** A connection that listens. */
export type NotificationListener = { close(): Promise<void> };

const maxReconnectMs = 1000;

/** What is done with what is told on each channel; nothing is told where something may have been missed. */
export type ChannelHandlers = ReadonlyMap<string, (payload: string | undefined) => void>;

/** Listens until it is closed. */
export function startListener(url: string, channels: ChannelHandlers): NotificationListener {
  let client: Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  let wait = 50;

  async function connect(): Promise<void> {
    const { default: pg } = await import('pg');
    if (closed) return;
    const mine = new pg.Client({
      connectionString: url,
      application_name: 'fairlead ear',
      connectionTimeoutMillis: 5000,
      query_timeout: 5000,
      keepAlive: true,
    });
    client = mine;
    let over = false;
    const again = (): void => {
      if (over) return;
      over = true;
      void endClient(mine);
      if (closed) return;
      timer = setTimeout(() => void connect(), wait);
      wait = Math.min(maxReconnectMs, wait * 2);
    };
    mine.on('error', again);
    mine.on('end', again);
    mine.on('notification', ({ channel, payload = '' }) => channels.get(channel)?.(payload));
    try {
      await mine.connect();
      await mine.query([...channels.keys()].map((channel) => `LISTEN ${channel}`).join('; '));
      wait = 50;
      for (const heard of channels.values()) heard(undefined);
    } catch {
      again();
    }
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

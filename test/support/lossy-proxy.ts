// A TCP proxy that can drop a reply: the request is executed, and the client gets no reply.
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

/** The proxy. */
export type LossyProxy = {
  /** The URL of the server through the proxy. */
  readonly url: string;
  /** Drops the reply to a request that contains a text, and every connection, until `restore`; settles once it is dropped. */
  dropResponse(text: string): Promise<void>;
  /** Stops forwarding without closing connections, like an unplugged cable. */
  blackhole(): void;
  restore(): void;
};

/** Starts a proxy to a server; it ends with the test. */
export async function startLossyProxy(t: TestContext, to: string): Promise<LossyProxy> {
  const { hostname, port } = new URL(to);
  const sockets = new Set<Socket>();
  let losing: { readonly words: string; readonly lost: () => void } | undefined;
  let isDown = false;
  let isBlackholed = false;
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  const server = createServer((client) => {
    if (isDown) return void client.destroy();
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) sockets.add(socket.on('error', () => {}));
    let isMatch = false;
    client.on('data', (request) => {
      isMatch ||= losing !== undefined && request.includes(losing.words);
      if (!isBlackholed) upstream.write(request);
    });
    upstream.on('data', (reply) => {
      if (isBlackholed) return;
      if (!isMatch) return void client.write(reply);
      isDown = true;
      cut();
      losing?.lost();
      losing = undefined;
    });
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => void (isBlackholed || client.destroy()));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    cut();
    server.close();
  });
  const url = new URL(to);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    dropResponse: (text) => new Promise((lost) => (losing = { words: text, lost })),
    blackhole: () => (isBlackholed = true),
    restore: () => (isDown = false),
  };
}

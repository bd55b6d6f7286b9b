// A line to a server that can lose an answer: what was asked for is done, and nobody hears of it.
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

/** The line. */
export type LossyProxy = {
  /** The server's address by way of this line. */
  readonly url: string;
  /** Loses the answer to a question with these words, and with it every connection, until it is mended; settles once it is lost. */
  dropResponse(words: string): Promise<void>;
  /** Carries nothing any more, and says nothing of it: as a cable that was pulled. */
  blackhole(): void;
  restore(): void;
};

/** Lays a line to a server; it ends with the test. */
export async function startLossyProxy(t: TestContext, to: string): Promise<LossyProxy> {
  const { hostname, port } = new URL(to);
  const ends = new Set<Socket>();
  let losing: { readonly words: string; readonly lost: () => void } | undefined;
  let down = false;
  let dead = false;
  const cut = (): void => {
    for (const end of ends) end.destroy();
    ends.clear();
  };
  const server = createServer((near) => {
    if (down) return void near.destroy();
    const far = connect(Number(port), hostname);
    for (const end of [near, far]) ends.add(end.on('error', () => {}));
    let asked = false;
    near.on('data', (question) => {
      asked ||= losing !== undefined && question.includes(losing.words);
      if (!dead) far.write(question);
    });
    far.on('data', (answer) => {
      if (dead) return;
      if (!asked) return void near.write(answer);
      down = true;
      cut();
      losing?.lost();
      losing = undefined;
    });
    near.on('close', () => far.destroy());
    far.on('close', () => void (dead || near.destroy()));
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
    dropResponse: (words) => new Promise((lost) => (losing = { words, lost })),
    blackhole: () => (dead = true),
    restore: () => (down = false),
  };
}

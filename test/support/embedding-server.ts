// A server with embeddings for tests: Ollama's /api/embed and OpenAI's /v1/embeddings. Words of one concept have one dimension, so that synonyms are near.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

/** Concepts and their words; each is one dimension. */
const concepts: readonly (readonly string[])[] = [
  ['car', 'cars', 'automobile', 'automobiles', 'vehicle'],
  ['doctor', 'physician', 'surgeon'],
  ['repair', 'mend', 'fix', 'repairs'],
  ['holiday', 'vacation', 'leave'],
  ['boat', 'ship', 'vessel'],
  ['money', 'salary', 'wage', 'pay'],
];

/** The vector of a text: how often it names each concept, and a small constant that every text has. */
export function conceptVector(text: string): readonly number[] {
  const words = text.toLowerCase().match(/[a-z]+/g) ?? [];
  return [...concepts.map((names) => words.filter((word) => names.includes(word)).length), 0.1];
}

/** A running server, and the requests it received. */
export type EmbeddingServer = {
  readonly url: string;
  readonly requests: {
    readonly path: string;
    readonly authorization: string | undefined;
    readonly texts: readonly string[];
  }[];
  /** Replaces the next replies: a status and a body each. */
  readonly failures: { readonly status: number; readonly body: unknown }[];
};

/** Starts the server; it is closed with the test. */
export async function startEmbeddingServer(t: Pick<TestContext, 'after'>): Promise<EmbeddingServer> {
  const requests: EmbeddingServer['requests'] = [];
  const failures: EmbeddingServer['failures'] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { input = [] } = JSON.parse(Buffer.concat(chunks).toString('utf8') || '{}') as {
        readonly input?: readonly string[];
      };
      requests.push({ path: request.url ?? '', authorization: request.headers.authorization, texts: input });
      const failure = failures.shift();
      const vectors = input.map(conceptVector);
      const body =
        request.url === '/api/embed'
          ? { embeddings: vectors }
          : { data: vectors.map((embedding, index) => ({ index, embedding })).toReversed() };
      response.writeHead(failure?.status ?? 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(failure?.body ?? body));
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, failures };
}

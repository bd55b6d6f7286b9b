// A model server on loopback that says what its script says, in whatever dialect it is asked.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSocketServer, type AddressInfo, type Server } from 'node:net';
import { FairleadError, isObject, toFailure, type Json, type JsonObject } from '../core/index.ts';
import { deliver, type Reply } from './delivery.ts';
import { askedOf, dialectOf, modelIn, speakers, wantsStream } from './dialect.ts';
import { fullFailure } from './failure.ts';
import { assertLegal } from './legality/legal.ts';
import { list } from './listings.ts';
import type { ListedModel, ListingStyle } from './listings/model.ts';
import { plan } from './plan.ts';
import { guardHeaders, guardQuery, type RequestOutcome, type RecordedRequest } from './recording.ts';
import type { Dialect } from './replies/reply.ts';
import { answerTo, type Script } from './script.ts';

/** How a scripted server behaves apart from its script. */
export type ScriptedServerOptions = {
  /** Refuse requests that the real service would refuse; on unless it is `false`. */
  readonly legal?: boolean;
  /** Keep requests; on unless it is `false`, which a benchmark wants. */
  readonly record?: boolean;
  /** The models in the listings. */
  readonly models?: readonly ListedModel[];
  /** Whose fields the listings under `/v1/models` and `/api/v1/models` have. */
  readonly style?: ListingStyle;
  /** The name under which chat completions show reasoning. */
  readonly reasoningField?: 'reasoning' | 'reasoning_content';
  /** Refuse requests that do not bring this key. */
  readonly key?: string;
  readonly port?: number;
};

/** A scripted server while it runs. */
export type ScriptedServer = AsyncDisposable & {
  /** `http://127.0.0.1:<port>`: add `/v1` for OpenAI and Anthropic, `/v1beta` for Google, nothing for Ollama. */
  readonly url: string;
  readonly port: number;
  /** Every request so far, in the order of arrival. */
  readonly requests: readonly RecordedRequest[];
  /** Follows another script from now on, counting from 0 again. */
  follow(script: Script<JsonObject>): void;
  /** Forgets the requests so far. */
  forget(): void;
  /** Cuts every connection and stops. */
  close(): Promise<void>;
};

/** Starts a server that answers by a script, in every dialect. */
export async function scriptedServer(
  first: Script<JsonObject>,
  options: ScriptedServerOptions = {},
): Promise<ScriptedServer> {
  const requests: RecordedRequest[] = [];
  const started = performance.now();
  let script = first;
  let index = 0;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const at = performance.now() - started;
    const raw = await bodyOf(request);
    const { path, query } = splitUrl(request.url ?? '/');
    const body = parsed(raw);
    const dialect = request.method === 'POST' ? dialectOf(path) : undefined;
    const outcome: RequestOutcome = { whole: false, abandoned: false };
    if (options.record !== false) {
      const headers = guardHeaders(request.headers);
      requests.push({
        method: request.method ?? '',
        path,
        query: guardQuery(query),
        headers,
        raw,
        body,
        dialect,
        at,
        outcome,
      });
    }
    const gone = new AbortController();
    let done = false;
    response.on('close', () => {
      outcome.abandoned = !done;
      gone.abort();
    });
    const reply = await replyTo({ request, path, query, body, dialect });
    outcome.status = reply.status;
    outcome.whole = await deliver(reply, response, gone.signal);
    done = true;
  }

  async function replyTo(asked: Arrived): Promise<Reply> {
    const { request, path, query, body, dialect } = asked;
    const refused = options.key !== undefined && !bringsKey(request, query, options.key);
    if (dialect && refused) return refusal(dialect, 401, 'The API key is not valid.');
    if (!dialect) {
      const anthropic = request.headers['anthropic-version'] !== undefined;
      const models = options.models ?? [{ id: 'scripted', context: 32_768, tools: true }];
      const method = request.method ?? '';
      const listing = list({ method, path, anthropic, body }, models, options.style ?? 'openai');
      if (refused) return json(401, JSON.stringify({ error: { message: 'The API key is not valid.' } }));
      return listing
        ? json(listing.status, listing.body)
        : json(404, `{"error":{"message":"There is nothing at ${path}."}}`);
    }
    if (!isObject(body)) return refusal(dialect, 400, 'The body is not a JSON object.');
    const known: JsonObject = body;
    try {
      if (options.legal !== false) assertLegal(dialect, known, modelIn(path));
      const answer = await answerTo(script, askedOf(dialect, path, known, index++));
      const occasion = {
        index: index - 1,
        body: known,
        reasoningField: options.reasoningField ?? 'reasoning_content',
        asArray: dialect === 'google' && !/[?&]alt=sse/.test(query),
      } as const;
      return plan(answer, speakers[dialect], occasion, wantsStream(dialect, path, known));
    } catch (error) {
      return refusal(dialect, 400, toFailure(error).message);
    }
  }

  const server = createServer({ keepAliveTimeout: 0, requestTimeout: 0 }, (request, response) => {
    handle(request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  const port = await listening(server, options.port ?? 0);
  const close = async (): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    server.close(() => resolve());
    server.closeAllConnections();
    await promise;
  };
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    follow(next) {
      script = next;
      index = 0;
    },
    forget: () => void (requests.length = 0),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The address of a server that is not there: connecting to it is refused. */
export async function closedUrl(): Promise<string> {
  const server = createSocketServer();
  const port = await listening(server, 0);
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  await promise;
  return `http://127.0.0.1:${port}`;
}

type Arrived = {
  readonly request: IncomingMessage;
  readonly path: string;
  readonly query: string;
  readonly body: Json | undefined;
  readonly dialect: Dialect | undefined;
};

function listening(server: Server, port: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  server.once('error', (cause: Error) =>
    reject(
      new FairleadError('testing/no-port', `The scripted server cannot listen on port ${port}: ${cause.message}.`, {
        blame: 'user',
        hint: 'Leave the port out, and the system gives a free one.',
        cause,
      }),
    ),
  );
  server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  return promise;
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
}

function parsed(raw: Buffer): Json | undefined {
  if (raw.length === 0) return undefined;
  try {
    return JSON.parse(raw.toString()) as Json;
  } catch {
    return undefined;
  }
}

function splitUrl(url: string): { readonly path: string; readonly query: string } {
  const at = url.indexOf('?');
  return at < 0 ? { path: url, query: '' } : { path: url.slice(0, at), query: url.slice(at) };
}

const json = (status: number, body: string): Reply => ({
  status,
  headers: { 'content-type': 'application/json' },
  parts: [body],
  ending: 'end',
});

const refusal = (dialect: Dialect, status: number, message: string): Reply => ({
  ...json(status, speakers[dialect].failure(fullFailure({ status, message }))),
});

function bringsKey({ headers }: IncomingMessage, query: string, key: string): boolean {
  const { authorization, 'x-api-key': anthropic, 'x-goog-api-key': google } = headers;
  return authorization === `Bearer ${key}` || anthropic === key || google === key || query.includes(`key=${key}`);
}

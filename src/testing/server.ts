// A model server on loopback that answers by a script, in every wire format.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSocketServer, type AddressInfo, type Server } from 'node:net';
import { FairleadError, isObject, toFailure, type Json, type JsonObject } from '../core/index.ts';
import { sendResponse, type OutgoingResponse } from './send-response.ts';
import { wireFormatOfPath, type WireFormatName, parseGoogleModel } from '../wire/index.ts';
import { parseScriptRequest, responseWriters, wantsStream } from './parse-request.ts';
import { resolveFailure } from './failure.ts';
import { assertValidRequestBody } from './request-validation/validate.ts';
import { getModelListing } from './model-listings.ts';
import type { ListedModel, ListingStyle } from './model-listings/model.ts';
import { buildResponse } from './build-response.ts';
import { redactHeaders, redactQuery, type RequestOutcome, type RecordedRequest } from './recording.ts';
import { nextResponse, type Script } from './script.ts';

/** The options of a scripted server. */
export type ScriptedServerOptions = {
  /** Refuse requests that the real service would refuse; true by default. */
  readonly validate?: boolean;
  /** Record requests; true by default; a benchmark sets `false`. */
  readonly record?: boolean;
  /** The models in the listings. */
  readonly models?: readonly ListedModel[];
  /** The service whose fields the listings under `/v1/models` and `/api/v1/models` have. */
  readonly listingStyle?: ListingStyle;
  /** The field in which chat completions return reasoning. */
  readonly reasoningField?: 'reasoning' | 'reasoning_content';
  /** Refuse requests without this key. */
  readonly key?: string;
  /** The port; a free one by default. */
  readonly port?: number;
};

/** A running scripted server. */
export type ScriptedServer = AsyncDisposable & {
  /** `http://127.0.0.1:<port>`: add `/v1` for OpenAI and Anthropic, `/v1beta` for Google, nothing for Ollama. */
  readonly url: string;
  readonly port: number;
  /** Every request so far, in the order of arrival. */
  readonly requests: readonly RecordedRequest[];
  /** Replaces the script and resets the index to 0. */
  setScript(script: Script<JsonObject>): void;
  /** Clears the recorded requests. */
  clearRequests(): void;
  /** Closes every connection and stops. */
  close(): Promise<void>;
};

/** Starts a server that answers by a script, in every wire format. */
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
    const raw = await readRequestBody(request);
    const { path, query } = splitUrl(request.url ?? '/');
    const body = tryParseJson(raw);
    const dialect = request.method === 'POST' ? wireFormatOfPath(path) : undefined;
    const outcome: RequestOutcome = { complete: false, abandoned: false };
    if (options.record !== false) {
      const headers = redactHeaders(request.headers);
      requests.push({
        method: request.method ?? '',
        path,
        query: redactQuery(query),
        headers,
        raw,
        body,
        format: dialect,
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
    const reply = await replyTo({ request, path, query, body, format: dialect });
    outcome.status = reply.status;
    outcome.complete = await sendResponse(reply, response, gone.signal);
    done = true;
  }

  async function replyTo(asked: ArrivedRequest): Promise<OutgoingResponse> {
    const { request, path, query, body, format } = asked;
    const refused = options.key !== undefined && !hasApiKey(request, query, options.key);
    if (format && refused) return errorResponse(format, 401, 'The API key is not valid.');
    if (!format) {
      const anthropic = request.headers['anthropic-version'] !== undefined;
      const models = options.models ?? [{ id: 'scripted', context: 32_768, tools: true }];
      const method = request.method ?? '';
      const listing = getModelListing({ method, path, anthropic, body }, models, options.listingStyle ?? 'openai');
      if (refused) return jsonResponse(401, JSON.stringify({ error: { message: 'The API key is not valid.' } }));
      return listing
        ? jsonResponse(listing.status, listing.body)
        : jsonResponse(404, `{"error":{"message":"Unknown path ${path}."}}`);
    }
    if (!isObject(body)) return errorResponse(format, 400, 'The body is not a JSON object.');
    const known: JsonObject = body;
    try {
      if (options.validate !== false) assertValidRequestBody(format, known, parseGoogleModel(path));
      const answer = await nextResponse(script, parseScriptRequest(format, path, known, index++));
      const occasion = {
        index: index - 1,
        body: known,
        reasoningField: options.reasoningField ?? 'reasoning_content',
        asArray: format === 'google' && !/[?&]alt=sse/.test(query),
      } as const;
      return buildResponse(answer, responseWriters[format], occasion, wantsStream(format, path, known));
    } catch (error) {
      return errorResponse(format, 400, toFailure(error).message);
    }
  }

  const server = createServer({ keepAliveTimeout: 0, requestTimeout: 0 }, (request, response) => {
    handle(request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  const port = await listenOnPort(server, options.port ?? 0);
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
    setScript(next) {
      script = next;
      index = 0;
    },
    clearRequests: () => void (requests.length = 0),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Returns the address of a port without a listener: connections to it are refused. */
export async function closedUrl(): Promise<string> {
  const server = createSocketServer();
  const port = await listenOnPort(server, 0);
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  await promise;
  return `http://127.0.0.1:${port}`;
}

type ArrivedRequest = {
  readonly request: IncomingMessage;
  readonly path: string;
  readonly query: string;
  readonly body: Json | undefined;
  readonly format: WireFormatName | undefined;
};

function listenOnPort(server: Server, port: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  server.on('error', (cause: Error) =>
    reject(
      new FairleadError('testing/no-port', `The scripted server cannot listen on port ${port}: ${cause.message}.`, {
        blame: 'user',
        hint: 'Omit the port, and the system assigns a free one.',
        cause,
      }),
    ),
  );
  server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  return promise;
}

async function readRequestBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
}

function tryParseJson(raw: Buffer): Json | undefined {
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

const jsonResponse = (status: number, body: string): OutgoingResponse => ({
  status,
  headers: { 'content-type': 'application/json' },
  parts: [body],
  ending: 'end',
});

const errorResponse = (dialect: WireFormatName, status: number, message: string): OutgoingResponse => ({
  ...jsonResponse(status, responseWriters[dialect].writeError(resolveFailure({ status, message }))),
});

function hasApiKey({ headers }: IncomingMessage, query: string, key: string): boolean {
  const { authorization, 'x-api-key': anthropic, 'x-goog-api-key': google } = headers;
  return authorization === `Bearer ${key}` || anthropic === key || google === key || query.includes(`key=${key}`);
}

// What becomes of one request at the proxy: questions to a model are guided, and everything else goes through as it is.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isObject, type JsonObject } from '../../core/index.ts';
import type { Conversations } from '../conversations/conversations.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { jsonIn } from '../dialects/reading.ts';
import { carryOut } from '../exchange/exchange.ts';
import { unasked, type Arrived } from '../exchange/judging.ts';
import { passedOn, type Upstream } from './upstream.ts';

/** What a proxy handles its requests with. */
export type Place = {
  readonly upstream: Upstream;
  readonly conversations: Conversations;
  readonly holdsWords: boolean;
  readonly mostBytes: number;
  readonly tell: (sentence: string) => void;
};

/** A request that was let in, and where its answer goes. */
export type Visit = {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  /** The path with its query, without what was meant for the proxy. */
  readonly path: string;
  /** Aborts when the caller has gone. */
  readonly signal: AbortSignal;
};

/** Passes a request on as it is, and its answer back. */
export async function passThrough({ upstream }: Place, { incoming, outgoing, path, signal }: Visit): Promise<void> {
  const { method = 'GET', rawHeaders, headers } = incoming;
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  const passing = passedOn(rawHeaders, ['host']);
  const answer = await upstream.send({ method, path, headers: passing, body: hasBody ? incoming : undefined, signal });
  outgoing.writeHead(answer.statusCode ?? 502, answer.statusMessage, passedOn(answer.rawHeaders));
  answer.on('error', () => outgoing.destroy()).pipe(outgoing);
}

/** Guides a question to a model. */
export async function guideThrough(place: Place, visit: Visit, dialect: Dialect): Promise<void> {
  const { incoming, outgoing, path } = visit;
  const [pathname = '/', query = ''] = path.split('?');
  const asked = await questionIn(incoming, dialect, place.mostBytes);
  if ('status' in asked) return refuse(outgoing, asked.status, dialect.failure(asked.sentence));
  const { raw, request } = asked;
  const session = incoming.headers['x-fairlead-session'];
  const talk = await place.conversations
    .ask(dialect.asked(request, pathname), typeof session === 'string' ? session : undefined)
    .catch(unasked);
  const wantsEvents = request['stream'] === true || new URLSearchParams(query).get('alt') === 'sse';
  const { holdsWords, tell } = place;
  const send = sender(place, visit);
  const reply = await carryOut({ dialect, request, raw, wantsEvents, holdsWords, talk, send, tell });
  const { head, status, streams, contentType } = reply;
  if (head)
    outgoing.writeHead(status, head.statusMessage, passedOn(head.rawHeaders, streams ? ['content-length'] : []));
  else outgoing.writeHead(status, { 'content-type': contentType });
  await write(reply.chunks, outgoing);
}

/** Asks the model with the caller's own headers. */
function sender(
  { upstream }: Place,
  { incoming, path, signal }: Visit,
): (body: Uint8Array) => Promise<Arrived<IncomingMessage>> {
  const own = passedOn(incoming.rawHeaders, ['host', 'content-length', 'accept-encoding']);
  const headers = [...own, 'accept-encoding', 'identity'];
  return async (body) => {
    const answer = await upstream.send({ method: 'POST', path, headers, body, signal });
    if ((answer.headers['content-encoding'] ?? 'identity') !== 'identity') {
      answer.destroy();
      throw new Error('it compressed its answer, though it was asked not to.');
    }
    const { statusCode: status = 502, headers: got } = answer;
    return { status, contentType: got['content-type'] ?? '', head: answer, chunks: answer as AsyncIterable<Buffer> };
  };
}

type Question =
  | { readonly raw: Buffer; readonly request: JsonObject }
  | { readonly status: number; readonly sentence: string };

async function questionIn(incoming: IncomingMessage, dialect: Dialect, most: number): Promise<Question> {
  if (incoming.headers['content-encoding'] !== undefined)
    return { status: 415, sentence: 'The proxy reads requests that are not compressed.' };
  const raw = await bodyOf(incoming, most);
  if (!raw) return { status: 413, sentence: `A request may have ${most} bytes.` };
  const request = jsonIn(raw);
  if (!isObject(request)) return { status: 400, sentence: 'The body of the request is no JSON object.' };
  const sentence = dialect.unguidable(request);
  return sentence === undefined ? { raw, request } : { status: 400, sentence };
}

/** Says no in JSON. */
export function refuse(
  outgoing: ServerResponse,
  status: number,
  body: JsonObject,
  more: Readonly<Record<string, string>> = {},
): void {
  outgoing.writeHead(status, { 'content-type': 'application/json', ...more });
  outgoing.end(JSON.stringify(body));
}

async function bodyOf(incoming: IncomingMessage, most: number): Promise<Buffer | undefined> {
  if (Number(incoming.headers['content-length'] ?? 0) > most) return undefined;
  const parts: Buffer[] = [];
  let size = 0;
  // The connection stays, or the caller would never read why it was refused.
  for await (const part of incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > most) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

async function write(chunks: AsyncIterable<Uint8Array>, outgoing: ServerResponse): Promise<void> {
  for await (const chunk of chunks) {
    if (outgoing.destroyed) return;
    if (outgoing.write(chunk)) continue;
    await new Promise<void>((resolve) => {
      outgoing.once('drain', resolve).once('close', resolve);
    });
  }
  outgoing.end();
}

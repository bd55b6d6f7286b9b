// The edge between a model server and the AI SDK: a `fetch` that turns every kind of reply into the events the SDK knows, and keeps account of what the reply says.
import { isObject, type FairleadError, type FinishReason, type Usage } from '../../core/index.ts';
import { bodyFault, cutFault, malformedFault, networkFault, statusFault, type Who } from '../wire/faults.ts';
import { post, readText, type Reply } from '../wire/http.ts';
import { sseDecoder } from '../wire/lines.ts';

/** An object from the wire, not yet believed. */
export type Wire = { readonly [key: string]: unknown };

/** What a reply says of itself, filled in while it is read. */
export type Account = {
  model: string | undefined;
  finish: FinishReason | undefined;
  rawFinish: string | undefined;
  usage: Usage;
  /** The whole answer is here. */
  ended: boolean;
  /** Nothing more can come: the rest is not waited for. */
  over: boolean;
  /** An error object that came instead of, or inside, an answer. */
  error: unknown;
  fault: FairleadError | undefined;
};

/** How one family speaks. What the SDK would stumble over, or take for a call of our tools, never reaches it. */
export type Dialect = {
  /** Begins to read one answer: each event is kept account of, and given back as the events the SDK is to see. */
  reader(account: Account): (event: Wire) => readonly Wire[];
  /** A whole answer as the events it might have come in. */
  unfold(body: unknown): readonly Wire[];
};

/** An account of an answer that has not begun. */
export const newAccount = (): Account => ({
  model: undefined,
  finish: undefined,
  rawFinish: undefined,
  usage: {},
  ended: false,
  over: false,
  error: undefined,
  fault: undefined,
});

/** A count from the wire, or nothing. */
export const countOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

/** A text from the wire, or nothing. */
export const textFrom = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** An object from the wire, or an empty one. */
export const wireOf = (value: unknown): Wire => (isObject(value) ? value : {});

/** The objects of a list from the wire. */
export const wiresOf = (value: unknown): readonly Wire[] =>
  Array.isArray(value) ? (value as unknown[]).filter((each): each is Wire => isObject(each)) : [];

/** A usage without the counts that are unknown. */
export const usageOf = (counts: { readonly [Key in keyof Usage]: number | undefined }): Usage =>
  Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== undefined));

/** A `fetch` for the SDK. It throws only before an answer begins; what goes wrong later is left in the account, and the stream just ends. */
export function edge(
  dialect: Dialect,
  account: Account,
  who: Who,
  fetch: typeof globalThis.fetch | undefined,
): typeof globalThis.fetch {
  const send = fetch ? sender(fetch, who) : post;
  return async (input, init) => {
    try {
      const reply = await send({
        url: String(input),
        headers: headersOf(init),
        body: [init?.body as string],
        signal: init?.signal as AbortSignal,
        who,
      });
      if (reply.status < 200 || reply.status > 299)
        throw statusFault(reply.status, reply.headers, await readText(reply, who).catch(() => ''), who);
      const type = String(reply.headers['content-type'] ?? '');
      const events = /event-stream/i.test(type)
        ? streamedEvents(reply, who)
        : wholeEvents(reply, dialect, account, who);
      const told = retell(events, dialect, account, who);
      return new Response(streamOf(told), { headers: { 'content-type': 'text/event-stream' } });
    } catch (error) {
      account.fault = networkFault(error, who);
      throw account.fault;
    }
  };
}

/** The SDK insists on a header for the key: an empty one is not sent. */
const headersOf = (init: RequestInit | undefined): Record<string, string> =>
  Object.fromEntries(
    Object.entries((init?.headers ?? {}) as Record<string, string>).filter(
      ([, value]) => value !== '' && value !== 'Bearer',
    ),
  );

/** Another `fetch` in the place of ours. A redirect is not followed: it would carry the key to another host. */
const sender =
  (fetch: typeof globalThis.fetch, who: Who): typeof post =>
  async ({ url, headers, body, signal }) => {
    const init: RequestInit = {
      method: 'POST',
      body: body.join(''),
      signal,
      redirect: 'manual',
      ...(headers ? { headers } : {}),
    };
    const response = await fetch(url, init).catch((error: unknown) => {
      throw networkFault(error, who);
    });
    return { status: response.status, headers: Object.fromEntries(response.headers), body: bytesOf(response) };
  };

async function* bytesOf(response: Response): AsyncGenerator<Buffer> {
  if (!response.body) return;
  for await (const bytes of response.body as AsyncIterable<Uint8Array>)
    yield Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Events as the SDK is to see them, as text. */
async function* retell(
  events: AsyncIterable<readonly (Wire | string)[]>,
  dialect: Dialect,
  account: Account,
  who: Who,
): AsyncGenerator<string, undefined> {
  const read = dialect.reader(account);
  try {
    for await (const batch of events) {
      let text = '';
      for (const event of batch) {
        const seen = typeof event === 'string' ? parseEvent(event, who) : event;
        if (seen) for (const each of read(seen)) text += `data: ${JSON.stringify(each)}\n\n`;
        if (account.error !== undefined) account.fault = bodyFault(account.error, who);
        if (account.fault || account.over) break;
      }
      if (text !== '') yield text;
      if (account.fault || account.over) return;
    }
  } catch (error) {
    if (!account.ended) account.fault = networkFault(error, who);
  }
}

async function* streamedEvents(reply: Reply, who: Who): AsyncGenerator<readonly string[]> {
  const decoder = sseDecoder(who);
  for await (const bytes of reply.body) {
    const batch = decoder.push(bytes);
    if (batch.length > 0) yield batch.map((event) => event.data);
  }
}

/** A server that does not stream, or does not say that it does, is read to its end first. */
async function* wholeEvents(
  reply: Reply,
  dialect: Dialect,
  account: Account,
  who: Who,
): AsyncGenerator<readonly (Wire | string)[]> {
  const text = await readText(reply, who);
  if (text.trim() === '') throw cutFault(who);
  const body = parsed(text);
  if (body === undefined && /^(data|event|id|retry)?:/m.test(text.slice(0, 1000))) {
    yield sseDecoder(who)
      .push(Buffer.from(text))
      .map((event) => event.data);
    return;
  }
  if (body === undefined) throw malformedFault('a reply that is neither JSON nor a stream of events', text, who);
  if (isObject(body) && body['error']) throw bodyFault(body, who);
  yield dialect.unfold(body);
  account.ended = true;
}

function parseEvent(data: string, who: Who): Wire | undefined {
  if (data === '' || data.trim() === '[DONE]') return undefined;
  const event = parsed(data);
  if (event === undefined) throw malformedFault('an event that is not JSON', data, who, true);
  return isObject(event) ? event : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Pulled, never pushed: a reader that is slow, or gone, holds the server back. */
function streamOf(texts: AsyncGenerator<string, undefined>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await texts.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    cancel() {
      // Not awaited: a pending read ends when its request is aborted, which is about to happen.
      texts.return(undefined).catch(() => {});
    },
  });
}

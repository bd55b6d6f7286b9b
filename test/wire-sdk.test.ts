// Recorded responses of Anthropic, OpenAI Responses and Gemini are parsed as their bodies state: whole, truncated and split.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import {
  FairleadError,
  createPersistentList,
  type Chunk,
  type Provider,
  type ModelRequest,
} from '../src/core/index.ts';
import { anthropicProvider } from '../src/providers/ai-sdk/anthropic.ts';
import { googleProvider } from '../src/providers/ai-sdk/google.ts';
import { responsesProvider } from '../src/providers/ai-sdk/responses.ts';
import type { AiSdkOptions } from '../src/providers/ai-sdk/provider.ts';
import { readRecordedExchanges, scriptedServer, sends, type RecordedExchange } from '../src/testing/index.ts';
import {
  parseAnthropicReply,
  parseGoogleReply,
  parseResponsesReply,
  type RecordedReply,
} from './support/recorded-replies.ts';

type WireFormat = {
  readonly name: string;
  readonly root: string;
  readonly owns: (exchange: RecordedExchange) => boolean;
  readonly open: (options: AiSdkOptions) => Provider;
  readonly stated: (body: string, streamed: boolean) => RecordedReply;
};

const wireFormats: readonly WireFormat[] = [
  {
    name: 'Anthropic messages',
    root: '/v1',
    owns: ({ path }) => path.startsWith('/v1/messages'),
    open: anthropicProvider,
    stated: parseAnthropicReply,
  },
  {
    name: 'OpenAI responses',
    root: '/v1',
    owns: ({ path }) => path.endsWith('/v1/responses'),
    open: responsesProvider,
    stated: parseResponsesReply,
  },
  {
    name: 'Gemini contents',
    root: '/v1beta',
    owns: ({ path }) => /:(streamG|g)enerateContent/.test(path),
    open: googleProvider,
    stated: parseGoogleReply,
  },
];

const recordings = path.resolve(import.meta.dirname, '../../shared/data/wire/exchanges.jsonl');
const absent = existsSync(recordings) ? false : 'the recorded exchanges are not beside this repository';
const exchanges = absent ? [] : await readRecordedExchanges(recordings);

const request: ModelRequest = {
  system: 'Be brief.',
  tools: [],
  messages: createPersistentList([{ role: 'user', parts: [{ type: 'text', text: 'Go on.' }] }]),
  toolChoice: 'auto',
  settings: {},
};

const isStream = ({ contentType }: RecordedExchange): boolean => contentType.includes('event-stream');

async function getEndChunk(provider: Provider): Promise<Chunk & { type: 'end' }> {
  const ends: Chunk[] = [];
  for await (const chunk of provider.stream(request, new AbortController().signal))
    if (chunk.type === 'end') ends.push(chunk);
  assert.equal(ends.length, 1, 'exactly one end');
  return ends[0] as Chunk & { type: 'end' };
}

/** The parsed answer, in the format of the expected one. */
function toRecordedReply(end: Chunk & { type: 'end' }): RecordedReply {
  const { parts } = end.message;
  const said = parts.filter(
    (part) => part.type === 'tool-call' || (part.type !== 'tool-result' && 'text' in part && part.text !== ''),
  );
  return {
    text: parts.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    reasoning: parts.map((part) => (part.type === 'reasoning' ? part.text : '')).join(''),
    calls: parts.flatMap((part) =>
      part.type === 'tool-call' ? [{ tool: part.tool, input: part.input, id: part.id }] : [],
    ),
    order: said.map((part) => part.type).filter((type, i, all) => type !== all[i - 1]),
    finish: end.finishReason,
    rawFinish: end.rawFinishReason,
    usage: end.usage,
    model: end.model,
  };
}

/** Ids that the body omits are generated: they only have to exist. */
function assertSame(actual: RecordedReply, expected: RecordedReply, where: string): void {
  const ids = actual.calls.map(({ id }, i) => expected.calls[i]?.id ?? id);
  assert.ok(
    ids.every((id) => id !== undefined && id !== ''),
    where,
  );
  assert.deepEqual(actual, { ...expected, calls: expected.calls.map((call, i) => ({ ...call, id: ids[i] })) }, where);
}

for (const kind of wireFormats) {
  const mine = exchanges.filter((exchange) => kind.owns(exchange));
  const good = mine.filter(({ status }) => status === 200);
  const streams = good.filter(isStream);

  test(
    `[A1, A6] every recorded response of ${kind.name} is parsed over HTTP as its body states`,
    { skip: absent },
    async () => {
      assert.ok(good.length > 0 && streams.length > 0);
      let next: RecordedExchange | undefined;
      await using server = await scriptedServer(() => {
        const { status, contentType, body } = next as RecordedExchange;
        return sends({ status, headers: { 'content-type': contentType }, body });
      });
      const provider = kind.open({ model: 'any', apiKey: 'key', baseUrl: `${server.url}${kind.root}` });
      for (const exchange of good) {
        next = exchange;
        assertSame(
          toRecordedReply(await getEndChunk(provider)),
          kind.stated(exchange.body, isStream(exchange)),
          exchange.id,
        );
      }
      for (const exchange of mine.filter(({ status }) => status !== 200)) {
        next = exchange;
        await assert.rejects(getEndChunk(provider), (error: FairleadError) => {
          assert.equal(error.code, 'provider/bad-request', exchange.id);
          return error.message.includes(
            (JSON.parse(exchange.body) as { error: { message: string } }).error.message.slice(0, 40),
          );
        });
      }
    },
  );

  test(
    `[A6] a stream of ${kind.name} truncated anywhere is an error or complete, never a partial call`,
    { skip: absent },
    async () => {
      for (const exchange of streams) {
        const bytes = Buffer.from(exchange.body);
        const whole = toRecordedReply(await getEndChunk(openRecordedProvider(kind, exchange, [bytes], false)));
        const wholes = new Set<number>();
        for (const at of getCutPositions(exchange.body, bytes.length, 7)) {
          const cut = openRecordedProvider(kind, exchange, [bytes.subarray(0, at)], at % 2 === 1);
          const end = await getEndChunk(cut).catch((error: unknown) => error);
          if (end instanceof FairleadError) assert.equal(end.code, 'provider/cut', `${exchange.id} at ${at}`);
          else {
            wholes.add(at);
            // Ids that a response does not have are generated anew each time.
            assertSame(
              toRecordedReply(end as Chunk & { type: 'end' }),
              { ...whole, calls: kind.stated(exchange.body, true).calls },
              `${exchange.id} at ${at}`,
            );
          }
        }
        assert.ok(
          [...wholes].every((at) => at > bytes.length / 2),
          `${exchange.id} was complete before its end`,
        );
      }
    },
  );

  test(`[A6] a stream of ${kind.name} split anywhere gives the same answer`, { skip: absent }, async () => {
    for (const exchange of streams) {
      const bytes = Buffer.from(exchange.body);
      const stated = kind.stated(exchange.body, true);
      const single = Array.from(bytes, (_, i) => bytes.subarray(i, i + 1));
      assertSame(
        toRecordedReply(await getEndChunk(openRecordedProvider(kind, exchange, single, false))),
        stated,
        `${exchange.id}, byte by byte`,
      );
      for (const at of getCutPositions(exchange.body, bytes.length, 41)) {
        const halves = [bytes.subarray(0, at), bytes.subarray(at)];
        assertSame(
          toRecordedReply(await getEndChunk(openRecordedProvider(kind, exchange, halves, false))),
          stated,
          `${exchange.id}, split at ${at}`,
        );
      }
    }
  });
}

/** The provider on a response that arrives in these chunks and then ends, or fails. */
function openRecordedProvider(
  kind: WireFormat,
  exchange: RecordedExchange,
  pieces: readonly Uint8Array[],
  breaks: boolean,
): Provider {
  let next = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = pieces[next++];
      if (piece) controller.enqueue(piece);
      else if (breaks) controller.error(new TypeError('terminated'));
      else controller.close();
    },
  });
  const reply = new Response(body, { headers: { 'content-type': exchange.contentType } });
  return kind.open({ model: 'any', apiKey: 'key', fetch: () => Promise.resolve(reply) });
}

/** Many bytes around tool calls and some bytes elsewhere, other ones in each stream; with the option every byte everywhere. */
function getCutPositions(body: string, length: number, thinner: number): readonly number[] {
  if (process.env['FAIRLEAD_ALL_CUTS'] === '1') return Array.from({ length }, (_, at) => at);
  const marks = [...body.matchAll(/"tool_use"|function_call_arguments|"functionCall"/g)];
  const from = (marks[0]?.index ?? length) - 40;
  const to = (marks.at(-1)?.index ?? 0) + 300;
  const stride = Math.max(7, Math.floor(length / 40)) * thinner;
  return Array.from({ length }, (_, at) => at).filter(
    (at) => at % stride === 0 || at > length - 8 || (at >= from && at <= to && at % thinner === length % thinner),
  );
}

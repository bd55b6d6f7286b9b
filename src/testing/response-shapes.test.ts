// The server's bodies have the structure of recorded real ones: no field that the real service never sent, none missing that it always sends.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import {
  calls,
  readRecordedExchanges,
  says,
  scriptedServer,
  thinks,
  type WireFormatName,
  type RecordedExchange,
} from './index.ts';

const file = path.resolve(import.meta.dirname, '../../../shared/data/wire/exchanges.jsonl');
const skip = existsSync(file) ? false : 'the recorded exchanges are not here';
const exchanges = skip ? [] : await readRecordedExchanges(file);

/** Values whose content is defined by the user or the service. */
const opaqueKeys = new Set(['input', 'args', 'parameters', 'metadata', 'logprobs', 'annotations', 'tools', 'error']);

/** Returns the paths of a value, each with its type. */
function shapePaths(value: unknown, at = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((each) => shapePaths(each, `${at}[]`));
  if (typeof value !== 'object' || value === null) return [at];
  const { type } = value as { type?: unknown };
  const tag = typeof type === 'string' ? `${at}<${type}>` : at;
  return Object.entries(value).flatMap(([key, each]) =>
    opaqueKeys.has(key) ? [`${tag}.${key}`] : [`${tag}.${key}`, ...shapePaths(each, `${tag}.${key}`)],
  );
}

/** Returns the values in a body: one, or one for each event of a stream. */
function valuesIn(body: string, contentType: string): readonly unknown[] {
  if (!contentType.includes('event-stream')) return [JSON.parse(body)];
  return body
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data: ') && line !== 'data: [DONE]')
    .map((line): unknown => JSON.parse(line.slice(6)));
}

const shapePathsOf = (body: string, contentType: string): Set<string> =>
  new Set(valuesIn(body, contentType).flatMap((value) => shapePaths(value)));

/** Reasoning in streams, of which the recordings have other hosts or none; these formats come from the documentation of the services. */
const unrecordedPaths = /reasoning_summary_|<reasoning>\.summary\[\]|delta\.reasoning_content|parts\[\]\.thought$/;

/** The services whose recorded bodies may contain the fields of a wire format. */
const equivalentHosts: Readonly<Record<string, RegExp>> = {
  chat: /^(api\.openai\.com|openrouter\.ai|api\.deepseek\.com|api\.groq\.com)$/,
  responses: /openai\.com$|openrouter/,
  anthropic: /^api\.anthropic\.com$/,
  google: /googleapis\.com$/,
};

/** The services whose required fields a wire format must contain. */
const ownHost: Readonly<Record<string, RegExp>> = {
  ...equivalentHosts,
  chat: /^api\.openai\.com$/,
  responses: /^api\.openai\.com$/,
};

const selectExchanges = (
  dialect: WireFormatName,
  streamed: boolean,
  hosts: Readonly<Record<string, RegExp>>,
): readonly RecordedExchange[] =>
  exchanges.filter(
    (each) =>
      each.format === dialect &&
      each.status === 200 &&
      each.contentType.includes('event-stream') === streamed &&
      hosts[dialect]?.test(each.host),
  );

const requestBodies = {
  chat: [
    '/v1/chat/completions',
    (stream: boolean) => ({
      model: 'm',
      messages: [{ role: 'user', content: 'hi' }],
      ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
    }),
  ],
  responses: ['/v1/responses', (stream: boolean) => ({ model: 'm', input: 'hi', stream })],
  anthropic: [
    '/v1/messages',
    (stream: boolean) => ({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], stream }),
  ],
  google: ['/v1beta/models/gemini-2.5-pro', () => ({ contents: [{ role: 'user', parts: [{ text: 'hi' }] }] })],
} as const;

const script = [says('Hello there'), calls('look', { q: 1 }).and(calls('look', { q: 2 }))];

async function ourShapes(dialect: keyof typeof requestBodies, streamed: boolean): Promise<Set<string>[]> {
  await using server = await scriptedServer([...script, thinks('hm').and(says('well'))]);
  const [base, make] = requestBodies[dialect];
  const url = dialect === 'google' ? `${base}:${streamed ? 'streamGenerateContent?alt=sse' : 'generateContent'}` : base;
  const found: Set<string>[] = [];
  for (let i = 0; i < 3; i++) {
    const response = await fetch(server.url + url, { method: 'POST', body: JSON.stringify(make(streamed)) });
    const body = await response.text();
    assert.equal(response.status, 200, body);
    found.push(shapePathsOf(body, response.headers.get('content-type') ?? ''));
  }
  return found;
}

for (const dialect of ['chat', 'responses', 'anthropic', 'google'] as const) {
  for (const streamed of [false, true]) {
    const name = `${dialect}, ${streamed ? 'streamed' : 'whole'}: the body is built like the recorded ones`;
    test(name, { skip }, async () => {
      // A Google stream consists of the same values as a whole body, so both count.
      const kinds = dialect === 'google' ? [true, false] : [streamed];
      const recorded = kinds
        .flatMap((kind) => selectExchanges(dialect, kind, equivalentHosts))
        .map((each) => shapePathsOf(each.body, each.contentType));
      const known = new Set(recorded.flatMap((each) => [...each]));
      const answers = await ourShapes(dialect, streamed);
      const unknown = answers
        .flatMap((each) => [...each])
        .filter((place) => !known.has(place) && !unrecordedPaths.test(place));
      assert.deepEqual(unknown, [], 'fields that no recorded body has');
      const own = selectExchanges(dialect, streamed, ownHost).map((each) => shapePathsOf(each.body, each.contentType));
      assert.ok(own.length > 1);
      const always = [...(own[0] ?? [])].filter((place) => own.every((each) => each.has(place)));
      assert.ok(always.length > 5);
      const missing = always.filter((place) => !answers[0]?.has(place) && place !== '.obfuscation');
      assert.deepEqual(missing, [], 'fields that every recorded body has');
    });
  }
}

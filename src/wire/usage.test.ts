// Usage, finish reasons and cost: the same table serves the provider and the proxy, for documents and streams.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { FinishReason, JsonObject } from '../core/index.ts';
import { parseAnthropicFinish } from './anthropic/finish-reasons.ts';
import { wireFormats } from './formats/index.ts';
import type { InterceptFormatName, ParsedModelResponse } from './index.ts';
import { parseChatFinish } from './openai-chat/finish-reasons.ts';

/** The response as a document, and assembled from a stream whose only event holds the same fields. */
const parseBoth = (
  name: InterceptFormatName,
  whole: JsonObject,
  ...events: JsonObject[]
): readonly ParsedModelResponse[] => {
  const assembler = wireFormats[name].createAssembler();
  for (const data of events) assembler.push({ data });
  return [wireFormats[name].parseResponse(whole), assembler.response()];
};

test('Google: thinking tokens are output and tokens read by server tools are input', () => {
  const response = {
    candidates: [{ content: { parts: [{ text: 'x' }] }, finishReason: 'STOP' }],
    usageMetadata: {
      promptTokenCount: 10,
      toolUsePromptTokenCount: 5,
      candidatesTokenCount: 7,
      thoughtsTokenCount: 30,
      cachedContentTokenCount: 4,
    },
  };
  for (const { usage } of parseBoth('google', response, response))
    assert.deepEqual(usage, { input: 15, output: 37, cacheRead: 4, reasoning: 30 });
});

test('Google: a later event completes the counts of an earlier one; omitted zero counts are the rest of the total', () => {
  const [, streamed] = parseBoth(
    'google',
    {},
    { usageMetadata: { promptTokenCount: 10, thoughtsTokenCount: 3 } },
    { usageMetadata: { candidatesTokenCount: 2 } },
  );
  assert.deepEqual(streamed?.usage, { input: 10, output: 5, reasoning: 3 });
  const [whole] = parseBoth('google', { usageMetadata: { promptTokenCount: 10, totalTokenCount: 10 } });
  assert.deepEqual(whole?.usage, { input: 10, output: 0 });
});

test('Google: block reasons and reasons for withheld responses are filtered, failures of the model are other', () => {
  const finish = (reason: string): JsonObject => ({ candidates: [{ finishReason: reason }] });
  const cases: readonly (readonly [JsonObject, FinishReason])[] = [
    [{ promptFeedback: { blockReason: 'SAFETY' } }, 'filtered'],
    [{ promptFeedback: { blockReason: 'SOMETHING_NEW' } }, 'filtered'],
    [{ promptFeedback: { blockReason: 'BLOCK_REASON_UNSPECIFIED' }, ...finish('STOP') }, 'stop'],
    [finish('PROHIBITED_CONTENT'), 'filtered'],
    [finish('SPII'), 'filtered'],
    [finish('IMAGE_SAFETY'), 'filtered'],
    [finish('CONTINUATION'), 'length'],
    [finish('MALFORMED_FUNCTION_CALL'), 'other'],
  ];
  for (const [response, expected] of cases)
    for (const parsed of parseBoth('google', response, response))
      assert.equal(parsed.finish, expected, JSON.stringify(response));
});

test('Anthropic: an exceeded context window is a length limit', () => {
  assert.equal(parseAnthropicFinish('model_context_window_exceeded'), 'length');
  const stop_reason = 'model_context_window_exceeded';
  for (const { finish } of parseBoth('anthropic', { stop_reason }, { type: 'message_delta', delta: { stop_reason } }))
    assert.equal(finish, 'length');
});

test('Anthropic: null counts of the last event do not remove those of the first', () => {
  const [, streamed] = parseBoth(
    'anthropic',
    {},
    { type: 'message_start', message: { usage: { input_tokens: 3, cache_read_input_tokens: 4, output_tokens: 1 } } },
    { type: 'message_delta', delta: {}, usage: { input_tokens: null, output_tokens: 9 } },
  );
  assert.deepEqual(streamed?.usage, { input: 7, output: 9, cacheRead: 4 });
});

test('chat: every spelling of cached tokens, cache writes, reasoning tokens and cost', () => {
  const counts = { prompt_tokens: 10, completion_tokens: 5 };
  const spellings: readonly JsonObject[] = [
    { prompt_tokens_details: { cached_tokens: 6 } },
    { prompt_cache_hit_tokens: 6 },
    { cached_tokens: 6 },
    { num_cached_tokens: 6 },
  ];
  for (const cached of spellings)
    for (const body of [
      { usage: { ...counts, ...cached } },
      { x_groq: { usage: { ...counts, ...cached } } },
      { choices: [{ delta: {}, usage: { ...counts, ...cached } }] },
    ])
      for (const { usage } of parseBoth('chat', body, body))
        assert.deepEqual(usage, { input: 10, output: 5, cacheRead: 6 }, JSON.stringify(body));
  const body = {
    usage: {
      ...counts,
      prompt_tokens_details: { cache_write_tokens: 2 },
      completion_tokens_details: { reasoning_tokens: 3 },
      cost: 0.25,
    },
  };
  for (const { usage, usd } of parseBoth('chat', body, body)) {
    assert.deepEqual(usage, { input: 10, output: 5, cacheWrite: 2, reasoning: 3 });
    assert.equal(usd, 0.25);
  }
});

test('chat: the finish reasons of all compatible servers', () => {
  const reasons: Readonly<Record<string, FinishReason>> = {
    stop: 'stop',
    eos: 'stop',
    eos_token: 'stop',
    end_turn: 'stop',
    stop_sequence: 'stop',
    tool_calls: 'tool-calls',
    function_call: 'tool-calls',
    tool_use: 'tool-calls',
    length: 'length',
    max_tokens: 'length',
    model_length: 'length',
    content_filter: 'filtered',
    safety: 'filtered',
    refusal: 'refusal',
    unheard_of: 'other',
  };
  for (const [reason, expected] of Object.entries(reasons)) {
    assert.equal(parseChatFinish(reason), expected);
    const body = { choices: [{ finish_reason: reason }] };
    for (const { finish } of parseBoth('chat', body, body)) assert.equal(finish, expected, reason);
  }
});

test('responses: cache writes are counted; incomplete reasons', () => {
  const response = {
    status: 'incomplete',
    incomplete_details: { reason: 'max_output_tokens' },
    usage: { input_tokens: 9, output_tokens: 4, input_tokens_details: { cached_tokens: 1, cache_write_tokens: 2 } },
  };
  for (const { usage, finish } of parseBoth('responses', response, { type: 'response.incomplete', response })) {
    assert.deepEqual(usage, { input: 9, output: 4, cacheRead: 1, cacheWrite: 2 });
    assert.equal(finish, 'length');
  }
  const [filtered] = parseBoth('responses', { incomplete_details: { reason: 'content_filter' } });
  assert.equal(filtered?.finish, 'filtered');
});

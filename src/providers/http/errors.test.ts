// Tests the errors of servers and networks: code, blame, retry, and no secrets in messages.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FairleadError } from '../../core/index.ts';
import {
  errorBodyError,
  sanitizeErrorText,
  truncatedResponseError,
  malformedResponseError,
  connectionError,
  httpStatusError,
  type ProviderInfo,
} from './errors.ts';

const providerInfo: ProviderInfo = {
  name: 'acme',
  model: 'm1',
  keyVariable: 'ACME_API_KEY',
  url: 'http://localhost:1/v1',
  secrets: ['sk-very-secret'],
};
const openAIErrorBody = (message: string, more: object = {}): string => JSON.stringify({ error: { message, ...more } });
const codeOf = (status: number, body: string): string => httpStatusError(status, {}, body, providerInfo).code;

test('[A54] a status alone determines the kind of error and whether it is retryable', () => {
  const expected: readonly (readonly [number, string, boolean])[] = [
    [400, 'bad-request', false],
    [401, 'unauthorized', false],
    [402, 'payment', false],
    [403, 'unauthorized', false],
    [404, 'not-found', false],
    [405, 'bad-request', false],
    [407, 'proxy', false],
    [408, 'timeout', true],
    [409, 'server-error', true],
    [413, 'context-too-long', false],
    [422, 'bad-request', false],
    [429, 'rate-limited', true],
    [498, 'overloaded', true],
    [500, 'server-error', true],
    [501, 'server-error', false],
    [502, 'server-error', true],
    [503, 'overloaded', true],
    [504, 'server-error', true],
    [529, 'overloaded', true],
    [302, 'redirected', false],
  ];
  for (const [status, code, retry] of expected) {
    const fault = httpStatusError(status, {}, '', providerInfo);
    assert.equal(fault.code, `provider/${code}`, String(status));
    assert.equal(fault.retry, retry, String(status));
    assert.match(fault.message, /^acme[: ].*\.$/);
  }
});

test('[A54] a request that is too long is recognized by the message of every server', () => {
  const said: readonly (readonly [string, number, string])[] = [
    [
      'OpenAI',
      400,
      openAIErrorBody(
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
        {
          code: 'context_length_exceeded',
        },
      ),
    ],
    [
      'OpenAI responses',
      400,
      openAIErrorBody('Your input exceeds the context window of this model. Please adjust your input and try again.'),
    ],
    [
      'OpenAI, one message',
      400,
      openAIErrorBody("Invalid 'messages[1].content': string too long. Expected a string with maximum length 1048576."),
    ],
    [
      'OpenAI, per minute',
      429,
      openAIErrorBody('Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 40000.', {
        code: 'rate_limit_exceeded',
      }),
    ],
    [
      'Anthropic',
      400,
      JSON.stringify({
        type: 'error',
        error: { type: 'invalid_request_error', message: 'prompt is too long: 208310 tokens > 200000 maximum' },
      }),
    ],
    [
      'Anthropic, with answer',
      400,
      openAIErrorBody('input length and `max_tokens` exceed context limit: 198000 + 8192 > 200000'),
    ],
    ['Anthropic, bytes', 413, openAIErrorBody('Request exceeds the maximum size', { type: 'request_too_large' })],
    [
      'Google',
      400,
      openAIErrorBody('The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).', {
        status: 'INVALID_ARGUMENT',
      }),
    ],
    ['Google, bytes', 400, openAIErrorBody('Request payload size exceeds the limit: 20971520 bytes.')],
    [
      'Mistral',
      400,
      JSON.stringify({
        object: 'error',
        message:
          'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
        type: 'invalid_request_error',
      }),
    ],
    [
      'Groq',
      400,
      openAIErrorBody('Please reduce the length of the messages or completion.', { code: 'context_length_exceeded' }),
    ],
    [
      'Groq, per minute',
      413,
      openAIErrorBody(
        'Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 7000, please reduce your message size and try again.',
        { code: 'rate_limit_exceeded' },
      ),
    ],
    [
      'OpenRouter',
      400,
      openAIErrorBody(
        "This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens.",
      ),
    ],
    [
      'OpenRouter, from behind',
      400,
      openAIErrorBody('Provider returned error', {
        metadata: { raw: '{"error":{"message":"prompt is too long: 1 tokens > 0 maximum"}}' },
      }),
    ],
    [
      'llama.cpp',
      400,
      openAIErrorBody('the request exceeds the available context size, try increasing it', {
        type: 'exceed_context_size_error',
        n_ctx: 4096,
      }),
    ],
    ['llama.cpp, older', 500, openAIErrorBody('context shift is disabled')],
    [
      'vLLM',
      400,
      JSON.stringify({
        object: 'error',
        message: 'The decoder prompt (length 5000) is longer than the maximum model length of 4096.',
        type: 'BadRequestError',
      }),
    ],
    ['Ollama', 400, JSON.stringify({ error: 'the input length exceeds the context length' })],
    ['Ollama, newer', 400, JSON.stringify({ error: 'prompt too long; exceeded max context length by 4 tokens' })],
    [
      'LM Studio',
      400,
      JSON.stringify({
        error:
          'Trying to keep the first 6000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.',
      }),
    ],
    [
      'LM Studio, older',
      400,
      JSON.stringify({
        error: 'The number of tokens to keep from the initial prompt is greater than the context length.',
      }),
    ],
    [
      'Cerebras',
      400,
      JSON.stringify({
        message: 'Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192',
      }),
    ],
    [
      'Together',
      422,
      openAIErrorBody("The input (9000 tokens) is longer than the model's context length (8192 tokens)."),
    ],
    [
      'TGI',
      422,
      JSON.stringify({
        error: 'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193.',
        error_type: 'validation',
      }),
    ],
    [
      'xAI',
      400,
      JSON.stringify({ error: "This model's maximum prompt length is 131072 but the request contains 537812 tokens." }),
    ],
  ];
  for (const [name, status, body] of said) assert.equal(codeOf(status, body), 'provider/context-too-long', name);
});

test('[A54] messages about length with another meaning are not a request that is too long', () => {
  assert.equal(
    codeOf(
      400,
      openAIErrorBody(
        "Invalid 'tools[0].function.description': string too long. Expected a string with maximum length 1024.",
      ),
    ),
    'provider/bad-request',
  );
  assert.equal(
    codeOf(
      400,
      openAIErrorBody(
        "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40.",
      ),
    ),
    'provider/bad-request',
  );
  assert.equal(codeOf(400, openAIErrorBody('max_tokens must be at least 1')), 'provider/bad-request');
  assert.equal(codeOf(429, openAIErrorBody('Rate limit reached for requests')), 'provider/rate-limited');
});

test('[A54] the message decides if a status has several meanings', () => {
  assert.equal(
    codeOf(429, openAIErrorBody('You exceeded your current quota', { code: 'insufficient_quota' })),
    'provider/payment',
  );
  assert.equal(codeOf(400, openAIErrorBody('Your credit balance is too low to access the API.')), 'provider/payment');
  assert.equal(
    codeOf(
      400,
      openAIErrorBody('API key not valid. Please pass a valid API key.', { details: [{ reason: 'API_KEY_INVALID' }] }),
    ),
    'provider/unauthorized',
  );
  assert.equal(codeOf(400, openAIErrorBody('foo/bar is not a valid model ID')), 'provider/not-found');
  assert.equal(
    codeOf(403, openAIErrorBody('Project does not have access to model', { code: 'model_not_found' })),
    'provider/not-found',
  );
  assert.equal(codeOf(403, openAIErrorBody('Your input was flagged')), 'provider/bad-request');
  assert.equal(
    codeOf(500, JSON.stringify({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } })),
    'provider/overloaded',
  );
  const misspoken = httpStatusError(
    400,
    {},
    openAIErrorBody('Failed to call a function', { code: 'tool_use_failed' }),
    providerInfo,
  );
  assert.deepEqual([misspoken.code, misspoken.blame, misspoken.retry], ['provider/bad-request', 'model', true]);
});

test('[A54] a server can forbid a retry', () => {
  assert.equal(httpStatusError(500, { 'x-should-retry': 'false' }, '', providerInfo).retry, false);
});

test('hints name the variable of the key, the model, and what to do', () => {
  assert.match(httpStatusError(401, {}, '', providerInfo).hint ?? '', /ACME_API_KEY/);
  assert.match(httpStatusError(404, {}, '', providerInfo).hint ?? '', /models.*m1/);
  assert.match(httpStatusError(407, {}, '', providerInfo).hint ?? '', /HTTPS_PROXY/);
  assert.match(httpStatusError(413, {}, '', providerInfo).hint ?? '', /compact/i);
});

test('[A54] an error inside a 2xx reply is that error (fault 49)', () => {
  const of = (value: unknown): string => errorBodyError(value, providerInfo).code;
  assert.equal(of({ error: { message: 'x', code: 429 } }), 'provider/rate-limited');
  assert.equal(of({ error: { message: 'x', type: 'overloaded_error' } }), 'provider/overloaded');
  assert.equal(of({ error: { message: 'x', type: 'invalid_request_error' } }), 'provider/bad-request');
  assert.equal(of({ error: { message: 'x', code: '401' } }), 'provider/unauthorized');
  assert.equal(of({ error: 'something broke' }), 'provider/server-error');
  assert.equal(of({ error: { message: 'prompt is too long: 5 tokens > 4 maximum' } }), 'provider/context-too-long');
  assert.equal(of('plain words'), 'provider/server-error');
});

test('the text of a server becomes one line without control characters or secrets', () => {
  const fault = httpStatusError(
    401,
    {},
    openAIErrorBody('Incorrect API key\r\nprovided:\u001b[31m sk-very-secret\u202e.'),
    providerInfo,
  );
  assert.equal(fault.message, 'acme did not accept the key (status 401): Incorrect API key provided: [31m [secret] .');
  assert.ok(sanitizeErrorText('a'.repeat(5000), providerInfo).length <= 601);
});

test('[A54] an HTML page instead of a response is quoted with its first 200 characters (fault 59)', () => {
  const page = `<!DOCTYPE html>\n<html><title>Bad gateway</title>${'x'.repeat(5000)}`;
  const fault = httpStatusError(502, {}, page, providerInfo);
  assert.equal(fault.code, 'provider/server-error');
  assert.match(fault.message, /Bad gateway/);
  assert.ok(fault.message.length < 300);
  const wrong = malformedResponseError('a web page', page, providerInfo);
  assert.equal(wrong.code, 'provider/malformed');
  assert.ok(wrong.message.length < 300);
});

test('[A54] a failed connection has a kind: unreachable, TLS, truncated, proxy, not HTTP (fault 44)', () => {
  const of = (code: string, message = code): FairleadError =>
    connectionError(Object.assign(new Error(message), { code }), { ...providerInfo, url: 'https://models.example/v1' });
  const kinds: readonly (readonly [string, string, boolean])[] = [
    ['ECONNREFUSED', 'unreachable', true],
    ['ENOTFOUND', 'unreachable', true],
    ['EAI_AGAIN', 'unreachable', true],
    ['EHOSTUNREACH', 'unreachable', true],
    ['ETIMEDOUT', 'unreachable', true],
    ['ECONNRESET', 'cut', true],
    ['EPIPE', 'cut', true],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls', false],
    ['CERT_HAS_EXPIRED', 'tls', false],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls', false],
    ['EPROTO', 'tls', false],
    ['ERR_PROXY_TUNNEL', 'proxy', false],
    ['HPE_INVALID_CONSTANT', 'malformed', false],
    ['Z_DATA_ERROR', 'malformed', true],
    ['SOMETHING_ELSE', 'cut', true],
  ];
  for (const [code, kind, retry] of kinds) {
    assert.equal(of(code).code, `provider/${kind}`, code);
    assert.equal(of(code).retry, retry, code);
  }
  assert.equal(
    of('ECONNRESET', 'Client network socket disconnected before secure TLS connection was established').code,
    'provider/cut',
  );
});

test('[A54] a refused connection to this machine is not retried (fault 44)', () => {
  const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
  for (const url of ['http://localhost:1/v1', 'http://127.0.0.1:11434', 'http://[::1]:8080/v1']) {
    const fault = connectionError(refused, { ...providerInfo, url });
    assert.deepEqual([fault.code, fault.retry], ['provider/unreachable', false]);
    assert.match(fault.hint ?? '', /Is the server running at/);
  }
});

test('[A54] wrapped errors are unwrapped, FairleadErrors stay unchanged (fault 44)', () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' });
  const wrapped = new TypeError('fetch failed', { cause: new AggregateError([refused]) });
  const fault = connectionError(wrapped, providerInfo);
  assert.equal(fault.code, 'provider/unreachable');
  assert.match(fault.message, /acme at http:\/\/localhost:1\/v1: connect ECONNREFUSED/);
  const ours = truncatedResponseError(providerInfo);
  assert.equal(connectionError(ours, providerInfo), ours);
});

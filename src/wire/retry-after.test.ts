// The retry delay is read from every place where servers state it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseRetryDelay, type HttpHeaderMap } from './retry-after.ts';

const now = Date.parse('2026-01-02T03:04:05Z');
const retryDelayAt = (headers: HttpHeaderMap, body?: unknown, said = ''): number | undefined =>
  parseRetryDelay(headers, body, said, now);

test('[A54] [P48] Retry-After is seconds or a date; any other value is ignored', () => {
  assert.equal(retryDelayAt({ 'retry-after': '7' }), 7000);
  assert.equal(retryDelayAt({ 'retry-after': '0.5' }), 500);
  assert.equal(retryDelayAt({ 'retry-after': 'Fri, 02 Jan 2026 03:05:05 GMT' }), 60_000);
  assert.equal(retryDelayAt({ 'retry-after': 'Fri, 02 Jan 2026 03:00:00 GMT' }), 0);
  assert.equal(retryDelayAt({ 'retry-after': 'soon' }), undefined);
  assert.equal(retryDelayAt({ 'retry-after': '-5' }), undefined);
  assert.equal(retryDelayAt({}), undefined);
});

test('[A54] milliseconds take precedence over seconds', () => {
  assert.equal(retryDelayAt({ 'retry-after-ms': '1234', 'retry-after': '9' }), 1234);
});

test('[A54] the exhausted limit decides; if none is marked, the one that resets first', () => {
  const headers = { 'x-ratelimit-reset-requests': '2m59.5s', 'x-ratelimit-reset-tokens': '20ms' };
  assert.equal(retryDelayAt(headers), 20);
  assert.equal(retryDelayAt({ ...headers, 'x-ratelimit-remaining-requests': '0' }), 179_500);
  assert.equal(retryDelayAt({ 'anthropic-ratelimit-tokens-reset': '2026-01-02T03:04:15Z' }), 10_000);
  assert.equal(retryDelayAt({ 'x-ratelimit-reset': String(now + 3000) }), 3000);
  assert.equal(retryDelayAt({ 'x-ratelimit-reset': String(now / 1000 + 4) }), 4000);
  assert.equal(retryDelayAt({ 'x-ratelimit-reset-tokens-minute': '12.5' }), 12_500);
});

test('[A54] the delay is also read from bodies and messages', () => {
  assert.equal(retryDelayAt({}, { error: { details: [{ x: 1 }, { retryDelay: '31s' }] } }), 31_000);
  assert.equal(retryDelayAt({}, { error: 'loading', estimated_time: 20.5 }), 20_500);
  assert.equal(retryDelayAt({}, undefined, 'Rate limit reached. Please try again in 7m12s. Visit us.'), 432_000);
  assert.equal(
    retryDelayAt({}, { error: { metadata: { headers: { 'X-RateLimit-Reset': String(now + 1500) } } } }),
    1500,
  );
});

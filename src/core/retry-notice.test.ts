// Tests the sentences about retries of a model request.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Event } from './fact.ts';
import { formatRetryNotice, formatRetryStatus, parseRetryNotice, retryFact } from './retry-notice.ts';

const limited = {
  attempt: 2,
  maxAttempts: 4,
  waitMs: 4210,
  code: 'provider/rate-limited',
  provider: 'ollama',
  why: 'ollama: rate limit reached (status 429): slow down',
};

test('[P82] a rate limit is told with its status, the provider, the wait and the attempt', () => {
  assert.equal(formatRetryNotice(limited), 'Rate limited (429) by ollama, retrying in 5 s, attempt 2 of 4.');
  assert.equal(formatRetryStatus(limited, 3100), 'rate limited, retrying in 4 s, attempt 2 of 4');
  assert.equal(formatRetryStatus(limited, 0), 'rate limited, attempt 2 of 4');
});

test('another failure is told with its message; a change of the model without a wait', () => {
  const failed = { attempt: 3, maxAttempts: 4, waitMs: 2000, why: 'ollama is overloaded (status 503).' };
  assert.equal(formatRetryNotice(failed), 'ollama is overloaded (status 503). Retrying in 2 s, attempt 3 of 4.');
  assert.equal(formatRetryNotice({ attempt: 5, why: 'It is down.' }), 'It is down. Trying another model.');
});

test('[A56] a wait for a rate limit of this process is told, recorded and read; nothing failed', () => {
  const held = { ...limited, attempt: 1, held: true as const, why: '60 requests per minute', waitMs: 3200 };
  const fact = { ...retryFact(held), seq: 1, time: 0 } as unknown as Event;
  const read = parseRetryNotice(fact);
  assert.deepEqual(read, held);
  assert.equal(formatRetryNotice(held), 'Rate limited (60 requests per minute), sending in 4 s.');
  assert.equal(formatRetryStatus(held, 3200), 'rate limited, sending in 4 s');
});

test('a retry is read from the fact that records it, and from no other', () => {
  const event = (fact: object): Event => ({ seq: 1, time: 0, id: 'e', parent: null, ...fact }) as unknown as Event;
  assert.deepEqual(parseRetryNotice(event(retryFact(limited))), limited);
  assert.equal(parseRetryNotice(event({ type: 'annotation-added', key: 'other', value: limited })), undefined);
  assert.equal(parseRetryNotice(event({ type: 'annotation-added', key: 'provider-retry', value: {} })), undefined);
});

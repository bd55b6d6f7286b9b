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
  assert.equal(formatRetryNotice(limited), 'Rate limited (429) by ollama, waiting 4.2s, attempt 2 of 4.');
  assert.equal(formatRetryStatus(limited, 3100), 'rate limited, attempt 2 of 4 in 4s');
  assert.equal(formatRetryStatus(limited, 0), 'rate limited, attempt 2 of 4');
});

test('another failure is told with its message; a change of the model without a wait', () => {
  const failed = { attempt: 3, maxAttempts: 4, waitMs: 2000, why: 'ollama is overloaded (status 503).' };
  assert.equal(formatRetryNotice(failed), 'ollama is overloaded (status 503). Waiting 2.0s, attempt 3 of 4.');
  assert.equal(formatRetryNotice({ attempt: 5, why: 'It is down.' }), 'It is down. Trying another model.');
});

test('a retry is read from the fact that records it, and from no other', () => {
  const event = (fact: object): Event => ({ seq: 1, time: 0, id: 'e', parent: null, ...fact }) as unknown as Event;
  assert.deepEqual(parseRetryNotice(event(retryFact(limited))), limited);
  assert.equal(parseRetryNotice(event({ type: 'annotation-added', key: 'other', value: limited })), undefined);
  assert.equal(parseRetryNotice(event({ type: 'annotation-added', key: 'provider-retry', value: {} })), undefined);
});

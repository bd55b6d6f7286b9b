// Errors: the blame survives serialization, and any thrown value is accepted.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { FairleadError, formatError, fromFailure, isJson, errorMessage, toFailure } from './index.ts';

test('an error keeps its code, blame, hint and cause', () => {
  const cause = new Error('below');
  const error = new FairleadError('provider/rate-limited', 'Too fast.', {
    blame: 'provider',
    retry: true,
    afterMs: 5,
    hint: 'Wait.',
    cause,
  });
  assert.ok(error instanceof Error);
  const { name, code, message, blame, retry, afterMs, hint } = error;
  assert.deepEqual(
    { name, code, message, blame, retry, afterMs, hint },
    {
      name: 'FairleadError',
      code: 'provider/rate-limited',
      message: 'Too fast.',
      blame: 'provider',
      retry: true,
      afterMs: 5,
      hint: 'Wait.',
    },
  );
  assert.equal(error.cause, cause);
  assert.ok(!('cause' in new FairleadError('x/y', 'No cause.', { blame: 'user' })));
  assert.equal(new FairleadError('x/y', 'No retry.', { blame: 'user' }).retry, false);
});

test('an error converts to a failure as data, and back', () => {
  const failure = { code: 'a/b', message: 'It broke.', blame: 'tool', retry: true, hint: 'Mend it.' } as const;
  assert.deepEqual(toFailure(fromFailure(failure)), failure);
  const { hint: _, ...plain } = failure;
  assert.deepEqual(toFailure(fromFailure(plain)), plain);
});

test('any thrown value becomes a failure that can be recorded', () => {
  fc.assert(
    fc.property(fc.anything({ withBigInt: true, withNullPrototype: true }), (thrown) => {
      const failure = toFailure(thrown, 'provider/unexpected', 'provider');
      assert.ok(isJson(failure));
      assert.deepEqual([failure.code, failure.blame, failure.retry], ['provider/unexpected', 'provider', false]);
    }),
  );
  assert.equal(errorMessage(new Error('plain')), 'plain');
  assert.equal(errorMessage('words'), 'words');
  assert.equal(typeof errorMessage(Object.assign(new Error('x'), { message: Symbol('s') })), 'string');
  assert.equal(typeof errorMessage({ toString: null }), 'string');
});

test('a message without a full stop is joined to its hint as a sentence', () => {
  const format = (message: string): string =>
    formatError(new FairleadError('x', message, { blame: 'user', hint: 'Give a file.' }));
  assert.equal(format("ENOENT: no such file, open 'nofile'"), "ENOENT: no such file, open 'nofile'. Give a file.");
  assert.equal(format('It is missing.'), 'It is missing. Give a file.');
  assert.equal(format('He said "no."'), 'He said "no." Give a file.');
});

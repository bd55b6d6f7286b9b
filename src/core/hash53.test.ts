// Hashes: of chunks as of the whole text, and what distinguishes repeated calls.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { hash53, hash53Value, updateHash53, createHash53 } from './hash53.ts';

test('[M15] a hash of chunks is the hash of the whole text', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 20 })), fc.nat(30), (pieces, at) => {
      const making = createHash53();
      for (const piece of pieces) updateHash53(making, piece);
      const whole = pieces.join('');
      assert.equal(hash53Value(making), hash53(whole));
      const cut = Math.min(at, whole.length);
      assert.equal(hash53Value(updateHash53(updateHash53(createHash53(), whole, 0, cut), whole, cut)), hash53(whole));
    }),
  );
});

// Digests: of pieces as of the whole, and what tells rounds of calls apart.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { digest, digestSoFar, feed, newDigest } from './digest.ts';

test('[M15] a digest of pieces is the digest of all of them as one text', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 20 })), fc.nat(30), (pieces, at) => {
      const making = newDigest();
      for (const piece of pieces) feed(making, piece);
      const whole = pieces.join('');
      assert.equal(digestSoFar(making), digest(whole));
      const cut = Math.min(at, whole.length);
      assert.equal(digestSoFar(feed(feed(newDigest(), whole, 0, cut), whole, cut)), digest(whole));
    }),
  );
});

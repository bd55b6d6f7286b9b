// Requests without rules: which they are, and how many of them are reported.
import assert from 'node:assert/strict';
import test from 'node:test';
import { createUnguidedReport, isUnguided } from './unguided.ts';

test('only a path that ends with the name of a harmless operation is harmless', () => {
  for (const path of ['/v1/embeddings', '/v1/embeddings/', '/v1beta/models/m:countTokens', '/api/embed'])
    assert.ok(!isUnguided('POST', path, {}), path);
  for (const path of ['/v1/embeddings/generate', '/v1beta/models/m:countTokens/x', '/myembeddings', '/api/embedx'])
    assert.ok(isUnguided('POST', path, {}), path);
});

test('reports are bounded: one for a path whatever its ids, a hundred in all, and short ones', () => {
  const reported: string[] = [];
  const report = createUnguidedReport((sentence) => reported.push(sentence));
  report('POST', '/files/file-1');
  report('POST', '/files/file-2');
  report('POST', `/${'x'.repeat(10_000)}\u001B`);
  assert.equal(reported.length, 2);
  assert.ok(reported.every((sentence) => sentence.length < 400 && !sentence.includes('\u001B')));
  for (let i = 0; i < 26 * 26; i++) report('POST', `/${String.fromCharCode(97 + (i % 26), 97 + Math.floor(i / 26))}`);
  assert.equal(reported.length, 100);
});

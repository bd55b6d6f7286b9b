// What the README promises first: two commands do all the set-up, and CI runs the second word for word.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';

const read = (file: string): string => readFileSync(path.resolve(import.meta.dirname, '..', file), 'utf8');

test('the README sets up with exactly two commands, and .ci/run calls the one that tests', () => {
  const [, setUp] = /^## Set-up\n([^]*?)^## /m.exec(read('README.md')) ?? [];
  const commands = [...(setUp ?? '').matchAll(/^```sh\n([^]*?)^```/gm)].map((block) => block[1]?.trim());
  assert.deepEqual(commands, ['npm ci && npm start', 'npm ci && npm test']);
  assert.equal(read('.ci/run').trimEnd().split('\n').at(-1), commands[1]);
});

test('AGENTS.md is at most 80 lines', () => {
  assert.ok(read('AGENTS.md').trimEnd().split('\n').length <= 80);
});

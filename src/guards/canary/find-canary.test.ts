// The search for the marker of the system prompt: every form is found, other text is not, and hostile text takes linear time.
import assert from 'node:assert/strict';
import test from 'node:test';
import { createCanaryGate } from './canary-gate.ts';
import { createCanarySearch } from './find-canary.ts';

const canary = 'abcdponmefghlkjiabcdmnop';
const find = createCanarySearch(canary);
const base64 = (text: string): string => Buffer.from(text).toString('base64');

test('the marker is found plain, spaced, reversed, in rot13, hexadecimal, percent encoding and base64 at each position', () => {
  const forms: readonly (readonly [string, string])[] = [
    ['plain', `x ${canary} y`],
    ['plain', canary.toUpperCase()],
    ['plain', Array.from(canary).join(' ')],
    ['plain', Array.from(canary).join('-')],
    ['plain', `${canary.slice(0, 10)}\n${canary.slice(10)}`],
    ['reversed', Array.from(canary).toReversed().join('')],
    ['rot13', canary.replaceAll(/[a-z]/g, (c) => String.fromCharCode(((c.charCodeAt(0) - 84) % 26) + 97))],
    ['hexadecimal', Buffer.from(canary).toString('hex')],
    ['hexadecimal', Buffer.from(canary).toString('hex').replaceAll(/../g, '%$&')],
    ...['', 'a', 'ab', 'abc', 'The prompt: '].map(
      (before) => ['base64', base64(`${before}${canary} and more`)] as const,
    ),
    ['base64', base64(canary).replaceAll(/.{8}/g, '$&\n')],
    ['base64', Buffer.from(`é${canary}`).toString('base64url')],
  ];
  for (const [form, text] of forms) assert.equal(find(text), form, text);
});

test('other text, a part of the marker and an empty text are not the marker', () => {
  for (const text of ['', 'abcd', canary.slice(1), canary.slice(0, -1), base64('a long text without it '.repeat(20))])
    assert.equal(find(text), undefined, text);
});

test('hostile text of 1 MB takes linear time', { timeout: 20_000 }, () => {
  for (const unit of [canary.slice(0, -1), '%', ' ', '\\n', 'é', 'YWJj'])
    assert.equal(find(unit.repeat(Math.ceil(1_000_000 / unit.length))), undefined);
});

test('the gate denies nested values, keys and a marker that is split over two values', async () => {
  const gate = createCanaryGate(canary);
  const decide = async (input: unknown): Promise<string> =>
    (await gate({ id: 'c', tool: 'send', input } as never, {} as never)).type;
  assert.equal(await decide({ a: [{ b: `x${canary}` }] }), 'deny');
  assert.equal(await decide({ [canary]: 1 }), 'deny');
  assert.equal(await decide([canary.slice(0, 9), canary.slice(9)]), 'deny');
  assert.equal(await decide({ a: 'b' }), 'allow');
  assert.equal(await decide(null), 'allow');
});

// Inline or cached results: the size limits, cached tools, and the tools that read cached values.
import assert from 'node:assert/strict';
import test from 'node:test';
import { toolOutput as outputOf, type Json, type ToolOutput, type Tool, type ToolContext } from '../core/index.ts';
import { handleTools } from './handle-tools.ts';
import { cachedTool, formatOutput } from './large-outputs.ts';
import { SessionCache } from './session-cache.ts';

const context = { signal: new AbortController().signal, key: 'k' } as unknown as ToolContext;
const textOf = (length: number): string => 'x'.repeat(length);
/** A list of ten texts whose JSON has this many characters. */
const listOf = (chars: number): readonly string[] => [
  ...Array.from({ length: 9 }, () => 'a'),
  textOf(chars - 9 * 4 - 4),
];

class Point {
  x = 1;
}

const inline: readonly (readonly [what: string, value: unknown, text: string])[] = [
  ['a text of 500', textOf(500), textOf(500)],
  ['a number', 5, '5'],
  ['a big integer', 5n, '5'],
  ['true', true, 'true'],
  ['null', null, 'null'],
  ['nothing', undefined, '(no output)'],
  ['an empty list', [], '[]'],
  ['a list of 20', Array.from({ length: 20 }, (_, i) => i), JSON.stringify(Array.from({ length: 20 }, (_, i) => i))],
  ['a list whose JSON has 2000 characters', listOf(2000), JSON.stringify(listOf(2000))],
  ['an object', { a: [1] }, '{"a":[1]}'],
  ['a date', new Date(0), '1970-01-01T00:00:00.000Z'],
  ['an instance of a class', new Point(), 'Point { x: 1 }'],
  ['an error', new TypeError('no'), 'TypeError: no'],
];

for (const [title, value, text] of inline) {
  test(`[D9] a small value stays inline: ${title}`, () => {
    const cache = new SessionCache();
    assert.equal(formatOutput(value, cache), text);
    assert.deepEqual(cache.handleNames(), []);
  });
}

const kept: readonly (readonly [what: string, value: unknown, handle: string])[] = [
  ['a text of 501', textOf(501), 'text_result'],
  ['a list of 21', Array.from({ length: 21 }, () => 1), 'result_list'],
  ['a list whose JSON has 2001 characters', listOf(2001), 'result_list'],
  ['an object of 21 keys', Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`k${i}`, i])), 'result_object'],
  ['a table, however small', [{ a: 1 }], 'table'],
  ['a typed array, however small', new Uint8Array(1), 'array'],
];

for (const [title, value, handle] of kept) {
  test(`[D9] a large value is cached and shown as a snapshot: ${title}`, () => {
    const cache = new SessionCache();
    const text = formatOutput(value, cache);
    assert.equal(text, `Saved as \`${handle}\`\nSnapshot: ${JSON.stringify(cache.snapshot(handle))}`);
    assert.equal(cache.get(handle), value);
    assert.match(formatOutput(value, cache, 'mine'), /^Saved as `mine`\n/);
    assert.match(formatOutput(value, cache, 'mine'), /^Saved as `mine_2`\n/);
  });
}

test('[D9] an object of an unknown class is shown as text, truncated at 500', () => {
  class Large {
    words = textOf(5000);
  }
  assert.equal(formatOutput(new Large(), new SessionCache()).length, 500);
});

const tool = (result: unknown, name = 'db__fetch-rows'): Tool => ({
  name,
  description: 'd',
  input: { type: 'object' },
  effect: 'read',
  validate: (input: Json) => (input === 1 ? 'one' : undefined),
  execute: () => result,
});

test('[D9] a cached tool stores large results under the last part of its name', async () => {
  const cache = new SessionCache();
  const value = Array.from({ length: 50 }, (_, i) => i);
  const output = (await cachedTool(tool(value), cache).execute({}, context)) as ToolOutput;
  assert.deepEqual(output.data, { handle: 'fetch_rows' });
  assert.match(output.text, /^Saved as `fetch_rows`\nSnapshot: \{"type":"list","length":50,"sample":\[0,1,2,3,4\]\}$/);
  assert.equal(cache.get('fetch_rows'), value);
  assert.equal(await cachedTool(tool([1]), cache).execute({}, context), '[1]');
  assert.equal(await cachedTool(tool(undefined), cache).execute({}, context), undefined);
  assert.equal(cachedTool(tool(1), cache).validate?.(1), 'one');
  assert.equal(cachedTool(tool(1), cache).effect, 'read');
});

test('[D9] of a ToolOutput the data is cached and the rest stays, and nothing large reaches the log', async () => {
  const cache = new SessionCache();
  const data = Array.from({ length: 5000 }, (_, i) => ({ i }));
  const given: ToolOutput = outputOf({
    text: 'Found rows.',
    data,
    notes: [{ key: 'k', text: 'n' }],
    endsRun: true,
  });
  const output = (await cachedTool(tool(given), cache).execute({}, context)) as ToolOutput;
  assert.deepEqual({ ...output, text: '' }, { ...given, text: '', data: { handle: 'fetch_rows' } });
  assert.match(output.text, /^Found rows\.\nSaved as `fetch_rows`\n/);
  assert.ok(JSON.stringify(output).length < 1000);
  const small: ToolOutput = outputOf({ text: 'ok', data: { a: 1 } });
  assert.equal(await cachedTool(tool(small), cache).execute({}, context), small);
  const failed: ToolOutput = outputOf({ text: 'bad', data, failed: true });
  assert.equal(await cachedTool(tool(failed), cache).execute({}, context), failed);
});

test('a tool whose name is no identifier gets a valid handle', async () => {
  for (const [name, handle] of [
    ['class', '_class'],
    ['a__1b', '_1b'],
    ['x__', 'x__'],
  ] as const) {
    const cache = new SessionCache();
    await cachedTool(tool([{ a: 1 }], name), cache).execute({}, context);
    assert.deepEqual(cache.handleNames(), [handle]);
  }
});

function reader(entries: Readonly<Record<string, unknown>>) {
  const cache = new SessionCache();
  for (const [name, value] of Object.entries(entries)) cache.put(name, value);
  const tools = new Map(handleTools(cache).map((each) => [each.name, each]));
  return {
    tools,
    list: (input: Json = {}) => tools.get('handle_list')?.execute(input, context),
    read: (input: Json) => tools.get('handle_read')?.execute(input, context),
  };
}

test('[D9] handle_list and handle_read have the effect read and validate their input', () => {
  const { tools } = reader({});
  assert.deepEqual(
    [...tools.values()].map((each) => each.effect),
    ['read', 'read'],
  );
  assert.match(tools.get('handle_read')?.validate?.({ name: 'a', from: -1 }) ?? '', /\/from/);
});

test('[D9] a model can list cached values', () => {
  const { list } = reader({ a: [1, 2], b: 'text', t: [{ x: 1, y: 2 }] });
  assert.equal(
    list(),
    'items 0 to 2 of 3\nt: table of 1 rows and 2 columns (x, y)\nb: text of 4 characters\na: list of 2',
  );
  assert.equal(list({ from: 1, count: 1 }), 'items 1 to 1 of 3; continue with from 2\nb: text of 4 characters');
  assert.equal(reader({}).list(), '(empty)');
});

test('[D9] a model can page through a cached value, and select a part by path', () => {
  const rows = Array.from({ length: 45 }, (_, i) => ({ i, 'a/b': [i] }));
  const { read } = reader({ rows, text: 'abcdef', map: new Map([['k', 'v']]), floats: new Float64Array([1, 2.5]) });
  assert.equal(read({ name: 'rows', from: 43 }), 'items 43 to 44 of 45\n{"i":43,"a/b":[43]}\n{"i":44,"a/b":[44]}');
  assert.match(String(read({ name: 'rows' })), /^items 0 to 19 of 45; continue with from 20\n/);
  assert.equal(read({ name: 'rows', path: '/7' }), 'items 0 to 1 of 2\n"i": 7\n"a/b": [7]');
  assert.equal(read({ name: 'rows', path: '7/a~1b/0' }), '7');
  assert.equal(read({ name: 'text', from: 1, count: 3 }), 'characters 1 to 3 of 6; continue with from 4\nbcd');
  assert.equal(read({ name: 'map', path: '/k' }), 'characters 0 to 0 of 1\nv');
  assert.equal(read({ name: 'floats', from: 1 }), 'items 1 to 1 of 2\n2.5');
  assert.equal(read({ name: 'rows', from: 99 }), 'There are 45 items; none from 99 on.');
});

test('[D9] a page is bounded, and pages of large items still reach every item', () => {
  const items = Array.from({ length: 30 }, (_, i) => ({ i, words: textOf(1500) }));
  const { read } = reader({ items, huge: [textOf(100_000)], text: textOf(100_000) });
  const seen: number[] = [];
  for (let from = 0; from < 30;) {
    const page = String(read({ name: 'items', from, count: 1000 }));
    assert.ok(page.length < 9000);
    const found = [...page.matchAll(/"i":(\d+)/g)].map((match) => Number(match[1]));
    assert.ok(found.length > 0);
    seen.push(...found);
    from += found.length;
  }
  assert.deepEqual(
    seen,
    items.map((each) => each.i),
  );
  assert.ok(String(read({ name: 'huge' })).length < 1000);
  assert.ok(String(read({ name: 'text', count: 1e6 })).length < 9000);
});

test('[D9] a wrong handle or path is a failed result with the existing handles, and no path leads out of the value', () => {
  const { read } = reader({ a: { b: 1 } });
  assert.deepEqual(
    read({ name: 'x' }),
    outputOf({
      failed: true,
      text: 'There is no handle "x". There are: a.',
    }),
  );
  for (const path of ['/constructor', '/__proto__', '/b/toString', '/c'])
    assert.equal((read({ name: 'a', path }) as ToolOutput).failed, true);
});

test('[D9] no page ends in half a surrogate pair', () => {
  const text = `${textOf(199)}${'😀'.repeat(300)}`;
  const { read } = reader({ text });
  assert.equal(
    read({ name: 'text', from: 0, count: 200 }),
    `characters 0 to 200 of 799; continue with from 201\n${textOf(199)}😀`,
  );
  assert.ok(String(read({ name: 'text', from: 200, count: 5 })).isWellFormed());
});

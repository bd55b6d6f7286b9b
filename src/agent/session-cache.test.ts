// The session cache: names, order, snapshots, and values on disk.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { SessionCache, type SessionCacheOptions } from './session-cache.ts';

function cacheIn(t: test.TestContext, options: SessionCacheOptions = {}): { cache: SessionCache; dir: string } {
  const dir = mkdtempSync(path.join(tmpdir(), 'fairlead-test-'));
  const cache = new SessionCache({ storageDir: dir, ...options });
  t.after(() => {
    cache.close();
    rmSync(dir, { recursive: true, force: true });
  });
  return { cache, dir };
}

const pathOf = (cache: SessionCache, handle: string): string =>
  cache.storageMetadata({ includePaths: true })[handle]?.path ?? assert.fail(`${handle} is not on disk`);

test('[D9] a value is stored under its name, and a second one of that name under a numbered name', () => {
  const cache = new SessionCache();
  assert.deepEqual([cache.put('a', 1), cache.put('a', 2), cache.put('a', 3)], ['a', 'a_2', 'a_3']);
  assert.deepEqual([cache.get('a'), cache.get('a_2'), cache.get('a_3')], [1, 2, 3]);
  assert.equal(cache.put('a', 4, { overwrite: true }), 'a');
  assert.equal(cache.get('a'), 4);
  assert.deepEqual([cache.delete('a_2'), cache.delete('a_2'), cache.hasHandle('a_2')], [true, false, false]);
  assert.equal(cache.put('a', 5), 'a_2');
});

test('[D9] a handle is a JavaScript identifier and no reserved word', () => {
  const cache = new SessionCache();
  for (const name of ['x', '_', '$a1', 'größe', '数']) assert.equal(cache.put(name, 1), name);
  for (const name of [
    '',
    '1a',
    'a-b',
    'a b',
    'class',
    'await',
    'let',
    'eval',
    '__proto__',
    'x'.repeat(101),
    7 as unknown as string,
  ])
    assert.throws(() => cache.put(name, 1), { code: 'cache/bad-name', blame: 'user' });
});

test('[D9] an unknown handle is an error that lists the existing ones', () => {
  const cache = new SessionCache();
  cache.put('here', 1);
  assert.throws(() => cache.get('gone'), {
    code: 'cache/unknown-handle',
    message: 'There is no handle "gone".',
    hint: 'There are: here.',
  });
});

test('[D9] handles are listed most recently used first, and listing them does not count as a use', () => {
  const cache = new SessionCache();
  for (const name of ['a', 'b', 'c']) cache.put(name, name);
  cache.get('a');
  cache.snapshot('b');
  cache.describe('b');
  cache.storageMetadata();
  assert.deepEqual(cache.handleNames(), ['a', 'c', 'b']);
  assert.deepEqual(
    cache.listHandles().map((each) => each.handle),
    ['a', 'c', 'b'],
  );
});

test('[D9] above the limit the least recently used values go to disk, and reading one loads it', (t) => {
  const { cache } = cacheIn(t, { hotLimit: 2 });
  const places = () =>
    Object.entries(cache.storageMetadata()).map(([name, info]) => `${name} ${info.location} ${info.storageType}`);
  for (const name of ['a', 'b', 'c']) cache.put(name, { name });
  assert.deepEqual(places(), ['c memory value', 'b memory value', 'a disk json']);
  const file = pathOf(cache, 'a');
  assert.deepEqual(cache.get('a'), { name: 'a' });
  assert.deepEqual(places(), ['a memory value', 'c memory value', 'b disk json']);
  assert.ok(!existsSync(file));
});

test('[D9] reading names, snapshots or storage loads nothing from disk', (t) => {
  const { cache } = cacheIn(t, { hotLimit: 1 });
  for (const name of ['a', 'b', 'c']) cache.put(name, [name]);
  const file = pathOf(cache, 'a');
  writeFileSync(file, 'this message is not read');
  cache.snapshots();
  cache.listHandles();
  cache.describe('a');
  cache.getSemantics('a');
  assert.deepEqual(cache.snapshot('a'), { type: 'list', length: 1, sample: ['a'] });
  assert.equal(Object.values(cache.storageMetadata()).filter((info) => info.location === 'disk').length, 2);
});

test('[D9] files are private, complete if they exist, and removed by close', (t) => {
  const { cache, dir } = cacheIn(t, { hotLimit: 1 });
  cache.put('a', 'first');
  assert.deepEqual(readdirSync(dir), [], 'the directory is created when the first value is stored on disk');
  cache.put('b', 'second');
  const file = pathOf(cache, 'a');
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal(statSync(path.dirname(file)).mode & 0o777, 0o700);
  assert.equal(readFileSync(file, 'utf8'), '"first"');
  assert.deepEqual(readdirSync(path.dirname(file)), ['1.json']);
  cache.close();
  assert.deepEqual(readdirSync(dir), []);
  assert.throws(() => cache.get('a'), { code: 'cache/closed' });
  cache.close();
});

test('[D9] a storage directory without a limit keeps ten values in memory; a limit without a directory uses a temporary one', (t) => {
  const { cache } = cacheIn(t);
  for (let i = 0; i < 12; i++) cache.put('v', i);
  assert.equal(Object.values(cache.storageMetadata()).filter((info) => info.location === 'memory').length, 10);
  using temporary = new SessionCache({ hotLimit: 1 });
  temporary.put('a', 1);
  temporary.put('b', 2);
  assert.ok(pathOf(temporary, 'a').startsWith(tmpdir()));
});

test('a program that exits without closing its cache leaves no directory', () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'fairlead-test-'));
  const source = `const { SessionCache } = await import(${JSON.stringify(new URL('session-cache.ts', import.meta.url).href)});
    const cache = new SessionCache({ storageDir: ${JSON.stringify(dir)}, hotLimit: 1 });
    cache.put('a', 1); cache.put('b', 2);
    console.log((await import('node:fs')).readdirSync(${JSON.stringify(dir)}).length);`;
  const child = spawnSync(process.execPath, ['--input-type=module', '-e', source], { encoding: 'utf8' });
  assert.equal(child.stdout, '1\n', child.stderr);
  assert.deepEqual(readdirSync(dir), []);
  rmSync(dir, { recursive: true });
});

class Own {
  n = 1;
}

test('[D9] values that must stay in memory do not count against the limit', (t) => {
  const { cache } = cacheIn(t, { hotLimit: 2 });
  cache.put('own', new Own());
  for (const name of ['a', 'b']) cache.put(name, name);
  cache.get('own');
  cache.put('c', 'c');
  const hot = Object.entries(cache.storageMetadata()).filter(([, info]) => info.location === 'memory');
  assert.deepEqual(
    hot.map(([name]) => name),
    ['c', 'own', 'b'],
  );
});

test('[D9] a deleted or overwritten value leaves no file', (t) => {
  const { cache } = cacheIn(t, { hotLimit: 1 });
  for (const name of ['a', 'b', 'c']) cache.put(name, name);
  const files = [pathOf(cache, 'a'), pathOf(cache, 'b')];
  cache.delete('a');
  cache.put('b', 'new', { overwrite: true });
  assert.deepEqual(
    files.map((file) => existsSync(file)),
    [false, false],
  );
});

test('[D9] a value changed in place is shown and stored as it is now', (t) => {
  const { cache } = cacheIn(t, { hotLimit: 1 });
  const list = [1];
  cache.put('v', list);
  list.push(2);
  assert.deepEqual(cache.snapshot('v'), { type: 'list', length: 2, sample: [1, 2] });
  list.push(3);
  cache.put('other', 0);
  assert.deepEqual(cache.snapshot('v'), { type: 'list', length: 3, sample: [1, 2, 3] });
  const back = cache.get('v') as number[];
  back.push(4);
  cache.get('other');
  assert.deepEqual(cache.snapshot('v'), { type: 'list', length: 4, sample: [1, 2, 3, 4] });
  assert.deepEqual(cache.get('v'), [1, 2, 3, 4]);
  assert.ok(!Object.isFrozen(back));
});

test('[D9] a changed, truncated or removed file is an error, not another value', (t) => {
  const { cache } = cacheIn(t, { hotLimit: 1 });
  for (const name of ['json', 'cut', 'gone', 'last']) cache.put(name, new Uint8Array([1, 2, 3]));
  writeFileSync(pathOf(cache, 'json'), 'FLARRAY\u0002abc');
  const cut = pathOf(cache, 'cut');
  writeFileSync(cut, readFileSync(cut).subarray(0, -1));
  rmSync(pathOf(cache, 'gone'));
  for (const name of ['json', 'cut', 'gone'])
    assert.throws(() => cache.get(name), {
      code: 'cache/lost',
      blame: 'store',
      message: new RegExp(`The value of ${name} cannot be read back`),
    });
  assert.equal(cache.hasHandle('gone'), true);
});

test('[D9] a full disk loses nothing', (t) => {
  const { cache } = cacheIn(t, { hotLimit: 1 });
  cache.put('a', 1);
  cache.put('b', 2);
  const folder = path.dirname(pathOf(cache, 'a'));
  rmSync(folder, { recursive: true });
  cache.put('c', 3);
  assert.match(cache.storageMetadata()['b']?.problem ?? '', /ENOENT/);
  assert.deepEqual([cache.get('b'), cache.get('c')], [2, 3]);
});

test('[D9] semantics and chart stay with the value', () => {
  const cache = new SessionCache();
  cache.put('late', {}, { chart: true });
  cache.put('plain', 1, { semantics: { unit: 'EUR' } });
  cache.put('chart', {}, { chart: true, semantics: 'sales by month' });
  cache.get('late');
  assert.deepEqual(cache.listCharts(), ['late', 'chart']);
  assert.deepEqual(cache.getSemantics('plain'), { unit: 'EUR' });
  assert.deepEqual(cache.snapshot('plain'), { type: 'scalar', value: 1, semantics: { unit: 'EUR' } });
  assert.equal(cache.describe('chart'), 'chart: object of 0 keys (); sales by month');
});

test('[D9] an answer stays until it is cleared', () => {
  const cache = new SessionCache();
  assert.equal(cache.getAnswer(), undefined);
  cache.setAnswer([1]);
  assert.deepEqual(cache.getAnswer(), [1]);
  cache.clearAnswer();
  assert.equal(cache.getAnswer(), undefined);
});

test('invalid options are refused', () => {
  for (const options of [{ hotLimit: 0 }, { hotLimit: 1.5 }, { sampleSize: -1 }, { sampleSize: Number.NaN }])
    assert.throws(() => new SessionCache(options), { code: 'cache/bad-option', blame: 'user' });
});

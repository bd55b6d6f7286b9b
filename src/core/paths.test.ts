// Tests path containment and file name folding.
import assert from 'node:assert/strict';
import test from 'node:test';
import { isLoopbackHost, isLoopbackUrl } from './loopback.ts';
import { isPathInside, normalizeFileName } from './paths.ts';

test('a path is inside a directory segment by segment, never by string prefix', () => {
  for (const [folder, path, expected] of [
    ['/a/b', '/a/b', true],
    ['/a/b/', '/a/b/c', true],
    ['/', '/a', true],
    ['/a/b', '/a/bc', false],
    ['/a/b', '/a', false],
    ['/a/b', '/a/b/..x/file', true],
    ['/a/b', '/a/b/...', true],
    ['/a/b', '/a/b/../c', false],
    ['/a/b', '/a/./b//c/../d', true],
    ['/a/b', '/../../a/b/c', true],
    ['/a/b', '/A/b/c', false],
    ['/a\\b', '/a/b', false],
    ['a', 'a/b', true],
    ['a', '../a/b', false],
    ['C:\\Work', 'c:/WORK/src', true],
    ['C:\\Work', 'D:\\Work\\src', false],
    ['C:\\Work', 'C:\\Workshop', false],
    ['\\\\server\\share', '\\\\server\\share\\file', true],
  ] as const)
    assert.equal(isPathInside(folder, path), expected, `${folder} ${path}`);
  assert.throws(() => isPathInside('/a', 'a/b'), TypeError);
  assert.throws(() => isPathInside('a', '/a/b'), TypeError);
});

test('names that a file system may treat as one have one normal form', () => {
  for (const name of ['.git', '.GIT', '.g\u200bit', '.\u2060git', '.git. ', '.\uff47it', '\ufeff.git'])
    assert.equal(normalizeFileName(name), '.git', JSON.stringify(name));
  assert.notEqual(normalizeFileName('.gitx'), '.git');
});

test('only addresses that no other machine can reach are loopback', () => {
  for (const host of ['localhost', 'LOCALHOST', '127.0.0.1', '127.255.0.9', '::1', '[::1]'])
    assert.ok(isLoopbackHost(host), host);
  for (const host of [
    '',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '127.0.0.256',
    '0.0.0.0',
    '128.0.0.1',
    '::2',
  ])
    assert.ok(!isLoopbackHost(host), host);
  assert.ok(isLoopbackUrl('http://127.1:80/v1') && isLoopbackUrl('https://[::1]:8443'));
  assert.ok(!isLoopbackUrl('not a url') && !isLoopbackUrl('http://localhost@evil.example'));
});

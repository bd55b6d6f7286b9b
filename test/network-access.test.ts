// Tests that the repository lint finds every way to open a connection outside the network guard.
import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import { checkNetworkAccess, findNetworkAccess } from '../scripts/lint-repo/network-access.ts';
import { parseSourceFile, readSourceTree } from '../scripts/lint-repo/source-tree.ts';

const count = (text: string): number => findNetworkAccess(parseSourceFile('src/tools/a.ts', text)).length;

test('[attack 104] product code opens connections only through the network guard and in the listed files', () => {
  assert.deepEqual(checkNetworkAccess(readSourceTree(path.resolve(import.meta.dirname, '..'))), []);
});

test('every way to open a connection is found', () => {
  for (const text of [
    "await fetch('http://x');",
    'const send = fetch;',
    'run({ fetch });',
    'run({ fetch: fetch });',
    'run(fetch);',
    'const f = (plain = fetch) => plain;',
    'const f = options.fetch ?? fetch;',
    "globalThis.fetch('http://x');",
    "globalThis['fet' + 'ch']('http://x');",
    'new WebSocket(url);',
    'new EventSource(url);',
    "import http from 'node:http';",
    "import { connect } from 'node:net';",
    "import * as tls from 'node:tls';",
    "import { isIP, connect } from 'net';",
    "import { request } from 'undici';",
    "const http = process.getBuiltinModule('node:http');",
    "const { get } = await import('node:https');",
    "const { get } = await import('https');",
    'function f(fetch) { return fetch(url); }',
  ])
    assert.ok(count(text) > 0, text);
});

test('types, addresses and methods of the name fetch are no connection', () => {
  for (const text of [
    "import type http from 'node:http';",
    "import { isIP, type Socket } from 'node:net';",
    'await workspace.fetch(request);',
    'const made = { fetch: app.fetch };',
    'const made = { async fetch(request) { return request; } };',
    'type Send = typeof globalThis.fetch;',
    'const make = (fetch: typeof globalThis.fetch) => create({ fetch });',
    'const { fetch } = workspace; use(fetch);',
    "const protocol = 'http';",
  ])
    assert.equal(count(text), 0, text);
});

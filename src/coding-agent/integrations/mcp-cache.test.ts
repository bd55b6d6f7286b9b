// Tests of the cache of MCP tools: private, by the exact server, and absent if it cannot be written.
import assert from 'node:assert/strict';
import { chmodSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { createTempDir, createUserServer } from '../../../test/support/mcp-fixture.ts';
import type { McpStdioConfig, CachedMcpServer } from '../../tools/mcp/index.ts';
import { createMcpCache } from './mcp-cache.ts';

const reach: McpStdioConfig = { type: 'stdio', command: 'node', args: [], env: {} };
const server = createUserServer('s', reach);
const had: CachedMcpServer = {
  tools: [{ name: 'a', inputSchema: { type: 'object' } }],
  resources: true,
  prompts: false,
};

test('the cached tools of a server are found for exactly that server, until they are removed', (t) => {
  const folder = createTempDir(t);
  const memory = createMcpCache(folder);
  assert.equal(memory.get(server), undefined);
  memory.set(server, had);
  assert.deepEqual(createMcpCache(folder).get(server), had);
  assert.equal(memory.get(createUserServer('s', { ...reach, args: ['x'] })), undefined);
  assert.equal(memory.get(createUserServer('t', reach)), undefined);
  const [file = ''] = readdirSync(path.join(folder, 'mcp'));
  assert.equal(statSync(path.join(folder, 'mcp', file)).mode & 0o777, 0o600);
  memory.remove(server);
  memory.remove(server);
  assert.equal(memory.get(server), undefined);
});

test('a server that was too slow is marked as slow until it has answered', (t) => {
  const memory = createMcpCache(createTempDir(t));
  assert.equal(memory.isSlow(server), false);
  memory.markSlow(server);
  assert.equal(memory.isSlow(server), true);
  assert.equal(memory.get(server), undefined);
  memory.set(server, had);
  assert.equal(memory.isSlow(server), false);
});

test('a cache that is damaged, too large or cannot be written is treated as absent, and nothing fails', (t) => {
  const folder = createTempDir(t);
  const memory = createMcpCache(folder);
  memory.set(server, had);
  const [file = ''] = readdirSync(path.join(folder, 'mcp'));
  writeFileSync(path.join(folder, 'mcp', file), '{"tools":');
  assert.equal(memory.get(server), undefined);
  memory.set(server, { ...had, tools: [{ ...had.tools[0], description: 'x'.repeat(5_000_000) } as never] });
  assert.deepEqual(readdirSync(path.join(folder, 'mcp')), []);
  writeFileSync(path.join(folder, 'blocked'), '');
  chmodSync(path.join(folder, 'blocked'), 0o400);
  createMcpCache(path.join(folder, 'blocked')).set(server, had);
});

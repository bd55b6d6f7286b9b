// What is kept of MCP servers: for its owner alone, under the server as it is, and nothing where it cannot be kept.
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

test('what a server had is known again under exactly that server, until it is forgotten', (t) => {
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

test('a server that was too slow is known for that until it has been spoken to', (t) => {
  const memory = createMcpCache(createTempDir(t));
  assert.equal(memory.isSlow(server), false);
  memory.markSlow(server);
  assert.equal(memory.isSlow(server), true);
  assert.equal(memory.get(server), undefined);
  memory.set(server, had);
  assert.equal(memory.isSlow(server), false);
});

test('what is broken, too large or cannot be written is not there, and nothing fails', (t) => {
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

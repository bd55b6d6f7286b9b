// The real program used by the protocol's own client: its tools, what it refuses, what it asks, and a whole run.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { bin, program, type Program } from '../../../test/support/live-program.ts';
import { calls, says } from '../../testing/index.ts';

async function connect(t: TestContext, made: Program, args: readonly string[] = []): Promise<Client> {
  const client = new Client({ name: 'a test', version: '1' });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [bin, 'mcp', 'serve', ...args],
    cwd: made.cwd,
    env: made.env,
    stderr: 'pipe',
  });
  await client.connect(transport);
  t.after(() => client.close());
  return client;
}

test('reading is free, and a write is refused where nobody can be asked', async (t) => {
  const made = await program(t);
  writeFileSync(path.join(made.cwd, 'a.txt'), 'hello\n');
  const client = await connect(t, made);
  const { tools } = await client.listTools();
  assert.ok(tools.some(({ name }) => name === 'run_agent'));
  console.log(tools.map(({ name, annotations }) => [name, annotations]));
  const read = await client.callTool({ name: 'read_file', arguments: { path: 'a.txt' } });
  console.log(read);
  const write = await client.callTool({ name: 'write_file', arguments: { path: 'b.txt', content: 'x' } });
  console.log(write);
  assert.equal(existsSync(path.join(made.cwd, 'b.txt')), false);
  const bad = await client.callTool({ name: 'read_file', arguments: { nothing: 1 } });
  console.log(bad);
});

test('run_agent runs', async (t) => {
  const made = await program(t, [calls('write_file', { path: 'b.txt', content: 'x' }), says('Written.')]);
  await made.known('qwen3');
  const client = await connect(t, made, ['--allow-write']);
  const news: unknown[] = [];
  const came = await client.callTool(
    { name: 'run_agent', arguments: { prompt: 'write it' } },
    { onprogress: (each) => void news.push(each) },
  );
  console.log(JSON.stringify(came), news);
  assert.equal(readFileSync(path.join(made.cwd, 'b.txt'), 'utf8'), 'x');
});

// Tests prompts of MCP servers in the real program: they are listed, and one is sent with its arguments and without secrets.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { writeFiles } from './support/program-dirs.ts';
import { createProgram } from './support/cli-harness.ts';

const token = 'ghp_aZ3kQ9xLm2Rt7VbN5cYw8HdP4sJf6GgT1uKe';

/** A server with one prompt. */
const server = `
import { createInterface } from 'node:readline';
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { prompts: {} }, serverInfo: { name: 'p', version: '1' } }),
  'prompts/list': () => ({ prompts: [{ name: 'greet', description: 'Greets.', arguments: [{ name: 'who', required: true }] }] }),
  'prompts/get': ({ arguments: { who } }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: 'Greet ' + who + ' with ${token}.' } }],
  }),
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = answers[method];
  const said = answer ? { result: answer(params) } : { error: { code: -32601, message: 'no ' + method } };
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...said }));
}
`;

test('[P63] [attack 87] the prompts of a server are listed, and one is sent with its arguments and with secrets redacted', async (t) => {
  const program = await createProgram(t);
  await program.seedModels('qwen3');
  const file = path.join(program.home, 'server.mjs');
  writeFileSync(file, server);
  writeFiles(program.config(), {
    'mcp.json': JSON.stringify({ mcpServers: { poet: { command: process.execPath, args: [file] } } }),
  });
  const input = '/mcp prompts\n/mcp prompt poet greet who="Ann and Bob"\n/mcp prompt nobody greet\n';
  const { code, out, err } = await program.run(['--interactive'], { input });
  assert.equal(code, 0, err);
  assert.match(out + err, /\/mcp prompt poet greet who=…: Greets\./);
  assert.match(out + err, /nobody/);
  const asked = JSON.stringify(program.modelRequests().map(({ body }) => body));
  assert.match(asked, /Greet Ann and Bob with \[redacted: repository token\]\./);
  assert.ok(![asked, out, err].some((text) => text.includes(token)));
});

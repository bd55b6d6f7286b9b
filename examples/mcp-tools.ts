// Gives an agent the tools of an MCP server. Here the server is a small program; any command or URL works the same way.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Agent } from 'fairlead';
import { memoryTrust } from 'fairlead/guards';
import { openMcp, parseMcpConfig } from 'fairlead/mcp';
import { calls, scriptedProvider } from 'fairlead/testing';

const dir = mkdtempSync(path.join(tmpdir(), 'fairlead-example-'));
const server = path.join(dir, 'server.mjs');
writeFileSync(
  server,
  `import { createInterface } from 'node:readline';
const tools = [{ name: 'greeting', description: 'Returns a greeting.', inputSchema: { type: 'object', properties: {} } }];
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'greeter', version: '1' } }),
  'tools/list': () => ({ tools }),
  'tools/call': () => ({ content: [{ type: 'text', text: 'Hello from MCP.' }] }),
};
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method]?.(params) ?? {} }));
});
`,
);

// The format is that of mcp.json. Servers of the origin `project` start only after the user approved them.
const config = JSON.stringify({
  mcpServers: { greeter: { command: process.execPath, args: [server], onDemand: false } },
});
const { servers, problems } = parseMcpConfig(config, { file: path.join(dir, 'mcp.json'), origin: 'user' });
const mcp = await openMcp(servers, { trust: memoryTrust() });

const model = scriptedProvider(({ results }) =>
  results.length === 0 ? calls('mcp__greeter__greeting') : `The server says: ${results[0]}`,
);
const agent = new Agent({ model, tools: mcp.tools });
const result = await agent.run('Greet me.');
await mcp.close();

console.log(result.text);
assert.deepEqual(problems, []);
assert.match(result.text, /Hello from MCP\./);
rmSync(dir, { recursive: true });

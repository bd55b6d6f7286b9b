// The list of MCP tools that the user switched off: what is written, what is read, and that an invalid list switches all off.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { readMcpToolsOff, switchMcpTool } from './mcp-tools-off.ts';

test('a tool is switched off and on; servers and unknown keys of the file stay as they are', (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-tools-off-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'mcp.json');
  const isOff = (server: string, tool: string): boolean => readMcpToolsOff(folder).isOff({ name: server }, tool);
  assert.ok(!isOff('clerk', 'greet'), 'without a file all tools are on');
  const config = { mcpServers: { clerk: { command: 'clerk' } }, outsideSandbox: ['/srv'] };
  writeFileSync(file, JSON.stringify(config));
  switchMcpTool(folder, 'clerk', 'greet', false);
  switchMcpTool(folder, 'clerk', '__proto__', false);
  switchMcpTool(folder, '__proto__', 'die', false);
  assert.ok(isOff('clerk', 'greet') && isOff('clerk', '__proto__') && isOff('__proto__', 'die'));
  assert.ok(!isOff('clerk', 'die') && !isOff('constructor', 'greet') && !isOff('clerk2', 'greet'));
  if (process.platform !== 'win32') assert.equal(statSync(file).mode & 0o077, 0, 'headers may contain keys');
  switchMcpTool(folder, 'clerk', 'greet', true);
  switchMcpTool(folder, 'clerk', '__proto__', true);
  switchMcpTool(folder, '__proto__', 'die', true);
  assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), config);
});

test('if the list cannot be read, all tools are off, and the user is told', (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-tools-off-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const text of ['{', '{"toolsOff":["greet"]}', '{"toolsOff":{"clerk":"greet"}}', '{"toolsOff":{"clerk":[1]}}']) {
    writeFileSync(path.join(folder, 'mcp.json'), text);
    const { isOff, problems } = readMcpToolsOff(folder);
    assert.ok(isOff({ name: 'other' }, 'any'), text);
    assert.match(problems.join(), /"toolsOff" cannot be read, so no tool of an MCP server is used/);
  }
});

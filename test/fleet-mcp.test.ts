// MCP servers of queued runs in the real program: each run has its own, started at the first use of its tools, and ended with the run.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { calls, says } from '../src/testing/index.ts';
import { createFleetProgram, waitUntilTrue } from './support/fleet-program.ts';
import { isProcessAlive } from './support/cli-harness.ts';
import { writeFiles } from './support/program-dirs.ts';

const mcpServerPath = path.join(import.meta.dirname, 'support/mcp-stdio-server.ts');

test('[A85] a queued run starts an MCP server only if it uses one, shares it with no other run, and ends it', async (t) => {
  const program = await createFleetProgram(t, ({ prompt, results }) => {
    if (!prompt.startsWith('Greet') || results.length > 0) return says(results[0] ?? 'Nobody was greeted.');
    return calls('mcp__desk__greet', { a: prompt.slice(6) });
  });
  const desk = { command: process.execPath, args: [mcpServerPath, program.home] };
  writeFiles(program.config(), { 'mcp.json': JSON.stringify({ mcpServers: { desk } }) });
  const starts = (): readonly number[] => {
    const file = path.join(program.home, 'starts');
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').map(Number) : [];
  };
  // At first the server is queried for its tools; later they are known from the cache.
  await program.runCommand('enqueue', 'Say nothing', '--id', 'first');
  await program.runCommand('worker', '--drain');
  assert.equal(starts().length, 1);
  await program.runCommand('enqueue', 'Say nothing', 'Say nothing', '--id', 'quiet');
  await program.runCommand('worker', '--drain');
  assert.equal(starts().length, 1, 'a run without its tools does not start it');
  await program.runCommand('enqueue', 'Greet Kim', 'Greet Lee', '--id', 'greet', '--auto');
  await program.runCommand('worker', '--drain');
  const said = await Promise.all(
    ['greet-1', 'greet-2'].map(async (id) => (await program.waitForRun(id, 'ended')).outcome),
  );
  assert.match(said.map((outcome) => outcome?.text).join('\n'), /Hello Kim[^]*Hello Lee/);
  assert.equal(new Set(starts()).size, 3, 'each run has its own server');
  await waitUntilTrue('all of them have ended', () => starts().every((pid) => !isProcessAlive(pid)));
});

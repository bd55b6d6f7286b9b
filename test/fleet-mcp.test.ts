// MCP servers of queued runs, the real program: each run has its own, started when it uses one of its tools, and ended with it.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { calls, says } from '../src/testing/index.ts';
import { fleet, until } from './support/fleet.ts';
import { isProcessAlive } from './support/live-program.ts';
import { putFiles } from './support/program.ts';

const clerk = path.join(import.meta.dirname, 'support/mcp-clerk.ts');

test('[A85] a queued run starts an MCP server only where it uses one, shares it with nobody, and ends it', async (t) => {
  const made = await fleet(t, ({ prompt, results }) => {
    if (!prompt.startsWith('Greet') || results.length > 0) return says(results[0] ?? 'Nobody was greeted.');
    return calls('mcp__desk__greet', { a: prompt.slice(6) });
  });
  const desk = { command: process.execPath, args: [clerk, made.home] };
  putFiles(made.config(), { 'mcp.json': JSON.stringify({ mcpServers: { desk } }) });
  const starts = (): readonly number[] => {
    const file = path.join(made.home, 'starts');
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').map(Number) : [];
  };
  // The first time it is asked which tools it has; from then on that is known.
  await made.say('enqueue', 'Say nothing', '--id', 'first');
  await made.say('worker', '--drain');
  assert.equal(starts().length, 1);
  await made.say('enqueue', 'Say nothing', 'Say nothing', '--id', 'quiet');
  await made.say('worker', '--drain');
  assert.equal(starts().length, 1, 'who uses no tool of it pays nothing');
  await made.say('enqueue', 'Greet Kim', 'Greet Lee', '--id', 'greet', '--auto');
  await made.say('worker', '--drain');
  const said = await Promise.all(['greet-1', 'greet-2'].map(async (id) => (await made.stands(id, 'ended')).outcome));
  assert.match(said.map((outcome) => outcome?.text).join('\n'), /Hello Kim[^]*Hello Lee/);
  assert.equal(new Set(starts()).size, 3, 'each run its own');
  await until('all of them have ended', () => starts().every((pid) => !isProcessAlive(pid)));
});

// Tests the required time limits of a command from start to exit.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { defineTool, Harness } from '../src/agent/index.ts';
import { calls, says, scriptedProvider, scriptedServer } from '../src/testing/index.ts';
import { bin } from './support/program-dirs.ts';

function runPrompt(url: string, dir: string): Promise<{ readonly code: number | null; readonly out: string }> {
  const { promise, resolve } = Promise.withResolvers<{ code: number | null; out: string }>();
  const args = [bin, 'run', '--model', 'ollama/m', 'hi'];
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env['PATH'] ?? '', HOME: dir, OLLAMA_API_URL: url },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.on('close', (code) => resolve({ code, out }));
  return promise;
}

async function assertAnswers(): Promise<void> {
  const dir = mkdtempSync(path.join(tmpdir(), 'fairlead-latency-'));
  try {
    await using server = await scriptedServer(() => says('hello'), { models: [{ id: 'm' }] });
    assert.deepEqual(await runPrompt(server.url, dir), { code: 0, out: 'hello\n' });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

test('[P55] the first command answers within ten seconds, start-up included', { timeout: 10_000 }, assertAnswers);

test('[P56] later commands answer within five seconds', { timeout: 5000 }, assertAnswers);

test('[P57] a tool call adds at most two seconds of overhead', { timeout: 2000 }, async () => {
  const tool = defineTool({
    name: 'noop',
    description: 'Does nothing.',
    effect: 'write',
    input: { type: 'object' },
    run: () => 'ok',
  });
  const harness = new Harness({
    provider: scriptedProvider([calls('noop'), says('done')]),
    system: 's',
    tools: [tool],
    runDir: null,
  });
  assert.equal(await harness.run('go'), 'done');
});

test('[A2] an answer that a check rejects with an abstention is not a success', async () => {
  const check = { name: 'known', run: () => ({ type: 'abstained', why: 'There is no source for this.' }) as const };
  const harness = new Harness({
    provider: scriptedProvider([says('Surely 42.')]),
    system: 's',
    checks: [check],
    runDir: null,
  });
  const result = await harness.runResult('What is it?');
  assert.deepEqual(
    [result.status, result.reason, result.detail],
    ['stopped', 'abstained', 'There is no source for this.'],
  );
});

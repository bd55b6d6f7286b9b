// The `release` command as a user runs it: create, verify, promote by an eval gate, run queued runs on the release, and roll back.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { createProgram } from './support/cli-harness.ts';
import { writeFiles } from './support/program-dirs.ts';

test('[A105, A113, A114] an agent is released, drift is found, a gate decides about the promotion, and queued runs use the release', async (t) => {
  const program = await createProgram(t, ({ body, prompt }) => {
    const isPirate = /Talk like a pirate/.test(JSON.stringify(body));
    return prompt.includes('capital') ? (isPirate ? 'Arr, Paris!' : 'Paris') : isPirate ? 'Arr!' : 'Good day.';
  });
  await program.seedModels('qwen3');
  const agent = path.join(program.home, 'agent');
  const model = { model: 'ollama/qwen3' };
  writeFiles(agent, { 'AGENTS.md': 'Be polite.', 'config.json': JSON.stringify(model), '.env': 'SECRET=1' });
  writeFiles(program.home, {
    'cases.jsonl': '{"id":"capital","prompt":"The capital of France?","expect":{"equals":"Paris"}}\n',
  });
  const release = async (...args: readonly string[]): Promise<{ code: number | null; out: string; err: string }> =>
    program.run(['release', ...args]);

  const withoutKey = await release('create', agent, '--name', 'polite');
  assert.deepEqual([withoutKey.code, withoutKey.err.includes('fairlead release key')], [1, true]);
  assert.equal((await release('key')).code, 0);
  const created = await release('create', agent, '--name', 'polite');
  assert.match(created.out, /^[0-9a-f]{20} {2}polite: 2 files, \d+ tools, model ollama\/qwen3\n$/, created.err);
  assert.match(created.err, /\.env is left out/);

  const verified = await release('verify', 'polite', '--folder', agent);
  assert.deepEqual([verified.code, verified.out.includes('is as in the release')], [0, true], verified.err);
  writeFileSync(path.join(agent, 'AGENTS.md'), 'Talk like a pirate.');
  const drifted = await release('verify', 'polite', '--folder', agent);
  assert.deepEqual([drifted.code, /changed +prompt +AGENTS\.md/.test(drifted.out)], [1, true], drifted.out);
  assert.equal((await release('create', agent, '--name', 'pirate')).code, 0);
  assert.match((await release('diff', 'polite', 'pirate')).out, /^changed +prompt +AGENTS\.md\n$/);

  const gate = ['--gate', path.join(program.home, 'cases.jsonl')];
  const passed = await release('promote', 'polite', ...gate);
  assert.deepEqual([passed.code, /is in use for all runs/.test(passed.out)], [0, true], passed.err);
  const failed = await release('promote', 'pirate', ...gate);
  assert.deepEqual([failed.code, /the gate failed/.test(failed.out)], [1, true], failed.err);

  assert.equal((await program.run(['enqueue', '--id', 'one', 'Say hello.'])).code, 0);
  assert.equal((await program.run(['worker', '--drain'])).code, 0);
  const run = JSON.parse((await program.run(['runs', 'show', 'one', '--json'])).out) as {
    readonly outcome: { readonly text: string; readonly release?: string };
  };
  assert.deepEqual([run.outcome.text, run.outcome.release], ['Good day.', created.out.slice(0, 20)]);

  // A promotion without cases must be asked for.
  assert.equal((await release('promote', 'pirate')).code, 2);
  assert.equal((await release('promote', 'pirate', '--no-gate', '--share', '1')).code, 0);
  assert.equal((await program.run(['enqueue', '--id', 'two', 'Say hello.'])).code, 0);
  assert.equal((await program.run(['worker', '--drain'])).code, 0);
  assert.match((await program.run(['runs', 'show', 'two', '--json'])).out, /"text": ?"Arr!"/);
  assert.match((await release('rollback', 'too', 'rude')).out, /is no longer used \(.*too rude\)/);
  assert.match((await release('list')).out, /polite .*in use\n/);
  const history = await release('history');
  assert.equal(history.out.trimEnd().split('\n').length, 4, history.out);

  // A key in a file of the agent is not released.
  writeFiles(agent, {
    'config.json': JSON.stringify({ ...model, keys: { OPENAI_API_KEY: 'sk-abcdefghijklmnopqrstuvwx1234567890' } }),
  });
  const leaked = await release('create', agent, '--name', 'leaky');
  assert.deepEqual([leaked.code, /contains a secret/.test(leaked.err)], [1, true], leaked.err);
  const stored = readdirSync(program.data('releases'), { recursive: true, withFileTypes: true });
  for (const each of stored.filter((entry) => entry.isFile()))
    assert.ok(!readFileSync(path.join(each.parentPath, each.name), 'utf8').includes('sk-abcdef'), each.name);
});

// Tests the required limits of latency, memory and cost with the kept results of the benchmark, and that a later command repeats no initialisation.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { compareWithTargets, type TargetsFile } from '../bench/compare-targets.ts';
import { Harness } from '../src/agent/index.ts';
import { says, scriptedProvider } from '../src/testing/index.ts';
import { createProgram } from './support/cli-harness.ts';

const root = path.resolve(import.meta.dirname, '..');
const file = JSON.parse(readFileSync(path.join(root, 'bench/targets.json'), 'utf8')) as TargetsFile;

test('[P55, P56, P57, P79] the kept results of the benchmark meet the limits of latency, memory and cost', () => {
  const limit = (name: string): number | undefined => file.targets.find((target) => target.name === name)?.max;
  assert.ok((limit('first command') ?? Infinity) <= 10_000, 'start-up included');
  assert.ok((limit('later command') ?? Infinity) <= 5000);
  assert.ok((limit('slowest tool call') ?? Infinity) <= 2000);
  assert.ok((limit('first request') ?? Infinity) <= 6144);
  assert.deepEqual(new Set(file.targets.map(({ unit }) => unit)), new Set(['ms', 'MB', 'bytes', 'USD']));
  const { lines, isMet } = compareWithTargets(file, file.kept.values);
  assert.ok(isMet, lines.join('\n'));
  assert.match(`${file.kept.when} ${file.kept.machine}`, /^\d{4}-\d\d-\d\d Node v\d+/);
});

test('[P79] the command of the benchmark fails if a value is above its limit or missing', (t) => {
  const dir = mkdtempSync(path.join(tmpdir(), 'fairlead-targets-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const compare = (values: Readonly<Record<string, number>>): readonly [number | null, string] => {
    const valuesFile = path.join(dir, 'values.json');
    writeFileSync(valuesFile, JSON.stringify(values));
    const args = [path.join(root, 'bench/targets.ts'), '--values', valuesFile];
    const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    return [status, stdout];
  };
  const met = compare(file.kept.values);
  assert.equal(met[0], 0, met[1]);
  const [status, out] = compare({ ...file.kept.values, 'later command': 5001 });
  assert.equal(status, 1);
  assert.match(out, /^FAIL {2}later command +5001 ms \(limit 5000 ms, x[\d.]+ of the kept result\)$/m);
  const { 'memory of a task': _, ...rest } = file.kept.values;
  assert.match(compare(rest).join(' '), /^1 [^]*FAIL {2}memory of a task +not measured/);
});

test('[P55, P56] the first command answers in an empty home, and a later one repeats no initialisation', async (t) => {
  const program = await createProgram(t, () => says('hello'), { models: [{ id: 'm', tools: true, context: 8192 }] });
  const paths = (): readonly string[] => program.server.requests.map((request) => request.path);
  const run = async (): Promise<void> => {
    const ended = await program.run(['run', '--model', 'ollama/m', 'hi'], {
      env: { OLLAMA_API_URL: program.server.url },
    });
    assert.deepEqual(ended, { code: 0, out: 'hello\n', err: '' });
  };
  await run();
  const first = paths();
  program.server.clearRequests();
  await run();
  assert.ok(first.includes('/api/tags'), 'the list of models is fetched at the first start');
  assert.ok(!paths().includes('/api/tags'), 'and not again');
  assert.ok(paths().length < first.length);
  assert.equal(paths().at(-1), '/api/chat');
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

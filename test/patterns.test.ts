// The patterns as a user of the package finds them: the documented import, what a program without them loads, and the measurement.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { plantFindings, scorePairs } from '../bench/planted-findings.ts';
import { getSubpathSources } from '../scripts/docs/exports.ts';
import { readSourceTree } from '../scripts/lint-repo/source-tree.ts';
import { dedupeFindings } from '../src/agent/patterns/index.ts';

const root = path.resolve(import.meta.dirname, '..');

test('[A70, A103, A120] fairlead/patterns is a documented import with every pattern, and no other import of the package loads it', async () => {
  const subpaths = getSubpathSources(readFileSync(path.join(root, 'package.json'), 'utf8'));
  const entry = subpaths.get('fairlead/patterns') ?? '';
  assert.match(readFileSync(path.join(root, 'docs/agents.md'), 'utf8'), /`fairlead\/patterns`.*patterns\.md/);
  const names = [
    'createFolderWorkspace',
    'createValueWorkspace',
    'debate',
    'dedupeFindings',
    'mapReduce',
    'orchestrateWorkers',
    'refineAnswer',
    'searchTree',
  ];
  const loaded = (await import(path.join(root, entry))) as object;
  const guide = readFileSync(path.join(root, 'docs/patterns.md'), 'utf8');
  for (const name of names) assert.ok(name in loaded && guide.includes(`\`${name}`), name);
  const { sources } = readSourceTree(root);
  const users = [...sources.values()].filter(
    ({ path: file, imports }) =>
      file.startsWith('src/') &&
      !file.startsWith('src/agent/patterns/') &&
      imports.some(({ target, kind }) => kind !== 'type' && target?.startsWith('src/agent/patterns/')),
  );
  assert.deepEqual(
    users.map(({ path: file }) => file),
    [],
  );
});

test('[A70] near-duplicates on a planted set of more than 300 findings that no threshold was chosen on', () => {
  const planted = plantFindings({ kinds: 'measurement', seed: 11, defects: 150 });
  assert.ok(planted.length >= 300);
  const { kept } = dedupeFindings(planted);
  const scores = scorePairs(
    planted,
    kept.map(({ sources }) => sources.map(({ index }) => index)),
  );
  assert.ok(scores.precision >= 0.85 && scores.recall >= 0.45, JSON.stringify(scores));
  // The scores themselves can be wrong: one cluster of everything, and none at all.
  const all = [...planted.keys()];
  assert.ok(scorePairs(planted, [all]).precision < 0.05);
  assert.equal(scorePairs(planted, [all]).recall, 1);
  assert.equal(
    scorePairs(
      planted,
      all.map((index) => [index]),
    ).recall,
    0,
  );
});

test('the measurement of the patterns runs and prints paired differences with intervals', () => {
  const run = (): string => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [path.join(root, 'bench/patterns.ts'), '3'], {
      encoding: 'utf8',
    });
    assert.equal(status, 0, stderr);
    return stdout;
  };
  const printed = run();
  assert.match(printed, /refineAnswer against best of N: [+-][\d.]+ \[-?[\d.]+, -?[\d.]+\] points/);
  assert.match(printed, /searchTree against vote: /);
  assert.match(printed, /words alone: precision [\d.]+ %, recall [\d.]+ %/);
  assert.equal(run(), printed, 'it depends on its seeds alone');
});

// Drift of models: a baseline for each provider, model and cases, compared case by case, with few false alarms over many models.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { createRandom } from '../../checks/index.ts';
import {
  computeModelDrift,
  readModelBaselines,
  saveModelMeasurement,
  type ModelBaseline,
  type ModelMeasurement,
} from './model-drift.ts';

function createFolder(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-baselines-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return path.join(folder, 'baselines');
}

const measure = (rates: readonly number[], when = '2030-01-01T00:00:00Z', version = 'v1'): ModelMeasurement => ({
  good: rates.filter((rate) => rate === 1).length,
  total: rates.length,
  when,
  version,
  cases: Object.fromEntries(rates.map((rate, i) => [`c${i}`, rate])),
});
const about = { provider: 'acme', model: 'm', dataset: 'traps', datasetId: 'd1' };
const allRight = Array.from({ length: 20 }, () => 1);

test('[A65] a model that became worse than its baseline has drifted, and a new version is named', (t) => {
  const folder = createFolder(t);
  const first = saveModelMeasurement(folder, about, measure(allRight));
  assert.equal(computeModelDrift([first])[0]?.verdict, 'not enough data');
  saveModelMeasurement(folder, about, measure(allRight, '2030-01-02T00:00:00Z'));
  assert.equal(computeModelDrift(readModelBaselines(folder))[0]?.verdict, 'steady');
  const worse = allRight.map((_, i) => (i < 8 ? 0 : 1));
  saveModelMeasurement(folder, about, measure(worse, '2030-01-03T00:00:00Z', 'v2'));
  const [drift] = computeModelDrift(readModelBaselines(folder));
  assert.equal(drift?.verdict, 'drifted');
  assert.ok(drift.change && drift.change.value === -0.4 && drift.change.interval[1] < 0);
  assert.match(drift.description, /acme\/m on traps, against the baseline of 2030-01-01; the version was v1 and is v2/);
  saveModelMeasurement(folder, about, measure(worse, '2030-01-04T00:00:00Z', 'v2'), { accept: true });
  const [accepted] = readModelBaselines(folder);
  assert.deepEqual([accepted?.baseline.version, accepted?.latest], ['v2', undefined]);
});

test('[A65] other cases, another model and another provider have baselines of their own, and a damaged file is ignored', (t) => {
  const folder = createFolder(t);
  for (const other of [about, { ...about, datasetId: 'd2' }, { ...about, model: 'n' }, { ...about, provider: 'b' }])
    assert.equal(saveModelMeasurement(folder, other, measure(allRight)).latest, undefined);
  assert.equal(readModelBaselines(folder).length, 4);
  const [name = ''] = readdirSync(folder);
  writeFileSync(path.join(folder, name), '{"format":1,"baseline":{"good":9,"total":1}}');
  assert.equal(readModelBaselines(folder).length, 3);
  assert.deepEqual(readModelBaselines(path.join(folder, 'none')), []);
});

test('[A65] with ten models that did not change, a false alarm is as rare as for one', (t) => {
  const random = createRandom(5);
  const rounds = 400;
  let alarms = 0;
  for (let round = 0; round < rounds; round++) {
    const baselines = Array.from({ length: 10 }, (_, i): ModelBaseline => {
      const rates = (): number[] => Array.from({ length: 40 }, () => (random() < 0.7 ? 1 : 0));
      return { ...about, model: `m${i}`, baseline: measure(rates()), latest: measure(rates()) };
    });
    if (computeModelDrift(baselines).some(({ verdict }) => verdict === 'drifted')) alarms++;
  }
  t.diagnostic(`${alarms} of ${rounds}`);
  assert.ok(alarms / rounds <= 0.05 + 0.03, `${alarms} of ${rounds}`);
});

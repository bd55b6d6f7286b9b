// The throughput benchmark measures runs that were really answered, and memory within the limits of a fleet.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';

function runFleetMeasurement(t: TestContext, mode: string, runs: number): Readonly<Record<string, unknown>> {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-bench-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const one = path.resolve(import.meta.dirname, '../bench/fleet-process.ts');
  const args = ['--expose-gc', one, mode, path.join(folder, 'fleet.sqlite'), String(runs)];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Record<string, unknown>;
}

test('[A66] the benchmark measures answered runs, their minimum time, and their wait', (t) => {
  for (const mode of ['bare-sqlite', 'bare-sqlite-shared', 'throughput'])
    assert.ok(Number(runFleetMeasurement(t, mode, 60)['ms']) > 0, mode);
  const { waits } = runFleetMeasurement(t, 'latency', 10) as { readonly waits: readonly number[] };
  assert.equal(waits.length, 10);
  assert.ok(waits.every((ms) => ms >= 0));
});

test('[A66] a running run takes less than 5 MB of heap, one that waits for approval less than 200 kB, and an ended one nothing', (t) => {
  const { running, waiting } = runFleetMeasurement(t, 'weight', 50) as Readonly<
    Record<string, { readonly heap: number }>
  >;
  assert.ok(running && running.heap > 0 && running.heap < 5_000_000, `${running?.heap} bytes of a running run`);
  assert.ok(waiting && waiting.heap < 200_000, `${waiting?.heap} bytes of a waiting run`);
  const { bytesPerRun } = runFleetMeasurement(t, 'growth', 400);
  assert.ok(Number(bytesPerRun) < 5000, `${String(bytesPerRun)} bytes are left of each ended run`);
});

// What a fleet costs: runs in a second over the bare database, queue latency, memory a run, and growth. npm run bench -- --only fleet [--postgres <url>] [--runs 1000]
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { computePercentiles } from '../src/fleet/health/statistics.ts';
import { median } from './median.ts';

type MemoryUse = { readonly heap: number; readonly rss: number };
type FleetMeasurement = {
  readonly ms: number;
  readonly waits: readonly number[];
  readonly running: MemoryUse;
  readonly waiting: MemoryUse;
  readonly bytesPerRun: number;
  readonly slower: number;
};

function runFleetMeasurement(mode: string, where: string, runs: number): FleetMeasurement {
  const flags = ['--disable-warning=ExperimentalWarning', '--expose-gc'];
  const args = [...flags, path.join(import.meta.dirname, 'fleet-process.ts'), mode, where, String(runs)];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 600_000 });
  const line = stdout.trim().split('\n').at(-1) ?? '';
  if (status !== 0 || !line.startsWith('{'))
    throw new Error(`${mode} failed: ${stderr.slice(-800)}${stdout.slice(-200)}`);
  return JSON.parse(line) as FleetMeasurement;
}

const formatKb = (bytes: number): string => `${(bytes / 1024).toFixed(0)} kB`;

/** A place to measure in, where each measurement has a database of its own, and the least it could cost there. */
type FleetTarget = {
  readonly name: string;
  readonly baselines: readonly string[];
  readonly createLocation: () => string;
};

/** Prints what a fleet costs on SQLite and, where a server is given, on PostgreSQL. */
export function benchFleet(folder: string, rounds: number, runs: number, postgres: string | undefined): void {
  let files = 0;
  const grounds: readonly FleetTarget[] = [
    {
      name: 'SQLite',
      baselines: ['bare-sqlite', 'bare-sqlite-shared'],
      createLocation: () => path.join(folder, `fleet-${files++}.sqlite`),
    },
    ...(postgres === undefined
      ? []
      : [{ name: 'PostgreSQL', baselines: ['bare-dbos'], createLocation: () => postgres }]),
  ];
  for (const ground of grounds) printFleet(ground, rounds, runs);
  if (postgres === undefined) console.log('\nskipped: a fleet on PostgreSQL (no --postgres <url>)');
}

function printFleet({ name, baselines, createLocation }: FleetTarget, rounds: number, runs: number): void {
  const subjects = [...baselines, 'throughput'];
  const took = new Map<string, number[]>(subjects.map((subject) => [subject, []]));
  for (let round = 0; round < rounds; round++)
    for (const subject of subjects)
      took.get(subject)?.push(runFleetMeasurement(subject, createLocation(), runs).ms / runs);
  const of = (subject: string): number => median(took.get(subject) ?? []);
  const least = (subject: string): number => Math.min(...(took.get(subject) ?? []));
  const over = (floor: string): string =>
    `x${(of('throughput') / of(floor)).toFixed(2)} (min x${(least('throughput') / least(floor)).toFixed(2)}) over ${floor}`;
  console.log(`\nA fleet on ${name}: ${runs} runs of one turn, 50 at a time`);
  const row = (subject: string, more: string): void =>
    console.log(
      `  ${subject.padEnd(20)} ${of(subject).toFixed(3)} ms a run, ${(1000 / of(subject)).toFixed(0)} a second${more}`,
    );
  for (const floor of baselines) row(floor, '');
  row('throughput', `: ${baselines.map(over).join(', ')}`);
  const { p50, p95 } = computePercentiles(runFleetMeasurement('latency', createLocation(), 100).waits) ?? {};
  const ends = (of: typeof p50): string => (of?.interval ?? []).map((end) => end ?? '?').join(' to ');
  console.log(
    `  from queued to begun with an idle worker: p50 ${p50?.value} ms (${ends(p50)}), p95 ${p95?.value} ms (${ends(p95)}), of ${p50?.count}`,
  );
  const { running, waiting } = runFleetMeasurement('weight', createLocation(), 200);
  console.log(
    `  200 runs at once: running ${formatKb(running.heap)} of heap (${formatKb(running.rss)} of memory) a run; waiting for an approval ${formatKb(waiting.heap)} (${formatKb(waiting.rss)})`,
  );
  const { bytesPerRun, slower } = runFleetMeasurement('growth', createLocation(), 2 * runs);
  console.log(
    `  over ${2 * runs} runs: ${bytesPerRun.toFixed(0)} bytes of heap stay a run, the second half takes x${slower.toFixed(2)}`,
  );
}

// Tests of the Prometheus metrics, parsed by a strict parser of the text format.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { FleetStore, RunStats, WorkerInfo } from '../../core/index.ts';
import { readHealth, type Health } from './health.ts';
import { formatMetrics } from './metrics.ts';

type Read = {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
};

const labelName = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

/** Parses the text format 0.0.4 strictly. */
function readMetrics(text: string): { readonly samples: readonly Read[]; readonly families: readonly string[] } {
  assert.ok(text.endsWith('\n'), 'the last line ends with a line feed');
  const families: string[] = [];
  const samples: Read[] = [];
  const lines = text.slice(0, -1).split('\n');
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] ?? '';
    const help = /^# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)$/.exec(line);
    if (help) {
      const [, name = ''] = help;
      assert.ok(!families.includes(name), `duplicate family ${name}`);
      assert.match(help[2] ?? '', /^(?:[^\\]|\\\\|\\n)+$/, 'the help is escaped');
      assert.equal(lines[++i], `# TYPE ${name} gauge`);
      families.push(name);
      continue;
    }
    samples.push(readSample(line));
    assert.equal(samples.at(-1)?.name, families.at(-1), `${line} is below its family`);
  }
  const keys = samples.map(({ name, labels }) => JSON.stringify([name, labels]));
  assert.equal(new Set(keys).size, keys.length, 'samples are unique');
  return { samples, families };
}

function readSample(line: string): Read {
  const name = /^[a-zA-Z_:][a-zA-Z0-9_:]*/.exec(line)?.[0];
  assert.ok(name, `missing name: ${line}`);
  let at = name.length;
  const labels: Record<string, string> = {};
  if (line[at] === '{') {
    at++;
    while (line[at] !== '}') {
      const equals = line.indexOf('="', at);
      const label = line.slice(at, equals);
      assert.match(label, labelName);
      assert.ok(!(label in labels), `duplicate label ${label}`);
      let value = '';
      for (at = equals + 2; line[at] !== '"'; at++) {
        assert.ok(at < line.length, `unterminated label: ${line}`);
        if (line[at] !== '\\') {
          value += line[at];
          continue;
        }
        const meant = { '\\': '\\', n: '\n', '"': '"' }[line[++at] ?? ''];
        assert.ok(meant !== undefined, `invalid escape: ${line}`);
        value += meant;
      }
      labels[label] = value;
      at++;
      if (line[at] === ',') at++;
      else assert.equal(line[at], '}', line);
    }
    at++;
  }
  const rest = line.slice(at);
  assert.match(rest, /^ (?:[+-]Inf|NaN|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/, line);
  return { name, labels, value: Number(rest.trim().replace('Inf', 'Infinity')) };
}

const now = new Date('2030-05-20T12:00:00.000Z');
const tally: RunStats = {
  from: '2030-05-20T11:00:00.000Z',
  ended: 10,
  reasons: { answered: 8, stuck: 2 },
  usd: 0.25,
  tokens: 1000,
  queueMs: [1, 2, 3],
  durationMs: [1, 2, 3],
};

function createStore(workers: readonly Partial<WorkerInfo>[]): FleetStore {
  const entry = { host: 'h', pid: 1, version: '1', startedAt: '', lastSeenAt: now.toISOString(), running: 2, info: {} };
  return {
    queue: {
      depth: async () => ({ queued: 1, running: 2, waiting: 3 }),
      list: async () => [],
      stats: async () => [tally],
    },
    workers: { list: async () => workers.map((each) => ({ ...entry, ...each })) },
    killSwitch: { status: async () => ({ stopped: true }) },
  } as unknown as FleetStore;
}

const healthWith = (workers: readonly Partial<WorkerInfo>[]): Promise<Health> => readHealth(createStore(workers), now);

test('[A94] the metrics are accepted by a strict parser, and equal the health report', async () => {
  const breakers = [
    { model: 'groq/m', state: 'half-open' },
    { model: 'groq/n', state: 'open' },
  ];
  const { samples } = readMetrics(
    formatMetrics(await healthWith([{ worker: 'w1', info: { breakers }, blockedMs: 4500 }, { worker: 'w2' }]), [
      tally,
      tally,
    ]),
  );
  const value = (name: string, labels: object = {}): number | undefined =>
    samples.find((each) => each.name === `fairlead_${name}` && sameLabels(each.labels, labels))?.value;
  assert.equal(value('stopped'), 1);
  assert.equal(value('queue_runs', { status: 'waiting' }), 3);
  assert.equal(value('workers', { state: 'alive' }), 2);
  assert.equal(value('worker_running', { worker: 'w1', host: 'h' }), 2);
  assert.equal(value('worker_blocked_seconds', { worker: 'w1', host: 'h' }), 4.5);
  assert.equal(value('worker_blocked_seconds', { worker: 'w2', host: 'h' }), 0);
  assert.equal(value('breaker_open', { worker: 'w1', model: 'groq/m' }), 0.5);
  assert.equal(value('breaker_open', { worker: 'w1', model: 'groq/n' }), 1);
  assert.equal(value('hour_rate', { of: 'errors', bound: 'value' }), 0.2);
  assert.ok((value('hour_rate', { of: 'errors', bound: 'high' }) ?? 0) > 0.5);
  assert.ok(Number.isNaN(value('objective_met', { objective: 'answered' })), 'ten runs are not enough data');
  assert.equal(value('window_runs', { reason: 'stuck' }), 4);
  assert.equal(value('window_usd'), 0.5);
});

const sameLabels = (a: object, b: object): boolean => JSON.stringify(a) === JSON.stringify(b);

test('[A94] any worker name is escaped within its label', async () => {
  const names = [
    'plain',
    'with "quotes"',
    'back\\slash',
    'ends with \\',
    'two\nlines\nfairlead_stopped 0',
    'a="b",c',
    '}{ ünï',
  ];
  const { samples } = readMetrics(formatMetrics(await healthWith(names.map((worker) => ({ worker }))), []));
  const told = samples.filter(({ name }) => name === 'fairlead_worker_running').map(({ labels }) => labels['worker']);
  assert.deepEqual(told, names);
  assert.deepEqual(
    samples.filter(({ name }) => name === 'fairlead_stopped').map(({ value }) => value),
    [1],
  );
});

test('[A94] an interval without an upper end is formatted as infinity, and the strict parser refuses invalid text', async () => {
  const health = await healthWith([]);
  const one = { count: 3, value: 2000, interval: [null, null] as const };
  const { samples } = readMetrics(formatMetrics({ ...health, durationMs: { p50: one, p95: one, p99: one } }, []));
  const high = samples.filter(({ name, labels }) => name.endsWith('run_seconds') && labels['bound'] === 'high');
  assert.deepEqual(
    high.map(({ value }) => value),
    [Infinity, Infinity, Infinity],
  );
  const head = '# HELP a b\n# TYPE a gauge\n';
  for (const bad of [
    'a 1',
    `${head}a{x="1} 1\n`,
    `${head}a{x="\\t"} 1\n`,
    `${head}b 1\n`,
    `${head}a one\n`,
    `${head}a 1\na 1\n`,
  ])
    assert.throws(() => readMetrics(bad), assert.AssertionError, bad);
});

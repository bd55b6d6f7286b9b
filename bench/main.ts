// Speed and memory as ratios against a floor and peers in one run: npm run bench -- [--rounds 5] [--only import,turn,stream,open,first,tools,sandbox,growth,search,index,rules,checks,detector,backtest,verifiers,flow,tracing,fleet,serve] [--runs 1000] [--postgres <url>] [--peers <folder>]
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { benchBacktest } from './backtest.ts';
import { benchChecks } from './checks.ts';
import { benchDetector } from './detector.ts';
import { benchFleet } from './fleet.ts';
import { benchServe } from './serve.ts';
import { benchRetrieval } from './retrieval.ts';
import { benchRules } from './rules.ts';
import { median } from './median.ts';
import { benchSearch } from './search.ts';
import { benchFlow } from './flow.ts';
import { benchFlowTurn } from './flow-turn.ts';
import { benchTracingTurn } from './tracing-turn.ts';
import { benchVerifiers } from './verifiers.ts';
import { writeEvents, writeMessages } from './sessions.ts';

const benchDir = import.meta.dirname;
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    only: {
      type: 'string',
      default:
        'import,turn,stream,open,first,tools,sandbox,growth,search,index,rules,checks,detector,backtest,verifiers,flow,tracing,fleet,serve',
    },
    runs: { type: 'string', default: '1000' },
    postgres: { type: 'string' },
    peers: { type: 'string', default: path.join(tmpdir(), 'peers') },
  },
});
const rounds = Number(values.rounds);
const selected = values.only.split(',');
const peers = ['ai', 'pi'].filter((name) => existsSync(path.join(values.peers, name === 'ai' ? 'lib-ai' : name)));
const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-bench-'));

type Measurement = {
  readonly ms: number;
  readonly cpuMs: number;
  readonly rssMb: number;
  readonly [more: string]: unknown;
};

/** One measurement in a process of its own. */
function measure(subject: string, url: string, mode: string, n: number, file = ''): Measurement {
  const args = [path.join(benchDir, 'subject-process.ts'), subject, url, mode, String(n), file, values.peers];
  const flags = ['--disable-warning=ExperimentalWarning', ...(mode === 'growth' ? ['--expose-gc'] : [])];
  const { stdout, stderr, status } = spawnSync(process.execPath, [...flags, ...args], {
    encoding: 'utf8',
    timeout: 240_000,
  });
  const line = stdout.trim().split('\n').at(-1) ?? '';
  if (status !== 0 || !line.startsWith('{'))
    throw new Error(`${subject} ${mode}:${n} failed: ${stderr.slice(-800)}${stdout.slice(-200)}`);
  return JSON.parse(line) as Measurement;
}

/** Rounds interleaved over the subjects, so that noise falls on all of them alike. */
function compare(title: string, subjects: readonly string[], url: string, mode: string, n: number, file = ''): void {
  const found = new Map<string, Measurement[]>(subjects.map((subject) => [subject, []]));
  for (let round = 0; round < rounds; round++)
    for (const subject of subjects) found.get(subject)?.push(measure(subject, url, mode, n, file));
  const of = (subject: string, pick: (measured: Measurement) => number): number =>
    median((found.get(subject) ?? []).map(pick));
  const least = (subject: string): number => Math.min(...(found.get(subject) ?? []).map((measured) => measured.ms));
  const [floor = ''] = subjects;
  console.log(`\n${title}`);
  for (const subject of subjects) {
    const row = [
      subject.padEnd(18),
      `${of(subject, (m) => m.ms)
        .toFixed(1)
        .padStart(9)} ms`,
      `min ${least(subject).toFixed(1).padStart(8)}`,
      `cpu ${of(subject, (m) => m.cpuMs)
        .toFixed(0)
        .padStart(6)}`,
      `rss ${of(subject, (m) => m.rssMb)
        .toFixed(0)
        .padStart(4)} MB`,
      `x${(of(subject, (m) => m.ms) / of(floor, (m) => m.ms)).toFixed(2)} (min x${(least(subject) / least(floor)).toFixed(2)})`,
    ];
    console.log(`  ${row.join('  ')}`);
  }
}

/** The subjects that work on this machine; the others are named, with the reason. */
function filterAvailable(subjects: readonly string[], mode: string): readonly string[] {
  return subjects.filter((subject) => {
    try {
      return measure(subject, '', mode, 1);
    } catch (error) {
      const said = error instanceof Error ? error.message : '';
      const [, why = 'it does not work here'] = /^\w*Error(?: \[.*?\])?: (.*)$/m.exec(said) ?? [];
      console.log(`\nskipped: ${subject} (${why})`);
      return false;
    }
  });
}

/** Calls of one session, the last against the first, and what each leaves on the heap. */
function printGrowth(n: number): void {
  const found = Array.from({ length: rounds }, () => measure('loop-file', '', 'growth', n));
  const of = (name: string): number => median(found.map((measured) => Number(measured[name])));
  console.log(`\n${n} tool calls in one session on a file`);
  console.log(
    `  first 100 ${of('first').toFixed(3)} ms a call, last 100 ${of('last').toFixed(3)} ms: x${(of('last') / of('first')).toFixed(2)}; ${of('bytesPerCall').toFixed(0)} bytes of heap a call`,
  );
}

async function startMockServer(): Promise<{ readonly url: string; readonly child: ChildProcess }> {
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', path.join(benchDir, 'mock-server.ts')],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const line = await new Promise<string>((resolve) =>
    child.stdout.once('data', (data: Buffer) => resolve(data.toString())),
  );
  return { url: line.trim(), child };
}

const { url, child } = await startMockServer();
try {
  console.log(`Node ${process.version}, ${rounds} rounds, median of each; peers found: ${peers.join(', ') || 'none'}`);
  if (selected.includes('import'))
    compare('Importing the library, over an empty module', ['baseline', 'fairlead', ...peers], url, 'import', 0);
  if (selected.includes('turn'))
    for (const n of [100, 500, 2000])
      compare(
        `${n} turns with a no-op tool`,
        ['baseline', 'fairlead', 'fairlead-file', ...(n > 500 ? [] : peers)],
        url,
        'turn',
        n,
      );
  if (selected.includes('stream'))
    compare('20,000 streamed chunks', ['baseline', 'fairlead', ...peers], url, 'stream', 20_000);
  if (selected.includes('open')) {
    const file = path.join(folder, 'events.jsonl');
    await writeEvents(file, 100_000);
    compare('Opening a session of 100,000 events', ['baseline', 'fairlead'], url, 'open', 100_000, file);
  }
  if (selected.includes('first')) {
    const file = path.join(folder, 'messages.jsonl');
    await writeMessages(file, 10_000, 10_000);
    compare(
      'The first request of a 10,000-message, 50 MB session',
      ['baseline', 'fairlead'],
      url,
      'first',
      10_000,
      file,
    );
  }
  if (selected.includes('checks')) await benchChecks(rounds);
  if (selected.includes('detector')) benchDetector(rounds);
  if (selected.includes('rules')) await benchRules(rounds, measure('fairlead', url, 'turn', 1000).ms / 1000);
  if (selected.includes('tools')) {
    const ways = ['bare', 'loop', 'loop-file'];
    compare(
      '1,000 reads of a file through loop, gate and log, over fs.readFile',
      ways,
      url,
      'read',
      1000,
      path.join(benchDir, 'mock-server.ts'),
    );
    compare('50 commands through loop, gate and log, over a bare spawn', ways, url, 'command', 50);
  }
  if (selected.includes('sandbox')) {
    const kinds = ['bubblewrap', 'util-linux', 'bubblewrap-egress', 'podman'];
    const ways = ['bare', 'workspace', ...filterAvailable(kinds, 'command')];
    compare('10 sandboxed commands, over a bare spawn', ways, url, 'command', 10);
    const gitWays = ['plain-git', 'git-tool', ...filterAvailable(['git-tool-sandbox'], 'git')];
    compare('10 times status and diff of 200 files with the git tool, over plain git', gitWays, url, 'git', 10);
  }
  if (selected.includes('growth')) printGrowth(1000);
  if (selected.includes('verifiers')) await benchVerifiers(rounds);
  if (selected.includes('tracing')) await benchTracingTurn(rounds);
  if (selected.includes('flow')) {
    await benchFlow(rounds);
    await benchFlowTurn(rounds);
  }
  if (selected.includes('backtest')) await benchBacktest(folder, rounds);
  if (selected.includes('fleet')) benchFleet(folder, Math.min(rounds, 3), Number(values.runs), values.postgres);
  if (selected.includes('serve')) await benchServe();
  if (selected.includes('search')) await benchSearch(Math.min(rounds, 3));
  if (selected.includes('index')) await benchRetrieval();
} finally {
  child.kill();
  rmSync(folder, { recursive: true, force: true });
}

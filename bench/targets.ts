// Latency, memory and cost of the built program against the limits in targets.json: npm run bench:targets -- [--rounds 3] [--keep] [--values <file>]
import { spawn } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { priceOf } from '../src/providers/index.ts';
import { calls, says, scriptedServer, type ScriptedServer } from '../src/testing/index.ts';
import { compareWithTargets, type TargetsFile } from './compare-targets.ts';
import { median } from './median.ts';

const benchDir = import.meta.dirname;
const targetsFile = path.join(benchDir, 'targets.json');
const program = path.join(benchDir, '..', 'dist', 'bin.js');
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    keep: { type: 'boolean', default: false },
    /** A file with values to compare instead of measuring. */
    values: { type: 'string' },
  },
});

/** The reference task: four calls of tools, then an answer. */
const taskCalls = [
  ['list_files', {}],
  ['read_file', { path: 'a.txt' }],
  ['grep', { pattern: 'word' }],
  ['write_file', { path: 'b.txt', content: 'done\n' }],
] as const;

type ProgramRun = { readonly ms: number; readonly rssMb: number };

/** Runs the program once in a home directory; the limits are for the whole time from start to exit. */
async function runProgram(home: string, server: ScriptedServer, args: readonly string[]): Promise<ProgramRun> {
  const [preload, report] = [path.join(home, 'preload.cjs'), path.join(home, 'rss')];
  writeFileSync(
    preload,
    `process.on('exit', () => require('fs').writeFileSync(${JSON.stringify(report)}, String(process.resourceUsage().maxRSS)));`,
  );
  const startedAt = performance.now();
  const child = spawn(process.execPath, ['--require', preload, program, '--model', 'ollama/m', ...args], {
    cwd: path.join(home, 'work'),
    env: { PATH: process.env['PATH'] ?? '', HOME: home, OLLAMA_API_URL: server.url },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (piece: Buffer) => (errors += piece.toString()));
  const { promise, resolve } = Promise.withResolvers<number | null>();
  child.on('close', resolve);
  const code = await promise;
  if (code !== 0) throw new Error(`The program ended with exit code ${code}: ${errors}`);
  return { ms: performance.now() - startedAt, rssMb: Number(readFileSync(report, 'utf8')) / 1024 };
}

/** The durations of the tool calls in the session files, in milliseconds. */
const readToolDurations = (home: string): readonly number[] =>
  globSync('**/sessions/*.jsonl', { cwd: path.join(home, '.local') })
    .flatMap((file) => readFileSync(path.join(home, '.local', file), 'utf8').split('\n'))
    .filter((line) => line.includes('"tool-ended"'))
    .map((line) => (JSON.parse(line) as { readonly ms: number }).ms);

async function measureRound(): Promise<Readonly<Record<string, number>>> {
  const home = mkdtempSync(path.join(tmpdir(), 'fairlead-targets-'));
  mkdirSync(path.join(home, 'work'));
  writeFileSync(path.join(home, 'work', 'a.txt'), 'word\n'.repeat(100));
  const script = ({ results, prompt }: { readonly results: readonly string[]; readonly prompt: string }) => {
    const [tool, input] = (prompt.includes('task') ? taskCalls[results.length] : undefined) ?? [];
    return tool === undefined ? says('Done.') : calls(tool, input);
  };
  try {
    await using server = await scriptedServer(script, { models: [{ id: 'm', tools: true, context: 32_768 }] });
    const first = await runProgram(home, server, ['hi']);
    const second = await runProgram(home, server, ['hi']);
    const [firstRequest = 0] = requestSizes(server);
    server.clearRequests();
    const task = await runProgram(home, server, ['--auto-approve', 'Do the task.']);
    const durations = readToolDurations(home);
    if (durations.length !== taskCalls.length) throw new Error(`${durations.length} tool calls were recorded.`);
    const price = priceOf('anthropic', 'claude-sonnet-5')?.input ?? Number.NaN;
    return {
      'first command': first.ms,
      'later command': second.ms,
      'slowest tool call': Math.max(...durations),
      'memory of a task': Math.max(first.rssMb, second.rssMb, task.rssMb),
      'first request': firstRequest,
      // Without a cache, at four bytes per token: the most that the prompt of the task can cost.
      'cost of the reference task': ((requestSizes(server).reduce((sum, size) => sum + size, 0) / 4) * price) / 1e6,
    };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** The sizes of the requests for an answer, in bytes. */
const requestSizes = ({ requests }: ScriptedServer): readonly number[] =>
  requests.filter(({ path: url }) => url.endsWith('/api/chat')).map(({ body }) => JSON.stringify(body).length);

async function measureAll(): Promise<Readonly<Record<string, number>>> {
  const rounds: Readonly<Record<string, number>>[] = [];
  for (let round = 0; round < Number(options.rounds); round++) rounds.push(await measureRound());
  const names = Object.keys(rounds[0] ?? {});
  return Object.fromEntries(
    names.map((name) => [name, Number(median(rounds.map((round) => round[name] ?? Number.NaN)).toPrecision(4))]),
  );
}

const file = JSON.parse(readFileSync(targetsFile, 'utf8')) as TargetsFile;
const values =
  options.values === undefined
    ? await measureAll()
    : (JSON.parse(readFileSync(options.values, 'utf8')) as Readonly<Record<string, number>>);
const { lines, isMet } = compareWithTargets(file, values);
console.log(lines.join('\n'));
if (options.keep && isMet) {
  const machine = `Node ${process.version}, ${availableParallelism()} cores, ${process.arch}`;
  const kept = { when: new Date().toISOString().slice(0, 10), machine, values };
  writeFileSync(targetsFile, `${JSON.stringify({ ...file, kept }, null, 2)}\n`);
}
process.exitCode = isMet ? 0 : 1;

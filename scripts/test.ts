// Runs the tests with Node's own runner, some files at a time, and ends on the one line "N passed, N failed, N skipped".
import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { run } from 'node:test';
import { inspect, parseArgs } from 'node:util';
import { formatRequirementReport } from './docs/requirements.ts';
import { groupTestFiles, type TestGroup } from './test-groups.ts';
import { orderTestFiles, readTestSeconds, writeTestSeconds } from './test-order.ts';
import { runQueue } from './test-queue.ts';

type TestOutcome = { readonly name: string; readonly location: string; readonly text: string };
type FileResults = { readonly passed: string[]; readonly failures: TestOutcome[]; readonly skips: TestOutcome[] };
type TestEndEvent = {
  readonly name: string;
  readonly nesting: number;
  readonly file?: string | undefined;
  readonly line?: number | undefined;
  readonly skip?: string | boolean | undefined;
  readonly todo?: string | boolean | undefined;
  readonly details: {
    readonly duration_ms: number;
    readonly type?: string | undefined;
    readonly error?: Error | undefined;
  };
};

const maxFileMs = 600_000;
// A process that a test leaves running keeps the output of its file open, and the runner waits for the end of that output.
const maxSilentMs = Number(process.env['FAIRLEAD_TEST_MAX_SILENT_MS'] ?? maxFileMs + 60_000);
// The seconds of earlier runs, by which the files are ordered; --save-times writes them again.
const secondsFile = path.join(import.meta.dirname, 'test-seconds.json');

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    name: { type: 'string', multiple: true },
    root: { type: 'string', default: path.resolve(import.meta.dirname, '..') },
    rows: { type: 'boolean', default: false },
    'save-times': { type: 'boolean', default: false },
    times: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
  },
});
const root = path.resolve(values.root);
const files = globSync(['src/**/*.test.ts', 'test/**/*.test.ts', 'web/src/**/*.test.ts'], { cwd: root })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => positionals.length === 0 || positionals.some((wanted) => matchesPattern(file, wanted)))
  // Tests of folder test come first: most of them take longer.
  .toSorted((a, b) => Number(b.startsWith('test/')) - Number(a.startsWith('test/')) || (a < b ? -1 : 1));

const { groups, alone } = groupTestFiles(files, root);

// A machine that is short of processor time makes a few tests fail at random; more failed files than this are no coincidence.
const maxFilesRunAgain = 3;
const resultsByFile = new Map<string, FileResults>();
const unstable: TestOutcome[] = [];
const runFailures: TestOutcome[] = [];
const secondsByFile = new Map<string, number>();
const titleStacks = new Map<string, string[]>();
const outputByFile = new Map<string, string>();
const finishedFiles = new Set<string>();
let watchdog: NodeJS.Timeout | undefined;

if (files.length === 0) {
  const wanted = positionals.length > 0 ? ` that matches ${positionals.join(' or ')}` : '';
  runFailures.push({ name: `there is no test file${wanted}`, location: 'src, test', text: '' });
} else {
  enableCompileCache();
  const ordered = orderTestFiles(groups, alone, readTestSeconds(secondsFile));
  const began = performance.now();
  const { mostAtOnce, busyShare } = await runQueue(ordered, runFile);
  if (values.times) {
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    console.log(
      `${seconds} s, at most ${mostAtOnce} files at a time, processors busy ${(busyShare * 100).toFixed(0)} %`,
    );
  }
  await runQueue(
    groups.flatMap((group) => getUnreported(group)),
    runFile,
  );
  await runFailedFilesAgain();
  clearTimeout(watchdog);
  if (values['save-times']) writeTestSeconds(secondsFile, secondsByFile);
}
report();

/** Returns the files of a group that must run alone: all if its process died, otherwise those of which no test was reported. */
function getUnreported({ file, members }: TestGroup): readonly string[] {
  const group = toRelativePath(file);
  const hasDied = resultsByFile.delete(group);
  if (hasDied) for (const member of members) resultsByFile.delete(member);
  return values.name && !hasDied ? [] : members.filter((member) => !resultsByFile.has(member));
}

/** Runs the failed files again, one at a time. A test that passes then is reported by name as unstable. */
async function runFailedFilesAgain(): Promise<void> {
  const failed = [...resultsByFile].filter(([, { failures }]) => failures.length > 0);
  if (failed.length > maxFilesRunAgain) return;
  for (const [file, before] of failed) {
    resultsByFile.delete(file);
    await runFile(file);
    if (getFileResults(file).failures.length === 0) unstable.push(...before.failures);
  }
}

function getFileResults(file: string): FileResults {
  const results = resultsByFile.get(file) ?? { passed: [], failures: [], skips: [] };
  resultsByFile.set(file, results);
  return results;
}

/** Each file is a process of its own, and would strip and compile the same modules once more. */
function enableCompileCache(): void {
  if (process.env['NODE_COMPILE_CACHE'] !== undefined) return;
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-compiled-'));
  process.env['NODE_COMPILE_CACHE'] = folder;
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
}

async function runFile(selected: string): Promise<void> {
  const stream = run({
    cwd: root,
    files: [path.resolve(root, selected)],
    concurrency: 1,
    timeout: maxFileMs,
    execArgv: [`--import=${new URL('test-preload.mjs', import.meta.url).href}`],
    ...(values.name ? { testNamePatterns: values.name.map((pattern) => new RegExp(pattern)) } : {}),
  });
  watchdog ??= setTimeout(stopWaiting, maxSilentMs);
  stream.on('data', () => watchdog?.refresh());
  stream.on('test:start', (data) => {
    const above = titleStacks.get(data.file ?? '') ?? [];
    titleStacks.set(data.file ?? '', [...above.slice(0, data.nesting), data.name]);
  });
  stream.on('test:pass', (data) => recordTestEnd(data));
  stream.on('test:fail', (data) => recordTestEnd(data));
  stream.on('test:stdout', (data) => appendFileOutput(data.file, data.message));
  stream.on('test:stderr', (data) => appendFileOutput(data.file, data.message));
  stream.on('test:summary', (data) => {
    if (data.file === undefined) return;
    finishedFiles.add(toRelativePath(data.file));
    const seconds = (data.duration_ms / 1000).toFixed(1).padStart(5);
    const group = groups.find(({ file }) => file === data.file);
    for (const file of group?.members ?? []) finishedFiles.add(file);
    const name = group ? `${path.basename(group.file)} (${group.members.length} files)` : toRelativePath(data.file);
    console.log(`${data.success ? 'ok  ' : 'FAIL'} ${seconds} s  ${name}`);
    const words = takeFileOutput(data.file);
    if (words !== '' && (values.verbose || !data.success)) console.log(words);
  });
  await new Promise((resolve) => stream.once('end', resolve));
}

/** Reports what is known and exits: the run would wait without end. */
function stopWaiting(): void {
  const unfinished = files.filter((file) => !finishedFiles.has(file));
  runFailures.push({
    name: 'the run did not end',
    location: 'scripts/test.ts',
    text: `No test reported anything for ${maxSilentMs} ms. A process that a test left running keeps its output open. Unfinished files: ${unfinished.join(', ') || 'none'}.`,
  });
  report();
  process.exit();
}

function recordTestEnd(data: TestEndEvent): void {
  const { error, type } = data.details;
  if (data.nesting === 0 && data.file !== undefined) addSeconds(toRelativePath(data.file), data.details.duration_ms);
  const failureType = error && 'failureType' in error ? error.failureType : undefined;
  if (failureType === 'subtestsFailed') return;
  if (data.name === data.file) return recordFileEnd(data.file, error);
  const name = [...(titleStacks.get(data.file ?? '') ?? []).slice(0, data.nesting), data.name].join(' > ');
  const place = data.file === undefined ? '' : `${toRelativePath(data.file)}:${data.line ?? 1}`;
  const { passed, failures, skips } = getFileResults(data.file === undefined ? '' : toRelativePath(data.file));
  const why = data.skip ?? data.todo;
  if (why !== undefined && why !== false) {
    if (typeof why === 'string' && why !== '') skips.push({ name, location: place, text: why });
    else
      failures.push({
        name,
        location: place,
        text: 'It is skipped without a reason: say why, as in { skip: "needs ..." }.',
      });
  } else if (error) failures.push({ name, location: place, text: formatTestError(error) });
  else if (type !== 'suite') passed.push(name);
}

function addSeconds(file: string, ms: number): void {
  secondsByFile.set(file, (secondsByFile.get(file) ?? 0) + ms / 1000);
}

/** The runner reports a file as if it were a test only when it died, or when it holds no test at all. */
function recordFileEnd(file: string, error: Error | undefined): void {
  if (!error && values.name) return;
  const text = error ? takeFileOutput(file) || formatTestError(error) : 'It holds no test.';
  getFileResults(toRelativePath(file)).failures.push({
    name: error ? 'the file ended before its tests did' : 'the file is empty',
    location: toRelativePath(file),
    text,
  });
}

function report(): void {
  const results = [...resultsByFile.values()];
  const passedNames = results.flatMap(({ passed }) => passed);
  const failures = [...results.flatMap((each) => each.failures), ...runFailures];
  const skips = results.flatMap((each) => each.skips);
  for (const { name, location, text } of unstable) {
    console.log(`\nunstable: ${name}\n  at ${location}\n  It failed, and passed when its file was run again alone.`);
    console.log(text.replace(/^/gm, '  '));
  }
  for (const failure of failures) {
    console.log(`\nfailed: ${failure.name}\n  at ${failure.location}`);
    console.log(failure.text.replace(/^/gm, '  '));
  }
  if (skips.length > 0) console.log('');
  for (const skip of skips) console.log(`skipped: ${skip.name} (${skip.location}): ${skip.text}`);
  if (values.rows)
    console.log(
      formatRequirementReport(
        passedNames,
        [...failures, ...skips].map(({ name }) => name),
      ),
    );
  console.log(`\n${passedNames.length} passed, ${failures.length} failed, ${skips.length} skipped`);
  process.exitCode = failures.length > 0 ? 1 : 0;
}

/** The error a test threw, without the runner's own frames. */
function formatTestError(error: Error): string {
  const thrown = error.cause instanceof Error ? error.cause : error;
  const asserted = 'code' in thrown && thrown.code === 'ERR_ASSERTION' ? thrown.stack : undefined;
  const lines = (asserted ?? inspect(thrown, { colors: false, depth: 6 })).split('\n');
  return lines.filter((line) => !/^\s+at .*\(?node:/.test(line)).join('\n');
}

/** What a file printed, once, set apart from what the runner prints. */
function takeFileOutput(file: string): string {
  const text = outputByFile.get(file)?.trimEnd() ?? '';
  outputByFile.delete(file);
  return text === '' ? '' : text.replace(/^/gm, '     | ');
}

function appendFileOutput(file: string | undefined, message: string): void {
  if (file !== undefined) outputByFile.set(file, (outputByFile.get(file) ?? '') + message);
}

function matchesPattern(file: string, wanted: string): boolean {
  const pattern = wanted.replaceAll('\\', '/').replace(/^\.\//, '');
  return file.includes(pattern) || path.matchesGlob(file, pattern);
}

function toRelativePath(file: string): string {
  return path.relative(root, file).replaceAll('\\', '/');
}

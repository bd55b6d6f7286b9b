// The index of 50,000 files beside a bare FTS5 insert of the same text and ripgrep on the same tree: build, update of 1 %, size, and search.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type * as Retrieval from '../src/retrieval/index.ts';
import { findRipgrep } from '../src/tools/ripgrep.ts';
import { localWorkspace } from '../src/workspace/index.ts';
import { median } from './median.ts';

const files = 50_000;
const dist = path.join(import.meta.dirname, '..', 'dist');

/** Numbers that are the same in each run. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A word of a vocabulary of 30,000, in which few words are frequent, as in a language. */
const createWord = (random: () => number): string => `w${Math.floor(30_000 ** random())}x`;

const createText = (n: number, random: () => number): string => {
  const words = (count: number): string => Array.from({ length: count }, () => createWord(random)).join(' ');
  return `# Note ${n} ${words(3)}\n\n${words(60)}\n${words(60)}\n\n## Details ${words(2)}\n\n${words(40)}\n`;
};

const fileName = (n: number): string => `part${n % 20}/folder${n % 1000}/note${n}.md`;

function writeTree(root: string, random: () => number): number {
  let bytes = 0;
  for (let n = 0; n < 1000; n += 1) mkdirSync(path.join(root, path.dirname(fileName(n))), { recursive: true });
  for (let n = 0; n < files; n += 1) {
    const text = createText(n, random);
    bytes += text.length;
    writeFileSync(path.join(root, fileName(n)), text);
  }
  return bytes;
}

async function time<T>(work: () => T | Promise<T>): Promise<readonly [ms: number, result: T]> {
  const start = performance.now();
  const result = await work();
  return [performance.now() - start, result];
}

/** Reads every file and inserts its text in one transaction: the least that an index on disk does. */
function insertBare(root: string, file: string): void {
  const db = new DatabaseSync(file);
  db.exec(
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; CREATE VIRTUAL TABLE t USING fts5(path, body, tokenize = 'porter unicode61'); BEGIN",
  );
  const insert = db.prepare('INSERT INTO t VALUES (?, ?)');
  for (let n = 0; n < files; n += 1) insert.run(fileName(n), readFileSync(path.join(root, fileName(n)), 'utf8'));
  db.exec('COMMIT');
  db.close();
}

/** Measures and prints. */
export async function benchRetrieval(): Promise<void> {
  const base = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-index-')));
  const root = path.join(base, 'tree');
  const random = createRandom(7);
  const { createDocumentIndex, openSqliteStorage } = (await import(
    path.join(dist, 'retrieval.js')
  )) as typeof Retrieval;
  try {
    const bytes = writeTree(root, random);
    const [bareMs] = await time(() => insertBare(root, path.join(base, 'bare.db')));
    const bareBytes = statSync(path.join(base, 'bare.db')).size;
    const index = createDocumentIndex({ root, storage: await openSqliteStorage(path.join(base, 'own.db')) });
    const [buildMs, built] = await time(() => index.update());
    const [unchangedMs] = await time(() => index.update());
    for (let n = 0; n < files; n += 100) writeFileSync(path.join(root, fileName(n)), createText(n, random));
    const [updateMs, updated] = await time(() => index.update());
    const rg = findRipgrep(localWorkspace({ roots: [root] }));
    const ripgrep = (...args: readonly string[]): unknown =>
      spawnSync(rg ?? 'rg', ['--no-config', ...args, root], { maxBuffer: 1e9 });
    const queries = Array.from({ length: 200 }, () => Array.from({ length: 3 }, () => createWord(random)));
    const bare = new DatabaseSync(path.join(base, 'bare.db'));
    const ranked = bare.prepare('SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank LIMIT 10');
    const bareTook: number[] = [];
    const took: number[] = [];
    const scanned: number[] = [];
    for (const [i, words] of queries.entries()) {
      took.push((await time(() => index.search(words.join(' '))))[0]);
      bareTook.push((await time(() => ranked.all(words.map((word) => `"${word}"`).join(' OR '))))[0]);
      if (i < 10) scanned.push((await time(() => ripgrep('--count', words.join('|'))))[0]);
    }
    bare.close();
    await index.close();
    const percentile = (times: readonly number[], share: number): number =>
      times.toSorted((a, b) => a - b)[Math.floor(times.length * share)] ?? Number.NaN;
    const percentiles = (times: readonly number[]): string =>
      `p50 ${percentile(times, 0.5).toFixed(1)} ms, p95 ${percentile(times, 0.95).toFixed(1)} ms (n = ${times.length})`;
    const ratio = (value: number, floor: number): string => `x${(value / floor).toFixed(2)}`;
    console.log(`\nAn index of ${files} files, ${(bytes / 1e6).toFixed(0)} MB of text, ${built.passages} passages`);
    console.log(`  bare FTS5 insert      ${bareMs.toFixed(0).padStart(7)} ms  ${(bareBytes / 1e6).toFixed(0)} MB`);
    console.log(
      `  build                 ${buildMs.toFixed(0).padStart(7)} ms  ${(built.bytes / 1e6).toFixed(0)} MB  ${ratio(buildMs, bareMs)} time, ${ratio(built.bytes, bareBytes)} size`,
    );
    console.log(
      `  update, nothing new   ${unchangedMs.toFixed(0).padStart(7)} ms  ${ratio(unchangedMs, bareMs)} of the bare insert`,
    );
    console.log(
      `  update, 1 % changed   ${updateMs.toFixed(0).padStart(7)} ms  ${ratio(updateMs, bareMs)} of the bare insert, ${updated.changed} changed`,
    );
    console.log(`  search, bare FTS5     ${percentiles(bareTook)}`);
    console.log(
      `  search, 3 words       ${percentiles(took)}, ${ratio(percentile(took, 0.5), percentile(bareTook, 0.5))}`,
    );
    if (rg !== undefined)
      console.log(
        `  rg, the same words    median ${median(scanned).toFixed(0)} ms (n = ${scanned.length}); search is ${ratio(percentile(took, 0.5), median(scanned))}`,
      );
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

// Searching, finding and listing in a tree of 50,000 files, over ripgrep and the file system by themselves, in one run.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Tool, ToolContext, Workspace } from '../src/core/index.ts';
import type * as Tools from '../src/tools/index.ts';
import type * as Workspaces from '../src/workspace/index.ts';
import { median } from './median.ts';
import { findRipgrep } from '../src/tools/ripgrep.ts';
import { localWorkspace as ownWorkspace } from '../src/workspace/index.ts';

const dist = path.join(import.meta.dirname, '..', 'dist');

/** A thousand folders of fifty files of three kilobytes; one file in five hundred holds the word that is looked for. */
function writeFileTree(root: string): void {
  const line = (i: number, n: number): string => `export const value${i} = compute(${i * n}, "some words here ${i}");`;
  for (let folder = 0; folder < 1000; folder++) {
    const at = path.join(root, `part${folder % 20}`, `folder${folder}`);
    mkdirSync(at, { recursive: true });
    for (let i = 0; i < 50; i++) {
      const n = folder * 50 + i;
      const text = Array.from({ length: 50 }, (_, k) => line(k, n)).join('\n');
      writeFileSync(path.join(at, `file${i}.ts`), `${text}\n${n % 500 === 0 ? 'the needle is here\n' : ''}`);
    }
  }
  writeFileSync(path.join(root, '.gitignore'), 'dist/\n*.log\n');
}

type BenchCase = readonly [name: string, work: () => unknown];

/** The median of each way, rounds interleaved so that noise falls on all of them alike; the first way is the floor. */
async function compare(title: string, ways: readonly BenchCase[], rounds: number): Promise<void> {
  const took = ways.map((): number[] => []);
  for (let round = 0; round <= rounds; round++)
    for (const [i, [, work]] of ways.entries()) {
      const since = performance.now();
      await work();
      // The first round warms the disk's cache and the compiler.
      if (round > 0) took[i]?.push(performance.now() - since);
    }
  const medians = took.map(median);
  console.log(`\n${title}`);
  for (const [i, [name]] of ways.entries()) {
    const ms = medians[i] ?? Number.NaN;
    console.log(`  ${name.padEnd(24)}${ms.toFixed(2).padStart(9)} ms  x${(ms / (medians[0] ?? 1)).toFixed(2)}`);
  }
}

const context = { signal: new AbortController().signal } as ToolContext;

/** Measures and prints. */
export async function benchSearch(rounds: number): Promise<void> {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-tree-')));
  try {
    writeFileTree(root);
    const { grep, glob, listFiles, codingTools } = (await import(path.join(dist, 'tools.js'))) as typeof Tools;
    const { localWorkspace } = (await import(path.join(dist, 'workspace.js'))) as typeof Workspaces;
    const workspace: Workspace = localWorkspace({ roots: [root] });
    const rg = findRipgrep(ownWorkspace({ roots: [root] }));
    if (rg === undefined) return console.log('\nThere is no ripgrep here, so searching is not measured.');
    const bare =
      (...args: readonly string[]) =>
      (): unknown =>
        spawnSync(rg, ['--no-config', '--hidden', ...args, './'], { cwd: root, encoding: 'utf8', maxBuffer: 1e9 });
    const tried = (tool: Tool, input: Parameters<Tool['execute']>[0]) => (): unknown => tool.execute(input, context);
    for (const pattern of ['needle', 'nowhere to be found'])
      await compare(
        `Searching 50,000 files for "${pattern}"`,
        [
          ['rg', bare('-n', '--', pattern)],
          ['grep, through ripgrep', tried(grep(workspace, { ripgrep: rg }), { pattern })],
          ['grep, plain', tried(grep(workspace, { ripgrep: false }), { pattern })],
        ],
        rounds,
      );
    const kept = new Map(codingTools(workspace).map((tool) => [tool.name, tool]));
    const pattern = '**/file7.ts';
    await compare(
      'Finding 1,000 of 50,000 files by name',
      [
        ['rg --files', bare('--files', '-g', pattern)],
        ['glob', tried(glob(workspace), { pattern })],
        ['glob, asked again', tried(kept.get('glob') as Tool, { pattern })],
      ],
      rounds,
    );
    const folder = 'part7/folder7';
    await compare(
      'Listing a folder of 50 files, 100 times',
      [
        ['readdir', repeat100(() => readdirSync(path.join(root, folder), { withFileTypes: true }))],
        ['list_files', repeat100(tried(listFiles(workspace), { path: folder }))],
        ['list_files, asked again', repeat100(tried(kept.get('list_files') as Tool, { path: folder }))],
        ['read_file', repeat100(tried(kept.get('read_file') as Tool, { path: `${folder}/file7.ts` }))],
      ],
      rounds,
    );
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

const repeat100 = (work: () => unknown) => async (): Promise<void> => {
  for (let i = 0; i < 100; i++) await work();
};

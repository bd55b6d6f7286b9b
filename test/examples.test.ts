// Examples of the documentation: each one runs and checks itself, and every TypeScript block of the documents is part of one.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { pathToFileURL } from 'node:url';

const root = path.resolve(import.meta.dirname, '..');
const examples = ['.', 'behaviours', 'bridges', 'eval', 'patterns', 'quick-start', 'retrieval', 'verify'].flatMap(
  (folder) =>
    readdirSync(path.join(root, 'examples', folder))
      .filter((name) => name.endsWith('.ts'))
      .map((name) => path.posix.join(folder, name)),
);
/** Without a build the examples import the sources. */
const importArgs = existsSync(path.join(root, 'dist', 'index.js'))
  ? []
  : ['--import', pathToFileURL(path.join(root, 'test/support/source-imports.ts')).href];

/** The examples that prove requirements have tests of their own. */
const requiredExamples = new Set(['advanced-wiring.ts', 'quick-start/single-agent.ts']);

for (const name of examples.filter((each) => !requiredExamples.has(each)))
  test(`examples/${name} runs and checks itself`, { timeout: 60_000 }, () => runExample(name));

test(
  '[D2, D32] examples/advanced-wiring.ts wires an adapter, a hidden tool, a cache, a reminder and a run file in one program',
  { timeout: 60_000 },
  () => runExample('advanced-wiring.ts'),
);

test(
  '[P37, P39, P76] examples/quick-start/single-agent.ts is an agent with a model, a history and the tools read_file, write_file and bash_exec',
  { timeout: 60_000 },
  () => runExample('quick-start/single-agent.ts'),
);

type ExampleResult = { readonly file: string; readonly error?: string };
type FolderResult = {
  readonly status: number | null;
  readonly stderr: string;
  readonly results: readonly ExampleResult[];
};
const folderResults = new Map<string, FolderResult>();

/** Runs the examples of a folder in one process, which must end by itself: they import the same packages. */
function runFolder(folder: string): FolderResult {
  const known = folderResults.get(folder);
  if (known) return known;
  const runner = path.join(root, 'test/support/run-examples.ts');
  const files = examples.filter((name) => path.posix.dirname(name) === folder).map((name) => `examples/${name}`);
  const { status, stderr, output } = spawnSync(process.execPath, [...importArgs, runner, ...files], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    timeout: 60_000,
  });
  const lines = (output[3] ?? '').split('\n').filter((line) => line !== '');
  const result = { status, stderr, results: lines.map((line) => JSON.parse(line) as ExampleResult) };
  folderResults.set(folder, result);
  return result;
}

function runExample(name: string): void {
  const { status, stderr, results } = runFolder(path.posix.dirname(name));
  const result = results.find(({ file }) => file === `examples/${name}`);
  assert.ok(result, `it did not end: ${stderr}`);
  assert.equal(result.error, undefined);
  assert.equal(status, 0, stderr);
}

test('[P53, P80] every TypeScript block of README and docs is part of an example', () => {
  const sources = examples.map((name) => readFileSync(path.join(root, 'examples', name), 'utf8'));
  const documents = [
    'README.md',
    ...readdirSync(path.join(root, 'docs'))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `docs/${name}`),
  ];
  for (const document of documents) {
    for (const [, block = ''] of readFileSync(path.join(root, document), 'utf8').matchAll(/```ts\n([\s\S]*?)```/g)) {
      assert.ok(
        sources.some((source) => source.includes(block)),
        `${document} has a block that no example contains:\n${block}`,
      );
    }
  }
});

test('[P80] every package subpath of the first level is imported by an example', () => {
  const sources = examples.map((name) => readFileSync(path.join(root, 'examples', name), 'utf8'));
  const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { readonly exports: object };
  const subpaths = Object.keys(manifest.exports).filter((name) => /^\.(\/[\w-]+)?$/.test(name));
  const unused = subpaths.filter(
    (name) => !sources.some((source) => source.includes(`from '${path.posix.join('fairlead', name)}`)),
  );
  assert.deepEqual(unused, []);
});

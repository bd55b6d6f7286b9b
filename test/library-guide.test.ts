// The library guide has every option, method and result of the public types, and tells the truth about the files that a program writes.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { findUndocumentedExports, libraryGuide, renderLibraryGuide } from '../scripts/docs/library-guide.ts';
import { readSourceTree, parseSourceFile, type SourceTree } from '../scripts/lint-repo/source-tree.ts';
import { Agent, Harness } from '../src/index.ts';
import { says, scriptedProvider } from '../src/testing/index.ts';

const root = path.resolve(import.meta.dirname, '..');
const tree = readSourceTree(root);
const guide = readFileSync(path.join(root, libraryGuide), 'utf8');

/** The same tree with another text of one file. */
function withChange(file: string, change: (text: string) => string): SourceTree {
  const text = change(tree.text(file));
  assert.notEqual(text, tree.text(file));
  return { ...tree, sources: new Map(tree.sources).set(file, parseSourceFile(file, text)) };
}

test('[P80] the tables of the library guide are those of the types: run `npm run guide`', () => {
  assert.equal(renderLibraryGuide(tree, guide), guide);
  assert.deepEqual(findUndocumentedExports(tree, guide), []);
});

test('a new option, a new method and a new option type are missing in the guide until it is written again', () => {
  const option = withChange('src/agent/run-options.ts', (text) =>
    text.replace(
      '  /** Decides about tool calls',
      '  /** New. */\n  readonly newOption?: string;\n  /** Decides about tool calls',
    ),
  );
  assert.match(renderLibraryGuide(option, guide), /\| `newOption\?` \| `string` \| New\. \|/);
  const method = withChange('src/agent/session.ts', (text) =>
    text.replace('  /** Stops the active run', '  /** Renews. */\n  renew(): void {}\n\n  /** Stops the active run'),
  );
  assert.match(renderLibraryGuide(method, guide), /\| `renew\(\)` \| `void` \| Renews\. \|/);
  const bare = withChange('src/agent/agent.ts', (text) => text.replace('/** The system prompt. */', ''));
  assert.throws(() => renderLibraryGuide(bare, guide), /AgentOptions has members without a comment: instructions/);
  const type = withChange('src/index.ts', (text) =>
    text.replace('  type RunOptions,', '  type RunOptions,\n  type NewOptions,'),
  );
  assert.deepEqual(findUndocumentedExports(type, guide), [`${libraryGuide} has no table of NewOptions.`]);
});

test('every event of a stream is in the guide', () => {
  const source = tree.text('src/agent/stream-events.ts');
  const union = /export type StreamEvent[\s\S]*?;\n\n/.exec(source)?.[0] ?? '';
  const types = [...union.matchAll(/readonly type: '(\w+)'/g)].map(([, type]) => type);
  assert.ok(types.length >= 10);
  for (const type of types) assert.ok(guide.includes(`\`${type}\``), type);
});

test('[D8] only a harness without runDir writes a directory `runs`; an agent writes nothing', async (t) => {
  const dir = mkdtempSync(path.join(tmpdir(), 'fairlead-files-'));
  const before = process.cwd();
  process.chdir(dir);
  t.after(() => {
    process.chdir(before);
    rmSync(dir, { recursive: true, force: true });
  });
  await new Agent({ model: scriptedProvider([says('ok')]) }).run('go');
  const inMemory = new Harness({ provider: scriptedProvider([says('ok')]), system: 'x', runDir: null });
  await inMemory.run('go');
  assert.deepEqual(readdirSync(dir), []);
  const harness = new Harness({ provider: scriptedProvider([says('ok')]), system: 'x' });
  await harness.run('go');
  await harness.close();
  assert.deepEqual(readdirSync(dir), ['runs']);
  assert.equal(readdirSync(path.join(dir, 'runs')).length, 1);
});

// Examples of the documentation: each one runs and checks itself, and every TypeScript block of the documents is part of one.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';

const root = path.resolve(import.meta.dirname, '..');
const examples = ['.', 'behaviours', 'bridges', 'quick-start'].flatMap((folder) =>
  readdirSync(path.join(root, 'examples', folder))
    .filter((name) => name.endsWith('.ts'))
    .map((name) => path.posix.join(folder, name)),
);
const unbuilt = existsSync(path.join(root, 'dist', 'index.js')) ? false : 'dist/ is not built: npm run build';

for (const name of examples) {
  test(`examples/${name} runs and checks itself`, { skip: unbuilt, timeout: 60_000 }, () => {
    const { status, stderr } = spawnSync(process.execPath, [path.join(root, 'examples', name)], {
      cwd: root,
      encoding: 'utf8',
    });
    assert.equal(status, 0, stderr);
  });
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

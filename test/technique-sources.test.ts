// The table of sources in docs/architecture.md: each technique names a source and the files that implement it, and they exist.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';

const root = path.resolve(import.meta.dirname, '..');

function readSourceRows(): readonly (readonly [technique: string, source: string, files: readonly string[]])[] {
  const text = readFileSync(path.join(root, 'docs/architecture.md'), 'utf8');
  const section = text.split('\n## Sources of the techniques\n')[1]?.split('\n## ')[0] ?? '';
  return section
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| technique'))
    .map((line) => {
      const [technique = '', source = '', files = ''] = line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim());
      return [technique, source, [...files.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file)] as const;
    });
}

test('[A124] the architecture names the source of each technique, and the file that implements it', () => {
  const rows = readSourceRows();
  assert.ok(rows.length >= 20, `${rows.length} techniques`);
  for (const [technique, source, files] of rows) {
    assert.match(source, /\b(?:19|20)\d\d\b|DBOS/, `${technique}: a year or a project`);
    assert.ok(files.length > 0, technique);
    for (const file of files) assert.ok(existsSync(path.join(root, file)), `${technique}: there is no ${file}`);
  }
});

test('[A124] each module that decides by a published technique is in the table', () => {
  const files = new Set(
    readSourceRows().flatMap(([, , each]) => each.map((file) => file.split('/').slice(0, 3).join('/'))),
  );
  const modules = [
    'src/checks/uncertainty',
    'src/checks/calibration',
    'src/checks/claims',
    'src/guards/flow',
    'src/retrieval/fuse-lists.ts',
    'src/retrieval/storage',
    'src/fleet/health',
    'src/evals/redteam',
    'src/coding-agent/releases',
    'src/coding-agent/quarantine',
    'src/providers/gateway',
    'src/stores/jsonl',
  ];
  assert.deepEqual(
    modules.filter((module) => !files.has(module)),
    [],
  );
});

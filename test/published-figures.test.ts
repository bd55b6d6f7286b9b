// The figures about the product in docs/architecture.md are compared with the repository.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { commands } from '../src/cli/command-table.ts';

const root = path.resolve(import.meta.dirname, '..');
const readText = (file: string): string => readFileSync(path.join(root, file), 'utf8');

function readFigures(): ReadonlyMap<string, number> {
  const section = readText('docs/architecture.md').split('\n## Size\n')[1]?.split('\n## ')[0] ?? '';
  return new Map(
    [...section.matchAll(/^\| (.+?) \| ([\d,]+) \|$/gm)].map(([, what = '', figure = '']) => [
      what.trim(),
      Number(figure.replaceAll(',', '')),
    ]),
  );
}

const isTest = (file: string): boolean => file.includes('.test.') || file.startsWith('test');
const countLines = (patterns: readonly string[], isCounted: (file: string) => boolean): number =>
  globSync([...patterns], { cwd: root })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => isCounted(file))
    .reduce((sum, file) => sum + readText(file).split('\n').length - 1, 0);

test('[A109] the published figures about the product are those of the repository', () => {
  const manifest = JSON.parse(readText('package.json')) as {
    readonly exports: Readonly<Record<string, unknown>>;
    readonly dependencies?: Readonly<Record<string, string>>;
  };
  const exact: Readonly<Record<string, number>> = {
    'commands of the program': Object.keys(commands).length,
    'subpaths of the package': Object.keys(manifest.exports).filter((name) => name !== './package.json').length,
    'dependencies that are installed with the package': Object.keys(manifest.dependencies ?? {}).length,
  };
  const lines: Readonly<Record<string, number>> = {
    'lines of product code in `src`': countLines(['src/**/*.ts'], (file) => !isTest(file)),
    'lines of the page in `web/src`': countLines(['web/src/**/*.{ts,tsx,css}'], (file) => !isTest(file)),
    'lines of tests': countLines(['src/**/*.test.ts', 'test/**/*.ts', 'web/src/**/*.test.ts'], isTest),
  };
  const figures = readFigures();
  assert.deepEqual([...figures.keys()].toSorted(), [...Object.keys(exact), ...Object.keys(lines)].toSorted());
  for (const [what, measured] of Object.entries(exact)) assert.equal(figures.get(what), measured, what);
  for (const [what, measured] of Object.entries(lines)) {
    const stated = figures.get(what) ?? 0;
    assert.ok(Math.abs(stated - measured) <= measured / 20, `${what}: ${stated} is stated, ${measured} are there`);
  }
});

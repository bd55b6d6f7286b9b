// Law 7, Floors: imports point down; and each check of the house is seen to fail on a tree that breaks it.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { checkCycles } from '../scripts/lint-repo/cycles.ts';
import { checkDocComments } from '../scripts/lint-repo/doc-comments.ts';
import { checkLayers } from '../scripts/lint-repo/layers.ts';
import { checkLockfile } from '../scripts/lint-repo/lockfile.ts';
import { checkFileHeaders } from '../scripts/lint-repo/file-headers.ts';
import { checkSizes } from '../scripts/lint-repo/sizes.ts';
import { readSourceTree, type RepoCheck } from '../scripts/lint-repo/source-tree.ts';
import { checkBannedText } from '../scripts/lint-repo/banned-text.ts';

type Files = Readonly<Record<string, string>>;

const repoTree = readSourceTree(path.resolve(import.meta.dirname, '..'));

for (const [name, check] of Object.entries({ layers: checkLayers, cycles: checkCycles, sizes: checkSizes })) {
  test(`law 7, ${name}: this tree keeps it`, () => assert.deepEqual(check(repoTree), []));
}

/** A small house in which everything is right, and the files that a case adds or changes. */
const validTree: Files = {
  'src/index.ts': `// The front door of it.\nexport { start } from './agent/index.ts';`,
  'src/core/index.ts': `// The core of the house.\nexport type { Fact } from './fact.ts';`,
  'src/core/fact.ts': `// What a fact is.\n/** One fact of a log. */\nexport type Fact = { readonly type: string };`,
  'src/core/fact.test.ts': `import fc from 'fast-check';\nimport { start } from '../agent/index.ts';\nvoid [fc, start];`,
  'src/stores/index.ts': `// Where logs are kept.\nimport { readFileSync } from 'node:fs';\nimport type { Fact } from '../core/index.ts';\nvoid readFileSync;\n/** Reads one fact back. */\nexport function read(): Fact | undefined {\n  return undefined;\n}`,
  'src/testing/index.ts': `// What users test with.\nimport type { Fact } from '../core/index.ts';\n/** A fact out of a script. */\nexport const scripted: Fact = { type: 'x' };`,
  'src/agent/index.ts': `// Where the parts meet.\nimport { read } from '../stores/index.ts';\n/** Starts a session now. */\nexport const start = (): unknown => read();`,
  'src/cli/index.ts': `// The terminal and its commands.\nimport { start } from '../agent/index.ts';\n/** Runs the whole thing. */\nexport const main = async (): Promise<unknown> => [start(), await import('../agent/index.ts')];`,
  'src/server/index.ts': `// The HTTP door to it.\nexport { start } from '../agent/index.ts';`,
  'web/app.ts': `// The page that shows it.\nimport type { Fact } from '../src/core/index.ts';\n/** A fact as a row. */\nexport type Row = Fact;`,
};

function runCheck(t: test.TestContext, check: RepoCheck, files: Files): string[] {
  const root = mkdtempSync(path.join(tmpdir(), 'fairlead-house-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  for (const [name, text] of Object.entries({ ...validTree, ...files })) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), `${text}\n`);
  }
  return check(readSourceTree(root));
}

for (const [name, check] of Object.entries({
  layers: checkLayers,
  cycles: checkCycles,
  sizes: checkSizes,
  'doc-comments': checkDocComments,
  'file-headers': checkFileHeaders,
  'banned-text': checkBannedText,
  lockfile: checkLockfile,
})) {
  test(`law 7, ${name}: a sound small house passes`, (t) => assert.deepEqual(runCheck(t, check, {}), []));
}

/** Joins words that this very file may not hold in one piece. */
const joinText = (...pieces: string[]): string => pieces.join('');

const header = '// A file that is here to break a law.\n';
const violations: readonly (readonly [what: string, check: RepoCheck, files: Files, sentence: RegExp])[] = [
  [
    'the core imports Node',
    checkLayers,
    { 'src/core/a.ts': `${header}import 'node:fs';` },
    /core\/a\.ts:2 .*no package/,
  ],
  [
    'the core imports a bare builtin',
    checkLayers,
    { 'src/core/a.ts': `${header}import 'fs';` },
    /no package and nothing of Node/,
  ],
  [
    'the core imports a package',
    checkLayers,
    { 'src/core/a.ts': `${header}import type { z } from 'zod';` },
    /no package/,
  ],
  [
    'the core imports a room',
    checkLayers,
    { 'src/core/a.ts': `${header}import '../stores/index.ts';` },
    /nothing outside itself/,
  ],
  [
    'the core imports package.json',
    checkLayers,
    { 'src/core/a.ts': `${header}import '../../package.json';` },
    /outside src/,
  ],
  [
    'the core imports lazily',
    checkLayers,
    { 'src/core/a.ts': `${header}await import('../agent/index.ts');` },
    /nothing outside itself/,
  ],
  [
    'the core reaches up by a type',
    checkLayers,
    { 'src/core/a.ts': `${header}type A = import('../agent/index.ts').A;` },
    /nothing outside/,
  ],
  [
    'the core re-exports from above',
    checkLayers,
    { 'src/core/a.ts': `${header}export { read } from '../stores/index.ts';` },
    /nothing outside/,
  ],
  [
    'floor 1 imports its neighbour',
    checkLayers,
    { 'src/tools/a.ts': `${header}import '../stores/index.ts';` },
    /never import each other/,
  ],
  [
    'testing imports its neighbour',
    checkLayers,
    { 'src/testing/a.ts': `${header}import '../stores/index.ts';` },
    /never import each other/,
  ],
  [
    'floor 1 imports the agent',
    checkLayers,
    { 'src/rules/a.ts': `${header}import '../agent/index.ts';` },
    /rules may not import agent/,
  ],
  [
    'floor 1 imports the front door',
    checkLayers,
    { 'src/rules/a.ts': `${header}import '../index.ts';` },
    /may not import the front door/,
  ],
  [
    'the agent imports the terminal',
    checkLayers,
    { 'src/agent/a.ts': `${header}import '../cli/index.ts';` },
    /agent may not import cli/,
  ],
  [
    'the agent imports a bridge',
    checkLayers,
    { 'src/agent/a.ts': `${header}import '../bridges/index.ts';` },
    /agent may not import bridges/,
  ],
  [
    'a bridge imports the server',
    checkLayers,
    { 'src/bridges/a.ts': `${header}import '../server/index.ts';` },
    /bridges may not import server/,
  ],
  [
    'the server imports the terminal',
    checkLayers,
    { 'src/server/a.ts': `${header}import '../cli/index.ts';` },
    /server may not import cli/,
  ],
  [
    'product code imports testing',
    checkLayers,
    { 'src/agent/a.ts': `${header}import '../testing/index.ts';` },
    /does not import testing/,
  ],
  [
    'the front door imports testing',
    checkLayers,
    { 'src/index.ts': `${header}import './testing/index.ts';` },
    /does not import testing/,
  ],
  [
    'product code imports a test',
    checkLayers,
    { 'src/agent/a.ts': `${header}import './a.test.ts';` },
    /does not import tests/,
  ],
  [
    'product code imports outside src',
    checkLayers,
    { 'src/agent/a.ts': `${header}import '../../scripts/b.ts';` },
    /outside src/,
  ],
  [
    'product code imports itself by name',
    checkLayers,
    { 'src/rules/a.ts': `${header}import 'fairlead/stores';` },
    /relative path/,
  ],
  [
    'web imports more than types',
    checkLayers,
    { 'web/a.tsx': `import { x } from '../src/core/index.ts';\nvoid (<p>{x}</p>);` },
    /web knows the core's types/,
  ],
  [
    'web imports the agent',
    checkLayers,
    { 'web/a.ts': `import type { x } from '../src/agent/index.ts';` },
    /web knows the core's types/,
  ],
  ['a room is not in the plan', checkLayers, { 'src/utils/index.ts': header }, /no room of the house plan/],
  ['a file does not parse', checkLayers, { 'src/agent/a.ts': `${header}const = 1;` }, /does not parse/],
  [
    'two files load each other',
    checkCycles,
    { 'src/agent/a.ts': `${header}import './b.ts';`, 'src/agent/b.ts': `${header}export {} from './a.ts';` },
    /circle: src\/agent\/a\.ts, src\/agent\/b\.ts/,
  ],
  [
    'a file loads itself',
    checkCycles,
    { 'src/agent/a.ts': `${header}import './a.ts';` },
    /circle: src\/agent\/a\.ts\./,
  ],
  ['a file is too long', checkSizes, { 'src/agent/a.ts': header.repeat(301) }, /a\.ts has 301 lines; at most 300/],
  ['an adapter is too long', checkSizes, { 'src/providers/a.ts': header.repeat(401) }, /has 401 lines; at most 400/],
  ['the loop is too long', checkSizes, { 'src/core/loop.ts': header.repeat(81) }, /has 81 lines; at most 80/],
  ['a room has no index', checkSizes, { 'src/tools/a.ts': header }, /src\/tools has no index\.ts/],
  [
    'an index exports a star',
    checkSizes,
    { 'src/core/index.ts': `${header}export * from './fact.ts';` },
    /says "export \*"/,
  ],
  [
    'src has too many folders',
    checkSizes,
    Object.fromEntries('abcdefgh'.split('').map((name) => [`src/${name}/index.ts`, header])),
    /src has 14 folders; at most 13/,
  ],
  [
    'an export is undocumented',
    checkDocComments,
    { 'src/agent/a.ts': `${header}export const a = 1;` },
    /a\.ts:2 exports a /,
  ],
  [
    'a line comment documents',
    checkDocComments,
    { 'src/agent/a.ts': `${header}// It is a number.\nexport const a = 1;` },
    /exports a /,
  ],
  [
    'a doc comment is far',
    checkDocComments,
    { 'src/agent/a.ts': `${header}/** It is one. */\n\nexport type A = 1;` },
    /exports A /,
  ],
  [
    'a doc comment is no sentence',
    checkDocComments,
    { 'src/agent/a.ts': `${header}/** the a */\nexport type A = 1;` },
    /exports A /,
  ],
  [
    'a listed export is undocumented',
    checkDocComments,
    { 'src/agent/a.ts': `${header}const a = 1;\nexport { a };` },
    /a\.ts:2 exports a /,
  ],
  ['a file opens without a sentence', checkFileHeaders, { 'src/agent/a.ts': 'export {};' }, /a\.ts does not open with/],
  [
    'a file opens with a word',
    checkFileHeaders,
    { 'src/agent/a.ts': '// agent\nexport {};' },
    /a\.ts does not open with/,
  ],
  [
    'a host is named',
    checkBannedText,
    { 'README.md': joinText('see registry.', 'npmjs.org') },
    /README\.md:1 .*names a package registry/,
  ],
  [
    'the lock names a host',
    checkBannedText,
    { 'package-lock.json': joinText('{ "resolved": ', '"https://x/y.tgz" }') },
    /names where a package came/,
  ],
  [
    'the lock lacks a platform package',
    checkLockfile,
    {
      'package-lock.json':
        '{ "packages": { "node_modules/a": { "optionalDependencies": { "a-linux-x64": "1.0.0" } } } }',
    },
    /lacks 1 platform packages such as a-linux-x64/,
  ],
  [
    'the lock holds another version of it for somebody else',
    checkLockfile,
    {
      'package-lock.json':
        '{ "packages": { "node_modules/v/node_modules/a": { "optionalDependencies": { "a-linux-x64": "1.0.0" } }, "node_modules/a-linux-x64": { "version": "2.0.0" } } }',
    },
    /lacks 1 platform packages such as a-linux-x64/,
  ],
  [
    'a machine path is named',
    checkBannedText,
    { 'docs/a.md': joinText('in /', 'root/x') },
    /is a path of somebody's machine/,
  ],
  [
    'business is unfinished',
    checkBannedText,
    { 'src/agent/a.ts': joinText('// TO', 'DO later') },
    /unfinished business/,
  ],
  [
    'types are switched off',
    checkBannedText,
    { 'src/agent/a.ts': joinText('const a = 1 as ', 'any;') },
    /switches types off/,
  ],
  [
    'a parameter has no type',
    checkBannedText,
    { 'test/a.ts': joinText('const f = (a: ', 'any) => a;') },
    /switches types off/,
  ],
  [
    'the checker is switched off',
    checkBannedText,
    { 'src/agent/a.ts': joinText('// @ts-', 'ignore') },
    /switches the type checker off/,
  ],
];

for (const [what, check, files, sentence] of violations) {
  test(`law 7 is seen to fail when ${what}`, (t) => {
    const sentences = runCheck(t, check, files);
    assert.ok(
      sentences.some((each) => sentence.test(each)),
      `expected a sentence like ${sentence} among ${JSON.stringify(sentences)}`,
    );
  });
}

test('law 7: a cycle of types alone, or one that a lazy import closes, is no cycle', (t) => {
  const files = {
    'src/agent/a.ts': `${header}import type { B } from './b.ts';\nexport type A = B;`,
    'src/agent/b.ts': `${header}import './c.ts';\nexport type { A } from './a.ts';`,
    'src/agent/c.ts': `${header}export const later = () => import('./b.ts');`,
  };
  assert.deepEqual(runCheck(t, checkCycles, files), []);
});

// Law 7, Floors: imports point down; and each check of the house is seen to fail on a tree that breaks it.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { cycles } from '../scripts/house/cycles.ts';
import { documentation } from '../scripts/house/documentation.ts';
import { floors } from '../scripts/house/floors.ts';
import { lockfile } from '../scripts/house/lockfile.ts';
import { openings } from '../scripts/house/openings.ts';
import { sizes } from '../scripts/house/sizes.ts';
import { readTree, type HouseCheck } from '../scripts/house/tree.ts';
import { words } from '../scripts/house/words.ts';

type Files = Readonly<Record<string, string>>;

const ours = readTree(path.resolve(import.meta.dirname, '..'));

for (const [name, check] of Object.entries({ floors, cycles, sizes })) {
  test(`law 7, ${name}: this tree keeps it`, () => assert.deepEqual(check(ours), []));
}

/** A small house in which everything is right, and the files that a case adds or changes. */
const sound: Files = {
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

function judge(t: test.TestContext, check: HouseCheck, files: Files): string[] {
  const root = mkdtempSync(path.join(tmpdir(), 'fairlead-house-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  for (const [name, text] of Object.entries({ ...sound, ...files })) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), `${text}\n`);
  }
  return check(readTree(root));
}

for (const [name, check] of Object.entries({ floors, cycles, sizes, documentation, openings, words, lockfile })) {
  test(`law 7, ${name}: a sound small house passes`, (t) => assert.deepEqual(judge(t, check, {}), []));
}

/** Joins words that this very file may not hold in one piece. */
const glue = (...pieces: string[]): string => pieces.join('');

const open = '// A file that is here to break a law.\n';
const breaches: readonly (readonly [what: string, check: HouseCheck, files: Files, sentence: RegExp])[] = [
  ['the core imports Node', floors, { 'src/core/a.ts': `${open}import 'node:fs';` }, /core\/a\.ts:2 .*no package/],
  [
    'the core imports a bare builtin',
    floors,
    { 'src/core/a.ts': `${open}import 'fs';` },
    /no package and nothing of Node/,
  ],
  ['the core imports a package', floors, { 'src/core/a.ts': `${open}import type { z } from 'zod';` }, /no package/],
  [
    'the core imports a room',
    floors,
    { 'src/core/a.ts': `${open}import '../stores/index.ts';` },
    /nothing outside itself/,
  ],
  ['the core imports package.json', floors, { 'src/core/a.ts': `${open}import '../../package.json';` }, /outside src/],
  [
    'the core imports lazily',
    floors,
    { 'src/core/a.ts': `${open}await import('../agent/index.ts');` },
    /nothing outside itself/,
  ],
  [
    'the core reaches up by a type',
    floors,
    { 'src/core/a.ts': `${open}type A = import('../agent/index.ts').A;` },
    /nothing outside/,
  ],
  [
    'the core re-exports from above',
    floors,
    { 'src/core/a.ts': `${open}export { read } from '../stores/index.ts';` },
    /nothing outside/,
  ],
  [
    'floor 1 imports its neighbour',
    floors,
    { 'src/tools/a.ts': `${open}import '../stores/index.ts';` },
    /never import each other/,
  ],
  [
    'testing imports its neighbour',
    floors,
    { 'src/testing/a.ts': `${open}import '../stores/index.ts';` },
    /never import each other/,
  ],
  [
    'floor 1 imports the agent',
    floors,
    { 'src/rules/a.ts': `${open}import '../agent/index.ts';` },
    /rules may not import agent/,
  ],
  [
    'floor 1 imports the front door',
    floors,
    { 'src/rules/a.ts': `${open}import '../index.ts';` },
    /may not import the front door/,
  ],
  [
    'the agent imports the terminal',
    floors,
    { 'src/agent/a.ts': `${open}import '../cli/index.ts';` },
    /agent may not import cli/,
  ],
  [
    'the agent imports a bridge',
    floors,
    { 'src/agent/a.ts': `${open}import '../bridges/index.ts';` },
    /agent may not import bridges/,
  ],
  [
    'a bridge imports the server',
    floors,
    { 'src/bridges/a.ts': `${open}import '../server/index.ts';` },
    /bridges may not import server/,
  ],
  [
    'the server imports the terminal',
    floors,
    { 'src/server/a.ts': `${open}import '../cli/index.ts';` },
    /server may not import cli/,
  ],
  [
    'product code imports testing',
    floors,
    { 'src/agent/a.ts': `${open}import '../testing/index.ts';` },
    /does not import testing/,
  ],
  [
    'the front door imports testing',
    floors,
    { 'src/index.ts': `${open}import './testing/index.ts';` },
    /does not import testing/,
  ],
  [
    'product code imports a test',
    floors,
    { 'src/agent/a.ts': `${open}import './a.test.ts';` },
    /does not import tests/,
  ],
  [
    'product code imports outside src',
    floors,
    { 'src/agent/a.ts': `${open}import '../../scripts/b.ts';` },
    /outside src/,
  ],
  [
    'product code imports itself by name',
    floors,
    { 'src/rules/a.ts': `${open}import 'fairlead/stores';` },
    /relative path/,
  ],
  [
    'web imports more than types',
    floors,
    { 'web/a.tsx': `import { x } from '../src/core/index.ts';\nvoid (<p>{x}</p>);` },
    /web knows the core's types/,
  ],
  [
    'web imports the agent',
    floors,
    { 'web/a.ts': `import type { x } from '../src/agent/index.ts';` },
    /web knows the core's types/,
  ],
  ['a room is not in the plan', floors, { 'src/utils/index.ts': open }, /no room of the house plan/],
  ['a file does not parse', floors, { 'src/agent/a.ts': `${open}const = 1;` }, /does not parse/],
  [
    'two files load each other',
    cycles,
    { 'src/agent/a.ts': `${open}import './b.ts';`, 'src/agent/b.ts': `${open}export {} from './a.ts';` },
    /circle: src\/agent\/a\.ts, src\/agent\/b\.ts/,
  ],
  ['a file loads itself', cycles, { 'src/agent/a.ts': `${open}import './a.ts';` }, /circle: src\/agent\/a\.ts\./],
  ['a file is too long', sizes, { 'src/agent/a.ts': open.repeat(301) }, /a\.ts has 301 lines; at most 300/],
  ['an adapter is too long', sizes, { 'src/providers/a.ts': open.repeat(401) }, /has 401 lines; at most 400/],
  ['the loop is too long', sizes, { 'src/core/loop.ts': open.repeat(81) }, /has 81 lines; at most 80/],
  ['a room has no index', sizes, { 'src/tools/a.ts': open }, /src\/tools has no index\.ts/],
  ['an index exports a star', sizes, { 'src/core/index.ts': `${open}export * from './fact.ts';` }, /says "export \*"/],
  [
    'src has too many folders',
    sizes,
    Object.fromEntries('abcdefgh'.split('').map((name) => [`src/${name}/index.ts`, open])),
    /src has 14 folders; at most 13/,
  ],
  [
    'an export is undocumented',
    documentation,
    { 'src/agent/a.ts': `${open}export const a = 1;` },
    /a\.ts:2 exports a /,
  ],
  [
    'a line comment documents',
    documentation,
    { 'src/agent/a.ts': `${open}// It is a number.\nexport const a = 1;` },
    /exports a /,
  ],
  [
    'a doc comment is far',
    documentation,
    { 'src/agent/a.ts': `${open}/** It is one. */\n\nexport type A = 1;` },
    /exports A /,
  ],
  [
    'a doc comment is no sentence',
    documentation,
    { 'src/agent/a.ts': `${open}/** the a */\nexport type A = 1;` },
    /exports A /,
  ],
  [
    'a listed export is undocumented',
    documentation,
    { 'src/agent/a.ts': `${open}const a = 1;\nexport { a };` },
    /a\.ts:2 exports a /,
  ],
  ['a file opens without a sentence', openings, { 'src/agent/a.ts': 'export {};' }, /a\.ts does not open with/],
  ['a file opens with a word', openings, { 'src/agent/a.ts': '// agent\nexport {};' }, /a\.ts does not open with/],
  [
    'a host is named',
    words,
    { 'README.md': glue('see registry.', 'npmjs.org') },
    /README\.md:1 .*names a package registry/,
  ],
  [
    'the lock names a host',
    words,
    { 'package-lock.json': glue('{ "resolved": ', '"https://x/y.tgz" }') },
    /names where a package came/,
  ],
  [
    'the lock lacks a platform package',
    lockfile,
    {
      'package-lock.json':
        '{ "packages": { "node_modules/a": { "optionalDependencies": { "a-linux-x64": "1.0.0" } } } }',
    },
    /lacks 1 platform packages such as a-linux-x64/,
  ],
  [
    'the lock holds another version of it for somebody else',
    lockfile,
    {
      'package-lock.json':
        '{ "packages": { "node_modules/v/node_modules/a": { "optionalDependencies": { "a-linux-x64": "1.0.0" } }, "node_modules/a-linux-x64": { "version": "2.0.0" } } }',
    },
    /lacks 1 platform packages such as a-linux-x64/,
  ],
  ['a machine path is named', words, { 'docs/a.md': glue('in /', 'root/x') }, /is a path of somebody's machine/],
  ['business is unfinished', words, { 'src/agent/a.ts': glue('// TO', 'DO later') }, /unfinished business/],
  ['types are switched off', words, { 'src/agent/a.ts': glue('const a = 1 as ', 'any;') }, /switches types off/],
  ['a parameter has no type', words, { 'test/a.ts': glue('const f = (a: ', 'any) => a;') }, /switches types off/],
  [
    'the checker is switched off',
    words,
    { 'src/agent/a.ts': glue('// @ts-', 'ignore') },
    /switches the type checker off/,
  ],
];

for (const [what, check, files, sentence] of breaches) {
  test(`law 7 is seen to fail when ${what}`, (t) => {
    const sentences = judge(t, check, files);
    assert.ok(
      sentences.some((each) => sentence.test(each)),
      `expected a sentence like ${sentence} among ${JSON.stringify(sentences)}`,
    );
  });
}

test('law 7: a cycle of types alone, or one that a lazy import closes, is no cycle', (t) => {
  const files = {
    'src/agent/a.ts': `${open}import type { B } from './b.ts';\nexport type A = B;`,
    'src/agent/b.ts': `${open}import './c.ts';\nexport type { A } from './a.ts';`,
    'src/agent/c.ts': `${open}export const later = () => import('./b.ts');`,
  };
  assert.deepEqual(judge(t, cycles, files), []);
});

// Law 7, layers: imports point to lower layers, and each check of the repository fails on a tree that violates it.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { checkCliLayers } from '../scripts/lint-repo/cli-layers.ts';
import { checkCycles } from '../scripts/lint-repo/cycles.ts';
import { checkDocComments } from '../scripts/lint-repo/doc-comments.ts';
import { checkLayers, listDeepImports } from '../scripts/lint-repo/layers.ts';
import { checkLockfile } from '../scripts/lint-repo/lockfile.ts';
import { checkFileHeaders } from '../scripts/lint-repo/file-headers.ts';
import { checkSizes } from '../scripts/lint-repo/sizes.ts';
import { readSourceTree, type RepoCheck } from '../scripts/lint-repo/source-tree.ts';
import { checkBannedText } from '../scripts/lint-repo/banned-text.ts';

type Files = Readonly<Record<string, string>>;

const repoTree = readSourceTree(path.resolve(import.meta.dirname, '..'));

for (const [name, check] of Object.entries({
  layers: checkLayers,
  'cli-layers': checkCliLayers,
  cycles: checkCycles,
  sizes: checkSizes,
})) {
  test(`[A106] law 7, ${name}: this repository keeps it`, () => assert.deepEqual(check(repoTree), []));
}

const emptyModule = `// A module with nothing in it.\nexport {};`;

/** A small valid repository; a case adds or changes files. */
const validTree: Files = {
  'src/index.ts': `// The entry of the package.\nexport { start } from './agent/index.ts';`,
  'src/core/index.ts': `// The core of the repository.\nexport type { Fact } from './fact.ts';`,
  'src/core/fact.ts': `// What a fact is.\n/** One fact of a log. */\nexport type Fact = { readonly type: string };`,
  'src/core/fact.test.ts': `import fc from 'fast-check';\nimport { start } from '../agent/index.ts';\nvoid [fc, start];`,
  'src/stores/index.ts': `// Stores the logs of sessions.\nimport { readFileSync } from 'node:fs';\nimport type { Fact } from '../core/index.ts';\nvoid readFileSync;\n/** Reads one fact. */\nexport function read(): Fact | undefined {\n  return undefined;\n}`,
  'src/testing/index.ts': `// Test doubles for users.\nimport type { Fact } from '../core/index.ts';\n/** A fact of a script. */\nexport const scripted: Fact = { type: 'x' };`,
  'src/agent/index.ts': `// Assembles an agent from its parts.\nimport { read } from '../stores/index.ts';\n/** Starts a session. */\nexport const start = (): unknown => read();`,
  'src/cli/index.ts': `// The terminal and its commands.\nimport { start } from '../agent/index.ts';\n/** Runs the program. */\nexport const main = async (): Promise<unknown> => [start(), await import('../agent/index.ts')];`,
  'src/server/index.ts': `// The HTTP server of the agent.\nexport { start } from '../agent/index.ts';`,
  'web/app.ts': `// The page of the server.\nimport type { Fact } from '../src/core/index.ts';\n/** A fact as a row. */\nexport type Row = Fact;`,
  ...Object.fromEntries(
    [
      'providers',
      'tools',
      'rules',
      'guards',
      'workspace',
      'checks',
      'retrieval',
      'sessions',
      'tracing',
      'fleet',
      'bridges',
      'coding-agent',
      'evals',
    ].map((name) => [`src/${name}/index.ts`, emptyModule]),
  ),
};

function runCheck(
  t: test.TestContext,
  check: RepoCheck,
  files: Readonly<Record<string, string | undefined>>,
): string[] {
  const root = mkdtempSync(path.join(tmpdir(), 'fairlead-layers-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  for (const [name, text] of Object.entries({ ...validTree, ...files })) {
    if (text === undefined) continue;
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), `${text}\n`);
  }
  return check(readSourceTree(root));
}

for (const [name, check] of Object.entries({
  layers: checkLayers,
  'cli-layers': checkCliLayers,
  cycles: checkCycles,
  sizes: checkSizes,
  'doc-comments': checkDocComments,
  'file-headers': checkFileHeaders,
  'banned-text': checkBannedText,
  lockfile: checkLockfile,
})) {
  test(`law 7, ${name}: a small valid repository passes`, (t) => assert.deepEqual(runCheck(t, check, {}), []));
}

/** Joins a text that this file itself must not contain. */
const joinText = (...pieces: string[]): string => pieces.join('');

const header = '// A file that is here to break a law.\n';
const violations: readonly (readonly [
  what: string,
  check: RepoCheck,
  files: Readonly<Record<string, string | undefined>>,
  sentence: RegExp,
])[] = [
  [
    'a call with as many arguments as an array has items',
    checkBannedText,
    { 'src/core/a.ts': `${header}export const a = Math.max(0, ...[1]);` },
    /core\/a\.ts:2 .*RangeError/,
  ],
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
    'the core imports another module',
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
    'the core imports a type from above',
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
    'a module imports another one of its layer',
    checkLayers,
    { 'src/tools/a.ts': `${header}import '../stores/index.ts';` },
    /modules of one layer do not import each other/,
  ],
  [
    'testing imports another module of its layer',
    checkLayers,
    { 'src/testing/a.ts': `${header}import '../stores/index.ts';` },
    /modules of one layer do not import each other/,
  ],
  [
    'a lower module imports the agent',
    checkLayers,
    { 'src/rules/a.ts': `${header}import '../agent/index.ts';` },
    /rules may not import agent/,
  ],
  [
    'a lower module imports the package entry',
    checkLayers,
    { 'src/rules/a.ts': `${header}import '../index.ts';` },
    /may not import the package entry/,
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
    'the package entry imports testing',
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
    /web imports the types of core/,
  ],
  [
    'web imports values of checks',
    checkLayers,
    { 'web/a.ts': `import { verifyAnswer } from '../src/checks/index.ts';` },
    /web imports the types of core, checks and tracing/,
  ],
  [
    'web imports the agent',
    checkLayers,
    { 'web/a.ts': `import type { x } from '../src/agent/index.ts';` },
    /web imports the types of core/,
  ],
  ['a module is in no layer', checkLayers, { 'src/utils/index.ts': header }, /which no layer of the repository lists/],
  [
    'the layers list a module that src does not have',
    checkLayers,
    { 'src/evals/index.ts': undefined },
    /the module evals, which src does not have/,
  ],
  [
    'a tool imports a wire format',
    checkLayers,
    { 'src/wire/index.ts': header, 'src/tools/a.ts': `${header}import '../wire/index.ts';` },
    /tools may not import wire/,
  ],
  [
    'a session imports the coding agent',
    checkLayers,
    { 'src/sessions/a.ts': `${header}import '../coding-agent/index.ts';` },
    /sessions may not import coding-agent/,
  ],
  [
    'the evals import the server',
    checkLayers,
    { 'src/evals/a.ts': `${header}import '../server/index.ts';` },
    /evals may not import server/,
  ],
  ['a file does not parse', checkLayers, { 'src/agent/a.ts': `${header}const = 1;` }, /does not parse/],
  [
    'an argument parser imports the command table',
    checkCliLayers,
    { 'src/cli/args/a.ts': `${header}import type { A } from '../command-table.ts';` },
    /args\/a\.ts:2 .*args may not import command-table/,
  ],
  [
    'a command imports another command lazily',
    checkCliLayers,
    { 'src/cli/commands/why.ts': `${header}await import('./eval.ts');` },
    /commands\/why may not import commands\/eval/,
  ],
  [
    'a directory of the terminal is in no layer',
    checkCliLayers,
    { 'src/cli/misc/a.ts': header },
    /misc\/a\.ts is in no layer of src\/cli/,
  ],
  [
    'two files load each other',
    checkCycles,
    { 'src/agent/a.ts': `${header}import './b.ts';`, 'src/agent/b.ts': `${header}export {} from './a.ts';` },
    /cycle: src\/agent\/a\.ts, src\/agent\/b\.ts/,
  ],
  ['a file loads itself', checkCycles, { 'src/agent/a.ts': `${header}import './a.ts';` }, /cycle: src\/agent\/a\.ts\./],
  ['a file is too long', checkSizes, { 'src/agent/a.ts': header.repeat(321) }, /a\.ts has 321 lines; at most 320/],
  ['an adapter is too long', checkSizes, { 'src/providers/a.ts': header.repeat(401) }, /has 401 lines; at most 400/],
  ['the loop is too long', checkSizes, { 'src/core/loop.ts': header.repeat(81) }, /has 81 lines; at most 80/],
  [
    'a module has no index',
    checkSizes,
    { 'src/tools/a.ts': header, 'src/tools/index.ts': undefined },
    /src\/tools has no index\.ts/,
  ],
  [
    'an index exports a star',
    checkSizes,
    { 'src/core/index.ts': `${header}export * from './fact.ts';` },
    /says "export \*"/,
  ],
  [
    'src has too many directories',
    checkSizes,
    Object.fromEntries('ab'.split('').map((name) => [`src/${name}/index.ts`, header])),
    /src has 21 folders; at most 20/,
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
    'a doc comment is not directly above',
    checkDocComments,
    { 'src/agent/a.ts': `${header}/** It is one. */\n\nexport type A = 1;` },
    /exports A /,
  ],
  [
    'a doc comment is not a sentence',
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
  ['a file has no header comment', checkFileHeaders, { 'src/agent/a.ts': 'export {};' }, /a\.ts does not open with/],
  [
    'a file header is one word',
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
    'a platform package is missing in the lock',
    checkLockfile,
    {
      'package-lock.json':
        '{ "packages": { "node_modules/a": { "optionalDependencies": { "a-linux-x64": "1.0.0" } } } }',
    },
    /lacks 1 platform packages such as a-linux-x64/,
  ],
  [
    'the lock has another version of it for another package',
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
    'a comment marks unfinished work',
    checkBannedText,
    { 'src/agent/a.ts': joinText('// TO', 'DO later') },
    /unfinished business/,
  ],
  [
    'types are turned off',
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
    'the type checker is turned off',
    checkBannedText,
    { 'src/agent/a.ts': joinText('// @ts-', 'ignore') },
    /switches the type checker off/,
  ],
];

for (const [what, check, files, sentence] of violations) {
  test(`law 7 fails when ${what}`, (t) => {
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

test('law 7: providers may import a wire format, and a planned module may be missing', (t) => {
  const files = {
    'src/wire/index.ts': `${header}export {};`,
    'src/providers/a.ts': `${header}import '../wire/index.ts';`,
  };
  assert.deepEqual(runCheck(t, checkLayers, files), []);
});

test('law 7: an import past the index of a module, or of a directory of it, is listed', (t) => {
  const files = {
    'src/tools/mcp/index.ts': header,
    'src/tools/mcp/open.ts': header,
    'src/agent/a.ts': `${header}import '../tools/mcp/index.ts';\nimport '../tools/mcp/open.ts';`,
    'src/agent/b.ts': `${header}import '../core/fact.ts';\nimport './a.ts';`,
  };
  assert.deepEqual(runCheck(t, listDeepImports, files), [
    "src/agent/a.ts:3 imports '../tools/mcp/open.ts': import from the index of the module.",
    "src/agent/b.ts:2 imports '../core/fact.ts': import from the index of the module.",
  ]);
});

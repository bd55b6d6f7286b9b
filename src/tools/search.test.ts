// A search has the same results with ripgrep and with the built-in walk, and ripgrep bypasses no restriction.
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import * as fc from 'fast-check';
import {
  FairleadError,
  skippedNames,
  type Json,
  type ToolOutput,
  type ToolContext,
  type Workspace,
} from '../core/index.ts';
import { localWorkspace } from '../workspace/index.ts';
import { glob } from './glob.ts';
import { grep } from './grep.ts';
import { toRipgrepPattern } from './regex-to-ripgrep.ts';
import { findRipgrep, findCandidateFiles, type RipgrepSearch } from './ripgrep.ts';

import { maxWalkDepth, walkFiles } from './walk.ts';

type Files = Readonly<Record<string, string | Buffer>>;

const neverAborted = new AbortController().signal;

function folder(t: TestContext, files: Files = {}): string {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-search-')));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), content);
  }
  return root;
}

const rg = findRipgrep(localWorkspace({ roots: [import.meta.dirname] }));
const skip = rg === undefined ? 'there is no ripgrep here' : false;

const search = async (workspace: Workspace, input: Json, ripgrep: string | false): Promise<string> =>
  ((await grep(workspace, { ripgrep }).execute(input, { signal: neverAborted } as ToolContext)) as ToolOutput).text;

const tree: Files = {
  '.gitignore': '\ufeff# made\ndist/\n*.log\n!keep.log\n/top.txt\nsrc/**/gen\nspace \\ \n',
  '.ignore': 'src\n',
  '.rgignore': 'src\n',
  '.hidden/one.txt': 'one\n',
  'src/a.ts': 'export const one = 1;\nconst two = one;\n',
  'src/deep/.gitignore': 'c.ts\n!x.log\n',
  'src/deep/c.ts': 'one\n',
  'src/deep/x.log': 'one in a log\n',
  'src/deep/gen/out.ts': 'one\n',
  'top.txt': 'one\n',
  'dist/a.js': 'one\n',
  'x.log': 'one\n',
  'keep.log': 'one\n',
  'ruled/one': 'one\n',
  '.env': 'one=1\n',
  'node_modules/p/i.js': 'one\n',
  '.git/config': 'one\n',
  'a.txt': 'one\n',
  'a/in.txt': 'one\n',
  'a-b.txt': 'one\n',
  'binary.dat': Buffer.from('one\none\0one\n'),
  'late.dat': Buffer.concat([Buffer.from('one\n'.repeat(60_000)), Buffer.from([0])]),
  'latin.txt': Buffer.from([0x6f, 0x6e, 0x65, 0xe4, 0x0a]),
  'wide.txt': Buffer.from('\ufeffone\n', 'utf16le'),
  'bom.txt': '\ufeffone\n',
  'dos.txt': 'one\r\ntwo\r\n',
  'empty.txt': '',
  'blank.txt': '\n\n',
  'größe/naïve.txt': 'Straße one ΣΊΣΥΦΟΣ K 😀😀\n',
  '日本語.txt': 'one 日本語\n',
  'odd\nname.txt': 'one\n',
  '-rf': 'one\n',
  'huge.txt': `${'x'.repeat(1990)}one${'y'.repeat(3_000_000)} one\n`,
  'far.txt': `${'x'.repeat(5000)}one\n`,
  'too-large.txt': 'one\n'.repeat(1_100_000),
  'unterminated.txt': 'last one',
};

const patterns: readonly Json[] = [
  'one',
  '^one$',
  '\\bone\\b',
  'ONE',
  { pattern: 'ONE', ignore_case: true },
  { pattern: 'σίσυφος', ignore_case: true },
  { pattern: 'k 😀', ignore_case: true },
  '^..$',
  '😀.$',
  '^$',
  'o[^a-m]e',
  'xone$',
  'x{3}one',
  '(?=one)o',
  '(o)n\\w\\s*=',
  'const\\s+two\\s*=\\s*(?<name>\\w+);',
  '[\\w=]+;',
  'function {',
  '日.語',
  '\\u65e5',
  'two\\r',
  { pattern: 'one', glob: '*.txt' },
  { pattern: 'one', glob: '*.log' },
  { pattern: 'one', glob: 'src/**' },
  { pattern: 'one', glob: '{a,keep}.*' },
  { pattern: 'one', path: 'src' },
  { pattern: 'one', path: './src/deep' },
  { pattern: 'one', path: 'src/deep/c.ts' },
  '-e',
  '--pre=touch',
];

test(
  '[P16] ripgrep and the built-in walk find the same lines: ignore rules, hidden, binary, linked and huge files, Unicode',
  { skip },
  async (t) => {
    const root = folder(t, tree);
    const outside = folder(t, { 'secret.txt': 'one outside\n', 'sub/secret.txt': 'one outside\n' });
    symlinkSync(outside, path.join(root, 'out'));
    symlinkSync(path.join(outside, 'secret.txt'), path.join(root, 'out.txt'));
    symlinkSync('..', path.join(root, 'src/loop'));
    symlinkSync('../x.log', path.join(root, 'ruled/.gitignore'));
    const workspace = localWorkspace({ roots: [root] });
    for (const each of patterns) {
      const input = typeof each === 'string' ? { pattern: each } : each;
      const plain = await search(workspace, input, false);
      assert.equal(await search(workspace, input, rg as string), plain, JSON.stringify(input));
      assert.doesNotMatch(plain, /outside/);
    }
    const found = await search(workspace, { pattern: 'one' }, rg as string);
    for (const line of [
      '.hidden/one.txt:1:one',
      'src/deep/x.log:1:one in a log',
      'odd␊name.txt:1:one',
      'bom.txt:1:<U+FEFF>one',
    ])
      assert.ok(found.split('\n').includes(line), line);
    assert.match(found, /^huge\.txt:1:…x{100}oney+$/m);
    assert.doesNotMatch(
      found,
      /(dist|node_modules|\.git)\/|\.dat|latin|wide|too-large|far\.txt|deep\/c\.ts|gen|\.env|^top/m,
    );
  },
);

test(
  '[P16] a pattern that takes too long is aborted in both, and a search ends on abort',
  { skip, timeout: 60_000 },
  async (t) => {
    const workspace = localWorkspace({ roots: [folder(t, { 'a.txt': `${'a'.repeat(40)}!\n` })] });
    for (const way of [rg as string, false] as const)
      assert.match(await search(workspace, { pattern: '^(a+)+$' }, way), /takes too long/);
    const stop = AbortSignal.abort(new Error('stopped'));
    for (const ripgrep of [rg as string, false] as const)
      await assert.rejects(async () =>
        grep(workspace, { ripgrep }).execute({ pattern: 'a' }, { signal: stop } as ToolContext),
      );
  },
);

const ripgrepSearch = (more: Partial<RipgrepSearch>): RipgrepSearch => ({
  path: '.',
  pattern: '',
  ignoreCase: false,
  glob: undefined,
  excludedNames: skippedNames,
  maxDepth: maxWalkDepth + 1,
  maxFileBytes: 1e6,
  signal: neverAborted,
  ...more,
});

test(
  '[P16] every line that matches the pattern also matches the looser pattern for ripgrep',
  { skip, timeout: 120_000 },
  async (t) => {
    const lines = [
      'one',
      'ONE two',
      'a.b*c',
      'aab',
      'K kelvin',
      'ſtraße',
      '😀',
      '😀a',
      'x😀😀y',
      'tab\there',
      'é́',
      'a\rb',
      '{}[]()',
      '^$',
      '\\d',
      'ΣΊΣΥΦΟΣ σς',
      '\u00a0\u2028',
      '0_Z-9',
      'İıiI',
      ' ',
    ];
    const root = folder(t, Object.fromEntries(lines.map((line, i) => [`${i}`, `${line}\n`])));
    const workspace = localWorkspace({ roots: [root] });
    const atom = fc.constantFrom(
      'a',
      'K',
      's',
      '.',
      '\\w',
      '\\W',
      '\\s',
      '\\S',
      '\\d',
      '\\D',
      '\\b',
      '\\B',
      '^',
      '$',
      '[a-z]',
      '[^a]',
      '[^\\W]',
      '[\\s\\S]',
      '[-a]',
      '[a\\]]',
      '[😀]',
      '\\.',
      '\\-',
      '\\_',
      '\\/',
      '{',
      '}',
      ']',
      '😀',
      'σ',
      '\\u03c3',
      '\\x41',
      '(?:a|b)',
      '(?=o)',
      '(?!x)',
      '(o|)',
      '\\ud83d',
      '[^]',
      '\\t',
      '\\r',
      ' ',
      '-',
      '&&',
      '#',
      'ı',
    );
    const times = fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{1,}', '{0,3}', '*?', '+?');
    const pattern = fc
      .array(fc.tuple(atom, times), { minLength: 1, maxLength: 5 })
      .map((pieces) => pieces.flat().join(''));
    await fc.assert(
      fc.asyncProperty(pattern, fc.boolean(), async (source, folds) => {
        const regex = regexFrom(source, folds);
        if (!regex) return;
        const found = await findCandidateFiles(
          workspace,
          rg as string,
          ripgrepSearch({ pattern: source, ignoreCase: folds }),
        );
        if (!found) return;
        const missed = lines.filter((line, i) => regex.test(line) && !found.includes(`${i}`));
        assert.deepEqual(missed, [], `${source} as ${toRipgrepPattern(source)}`);
      }),
      {
        numRuns: 60,
        examples: [
          ['^..$', false],
          ['^\\W{2}$', false],
          ['^[^k] k', true],
          ['^[\\s\\S]{2}a', false],
          ['o.{1,2}$', true],
        ],
      },
    );
  },
);

function regexFrom(source: string, folds: boolean): RegExp | undefined {
  try {
    return new RegExp(source, folds ? 'i' : '');
  } catch {
    return undefined;
  }
}

test('[P16] ripgrep and the walk ignore the same files', { skip, timeout: 120_000 }, async (t) => {
  const names = ['a', 'b.log', 'a/b', 'a/b/c.txt', 'a/a/a', 'd e/f', 'd e/.h', 'x[1]', 'sub/a/b.log', 'sub/d/keep'];
  const piece = fc.constantFrom(
    'a',
    'b',
    '*',
    '**',
    '?',
    '.log',
    '/',
    '/',
    '!',
    '[ab]',
    '[!a]',
    '\\ ',
    ' ',
    'd e',
    'keep',
    '.h',
    'x\\[1\\]',
    '#',
    '*.txt',
    'sub',
  );
  const rule = fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join(''));
  const rules = fc.array(rule, { maxLength: 3 }).map((lines) => lines.join('\n'));
  const files = Object.fromEntries(names.filter((name) => name !== 'a' && name !== 'a/b').map((name) => [name, 'x\n']));
  const root = folder(t, { ...files, 'a/b2': 'x\n', 'sub/.gitignore': '' });
  const workspace = localWorkspace({ roots: [root] });
  await fc.assert(
    fc.asyncProperty(rules, rules, async (top, deeper) => {
      writeFileSync(path.join(root, '.gitignore'), `${top}\n`);
      writeFileSync(path.join(root, 'sub/.gitignore'), `${deeper}\n`);
      const found = await findCandidateFiles(workspace, rg as string, ripgrepSearch({}));
      // If a rule of the root is unclear, the search uses the walk; in subdirectories such rules are not detected, so they are skipped here.
      if (!found || /^!\s*$|\[!|\/\/|\\\//m.test(deeper)) return;
      assert.deepEqual(await Array.fromAsync(walkFiles(workspace, '.', neverAborted)), found);
    }),
    { numRuns: 60 },
  );
});

test(
  '[P16] attack: a ripgrep binary of the directory is never run, and configuration for ripgrep is not read',
  { skip },
  async (t) => {
    const root = folder(t, {
      'a.txt': 'one\n',
      'bin/rg': '#!/bin/sh\ntouch "$(dirname "$0")/ran"\n',
      config: '--pre=./bin/rg\n--glob=!*.txt\n',
    });
    chmodSync(path.join(root, 'bin/rg'), 0o755);
    const linked = folder(t);
    symlinkSync(path.join(root, 'bin/rg'), path.join(linked, 'rg'));
    const workspace = localWorkspace({ roots: [root] });
    const places = [path.join(root, 'bin'), 'bin', '.', '', linked].join(path.delimiter);
    assert.equal(findRipgrep(workspace, places, [path.join(root, 'bin/rg')]), undefined);
    const before = process.env['RIPGREP_CONFIG_PATH'];
    process.env['RIPGREP_CONFIG_PATH'] = path.join(root, 'config');
    t.after(() =>
      before === undefined ? delete process.env['RIPGREP_CONFIG_PATH'] : (process.env['RIPGREP_CONFIG_PATH'] = before),
    );
    for (const pattern of ['one', '--pre=./bin/rg', '-z', '--hostname-bin=./bin/rg'])
      await search(workspace, { pattern, glob: '--pre=./bin/rg' }, rg as string);
    assert.match(await search(workspace, { pattern: 'one' }, rg as string), /^a\.txt:1:one$/m);
    const names = (await workspace.list('bin')).entries.map(({ name }) => name);
    assert.deepEqual(names, ['rg']);
  },
);

test('[P16] without ripgrep, with a failing one and without permission to run programs, the search still works', async (t) => {
  const root = folder(t, { 'a.txt': 'one\n' });
  const elsewhere = folder(t, { broken: '#!/bin/sh\necho "rg: cannot" >&2\nexit 1\n' });
  chmodSync(path.join(elsewhere, 'broken'), 0o755);
  const workspace = localWorkspace({ roots: [root] });
  const closed: Workspace = { ...workspace, exec: async () => assert.fail('nothing runs here') };
  assert.equal(await search(closed, { pattern: 'one' }, false), 'a.txt:1:one');
  const refused = new FairleadError('sandbox/absent', 'There is no sandbox.', { blame: 'user' });
  const unconfined: Workspace = { ...workspace, exec: () => Promise.reject(refused) };
  assert.equal(await search(unconfined, { pattern: 'one' }, '/usr/bin/rg'), 'a.txt:1:one');
  for (const program of [path.join(elsewhere, 'broken'), path.join(elsewhere, 'none')])
    assert.equal(await search(workspace, { pattern: 'one' }, program), 'a.txt:1:one');
});

test('[P16] attack: nothing outside is shown, whether by a link created meanwhile or by a ripgrep that reports false names', async (t) => {
  const root = folder(t, { 'a.txt': 'one\n', '.env': 'one=1\n' });
  const outside = folder(t, { 'secret.txt': 'one outside\n' });
  symlinkSync(outside, path.join(root, 'out'));
  const names = [
    './out/secret.txt',
    `../${path.basename(outside)}/secret.txt`,
    path.join(outside, 'secret.txt'),
    '.env',
    './a.txt',
  ];
  const workspace = localWorkspace({ roots: [root] });
  const runner: Workspace = {
    ...workspace,
    async exec(_command, options) {
      options?.onOutput?.(names.map((name) => `${name}\0`).join(''), { bytes: 0 });
      return { code: 0, signal: null, text: '' };
    },
  };
  const found = (await grep(workspace, { runner, ripgrep: 'rg' }).execute({ pattern: 'one' }, {
    signal: neverAborted,
  } as ToolContext)) as ToolOutput;
  assert.equal(found.text, 'a.txt:1:one');
});

test('[P16] if a directory has more entries than the limit, the walk says that it did not search all', async (t) => {
  const workspace = localWorkspace({ roots: [folder(t, { 'a.txt': 'one\n' })] });
  const full: Workspace = { ...workspace, list: async (at) => ({ ...(await workspace.list(at)), more: true }) };
  const says = /^(a\.txt(:1:one)?|No file matches .*|Nothing matches .*)\n\[Not everything was searched: /;
  for (const pattern of ['one', 'two']) assert.match(await search(full, { pattern }, false), says);
  for (const pattern of ['*.txt', '*.ts'])
    assert.match(
      ((await glob(full).execute({ pattern }, { signal: neverAborted } as ToolContext)) as ToolOutput).text,
      says,
    );
});

// The steps after the build of the bundle change the start-up time and nothing else.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import vm from 'node:vm';
import { wrapEagerFunctions, type SourceRange } from '../scripts/build/eager-compile.ts';
import { rewriteBuiltinsInDir, rewriteBuiltinImports } from '../scripts/build/builtin-imports.ts';
import { collectCalledFunctions } from '../scripts/build/coverage.ts';
import { rewriteLazyRuntime } from '../scripts/build/lazy-runtime.ts';
import { parseReexports, inlineReexportsInDir } from '../scripts/build/inline-reexports.ts';
import { createProgram } from './support/cli-harness.ts';
import { bin, source } from './support/program-dirs.ts';

const notBuilt = bin === source && 'only what is built has this: npm run check builds it';

function createTempDir(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-bundle-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const writeBundle = (folder: string, files: Readonly<Record<string, string>>): void => {
  mkdirSync(path.join(folder, 'chunks'), { recursive: true });
  writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}');
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text);
};

const bundle = {
  'bin.js': `const { one, two } = await import("./chunks/way-1.js");\nconst { both } = await import("./entry.js");\nexport const found = [one(), two, both()];\n`,
  'entry.js': `import { a as first } from "./chunks/big-1.js";\nimport { b } from "./chunks/other-1.js";\n\nexport { first as both, b as rest };`,
  'chunks/way-1.js': `import { a as one, b as two } from "./big-1.js";\n\nexport { one, two };`,
  'chunks/big-1.js': `import path$1, { posix, sep as bar } from "node:path";\nimport * as util from "node:util";\nimport { other } from "./other-1.js";\nconst text = \`\nimport fs from "node:fs";\n\`;\nconst a = () => [path$1.posix === posix, bar, typeof util.inspect, other, text.length];\nconst b = 2;\nexport { a, b };`,
  'chunks/other-1.js': `import { sep } from "node:path";\nimport process from "node:process";\nconst other = [sep, process.pid];\nconst b = 3;\nexport { other, b };`,
};

const loadBundle = async (folder: string): Promise<unknown> =>
  ((await import(pathToFileURL(path.join(folder, 'bin.js')).href)) as { readonly found: unknown }).found;

test('a bundle with inlined re-exports and direct access to Node modules behaves the same', async (t) => {
  const [before, after] = [createTempDir(t), createTempDir(t)];
  writeBundle(before, bundle);
  writeBundle(after, bundle);
  rewriteBuiltinsInDir(after);
  inlineReexportsInDir(after);
  assert.deepEqual(await loadBundle(after), await loadBundle(before));
  const text = (name: string): string => readFileSync(path.join(after, name), 'utf8');
  assert.doesNotMatch(text('bin.js'), /way-1|entry/, 'no re-exporting file is left');
  assert.deepEqual(readdirSync(path.join(after, 'chunks')), ['big-1.js', 'other-1.js']);
  assert.equal(text('entry.js'), bundle['entry.js'], 'the public entry is unchanged');
  assert.match(text('chunks/big-1.js'), /\nimport fs from "node:fs";\n/, 'a string is not an import');
});

test('every form of import of a Node module is replaced by direct access', () => {
  const taken = (line: string): string => rewriteBuiltinImports(line);
  assert.equal(taken('import fs from "node:fs";'), 'const fs = globalThis.process.getBuiltinModule("node:fs");');
  assert.equal(taken('import * as fs from "node:fs";'), 'const fs = globalThis.process.getBuiltinModule("node:fs");');
  assert.equal(
    taken('import fs, { a, b as c } from "node:fs/promises";'),
    'const fs = globalThis.process.getBuiltinModule("node:fs/promises"), { a, b: c } = fs;',
  );
  for (const other of ['import { a } from "./a.js";', 'import yaml from "yaml";', 'import "node:fs";'])
    assert.equal(taken(other), other);
});

test('chunks that import each other in a cycle stop the build', (t) => {
  const folder = createTempDir(t);
  writeBundle(folder, {
    'chunks/a.js': 'import { b } from "./b.js";\nexport const a = 1;',
    'chunks/b.js': 'import { a } from "./a.js";\nexport const b = 1;',
  });
  assert.throws(() => rewriteBuiltinsInDir(folder), /Import cycle between chunks/);
});

test('a chunk that does more than re-export names is not bypassed', () => {
  assert.equal(parseReexports('import { a } from "./a.js";\nconsole.log(a);\nexport { a };'), undefined);
  assert.equal(parseReexports('import "./a.js";\nexport { a };'), undefined);
  assert.equal(parseReexports('import { a } from "./a.js";\nexport { b };'), undefined);
  assert.equal(parseReexports(''), undefined);
});

test('a Node module that is not loaded at startup is loaded at its first call, and is the module itself from then on', () => {
  const program = `import { createHash as made, randomUUID } from "node:crypto";\nexport const all = 1;`;
  const late = rewriteBuiltinImports(program);
  assert.doesNotMatch(late, /^import/m);
  const found = vm.runInThisContext(
    `${late.replace('export ', '')}\nconst given = [made]; [given.map((made) => made('md5').update('a').digest('hex')), made.name, randomUUID.name]`,
  ) as unknown;
  assert.deepEqual(found, [['0cc175b9c0f1b6a831c399e269772661'], 'createHash', 'randomUUID']);
});

test('a use that only looks like more than a call is still loaded lazily', () => {
  const late = rewriteBuiltinImports('import { open } from "node:fs/promises";\nconst f = (open) => open.check();');
  assert.match(late, /^const take_node_fs_promises = /);
});

test('a module that is used for more than calls is not loaded lazily', () => {
  for (const [line, use] of [
    ['import { Hash } from "node:crypto";', ''],
    ['import { constants, createHash } from "node:crypto";', ''],
    ['import { execFile } from "node:child_process";', 'promisify(execFile);'],
    ['import { execFile } from "node:child_process";', 'util.promisify(execFile);'],
    ['import { execFile } from "node:child_process";', 'promisify$1(execFile);'],
    ['import { execFile as $run } from "node:child_process";', '$run.__promisify__;'],
    ['import child from "node:child_process";', ''],
    ['import { readFileSync } from "node:fs";', ''],
  ] as const)
    assert.match(
      rewriteBuiltinImports(`${line}\n${use}`),
      /^const .* = globalThis\.process\.getBuiltinModule\("node:\w+"\);\n/,
    );
});

test('the runtime of the bundler is moved to the lazy imports that need it, unless other code needs it', () => {
  const program = `import { a } from "./a.js";\nimport { i as __toESM } from "./rolldown-runtime-X.js";\nconst { parse } = await import("./b.js").then((m) => /* @__PURE__ */ __toESM(m.default, 1));`;
  assert.equal(
    rewriteLazyRuntime(program),
    `import { a } from "./a.js";\nconst { parse } = await import("./b.js").then((m) => import("./rolldown-runtime-X.js").then((runtime) => runtime.i(m.default, 1)));`,
  );
  const more = `${program}\nconst c = __toESM(d());`;
  assert.equal(rewriteLazyRuntime(more), more);
});

const manyKinds = `import { sep } from "node:path";
const early = declared(2);
function declared(n) { return n > 0 ? declared(n - 1) + 1 : inner(); function inner() { return 0; } }
async function later(a = (() => 1)()) { return await a; }
function* steps() { yield* [1, 2].map((x) => x + 1); }
async function* slowly() { for (const x of steps()) yield x; }
const chain = (a) => (b) => async (c) => a + b + c, after = async function () { return this; };
const named = function self(n) { return n ? self(n - 1) : self.name; };
const thing = { method() { return [this === thing, () => 1].length; }, get got() { return (() => "got")(); }, async *[sep]() { yield 5; }, short: () => ({}) };
class Kind { #x = () => 3; static made = function () { return new this(); }; constructor(f = (x) => x) { this.f = f; } do() { return this.#x() + this.f(4); } }
const all = async (it) => { const found = []; for await (const each of it) found.push(each); return found; };
const found = async () => [early, declared(3), declared.name, declared.length, await later(), later.name, [...steps()], await all(slowly()), await chain(1)(2)(3), chain.name, await after.call(7), named(2), thing.method(), thing.got, await all(thing[sep]()), thing.short.name, Kind.made().do(), Kind.made.name, typeof named.prototype];
export { found, declared as passed };
`;

/** Every position where a function may begin and end, so that every function of V8 is among them. */
function getEveryFunctionRange(program: string): readonly SourceRange[] {
  const ends = Array.from(program, (_, i) => i + 1);
  return [...program.matchAll(/\(|\b\w|\*/g)].flatMap(({ index }) =>
    ends.filter((end) => end > index).map((end) => ({ start: index, end })),
  );
}

test('a program whose functions are compiled ahead behaves the same', async (t) => {
  const folder = createTempDir(t);
  const ahead = wrapEagerFunctions(manyKinds, getEveryFunctionRange(manyKinds));
  assert.match(ahead, /^import .*\nvar declared = \(function \(n\) \{/);
  assert.match(
    ahead,
    /const chain = \(\(a\) => \(\(b\) => \(async \(c\) => a \+ b \+ c\)\)\), after = \(async function/,
  );
  const answers = await Promise.all(
    [manyKinds, ahead].map(async (program, i) => {
      const file = path.join(folder, `${i}.mjs`);
      writeFileSync(file, program);
      const { found, passed } = (await import(pathToFileURL(file).href)) as {
        readonly found: () => Promise<unknown>;
        readonly passed: (n: number) => number;
      };
      return [await found(), passed(4)];
    }),
  );
  assert.deepEqual(answers[1], answers[0]);
  assert.equal(wrapEagerFunctions(manyKinds, []), manyKinds, 'functions that are not called are unchanged');
});

test('functions compiled ahead are in the code cache before they are called', () => {
  const body = Array.from({ length: 50 }, (_, i) => `if (x === ${i}) return "${i}";`).join(' ');
  const program = `function called(x) { ${body} }\nfunction other(x) { ${body} }`;
  const place = { start: 0, end: program.indexOf('\n') };
  const cached = (text: string): number => new vm.Script(text).createCachedData().length;
  assert.ok(cached(wrapEagerFunctions(program, [place])) > cached(program) + 500);
});

test(
  'functions of a one-shot run are compiled ahead, and it loads no more than it needs',
  { skip: notBuilt },
  async () => {
    const called = await collectCalledFunctions(path.dirname(bin));
    const programs = [...called].map(([file, places]) => ({ text: readFileSync(file, 'utf8'), places }));
    const bytes = programs.reduce((sum, { text }) => sum + text.length, 0);
    assert.ok(bytes < 1_090_000, `${bytes} bytes`);
    for (const cold of ['picomatch/lib/', 'rolldown/runtime.js'])
      assert.ok(!programs.some(({ text }) => text.includes(cold)), cold);
    const functions = programs.flatMap(({ text, places }) =>
      places.map(({ start }) => text.slice(start - 1, start + 15)),
    );
    const left = functions.filter((text) => /^\n(async )?function\b/.test(text)).length;
    assert.ok(
      functions.length > 700 && left < 20,
      `${left} declarations of ${functions.length} functions that are called`,
    );
  },
);

test('a one-shot run without tool calls loads no Node module that it does not need', { skip: notBuilt }, async (t) => {
  const made = await createProgram(t);
  await made.seedModels('qwen3');
  const [preload, list] = [path.join(made.home, 'preload.cjs'), path.join(made.home, 'loaded')];
  writeFileSync(
    preload,
    `process.on('exit', () => require('fs').writeFileSync(${JSON.stringify(list)}, process.moduleLoadList.join('\\n')));`,
  );
  const { code } = await made.run(['-p', 'hello', '--no-sandbox'], { env: { NODE_OPTIONS: `--require=${preload}` } });
  assert.equal(code, 0);
  const loaded = new Set(readFileSync(list, 'utf8').split('\n'));
  assert.ok(loaded.has('NativeModule http'), 'the list is correct');
  for (const name of ['child_process', 'fs/promises', 'internal/blocklist', 'internal/crypto/webcrypto', 'perf_hooks'])
    assert.ok(!loaded.has(`NativeModule ${name}`), name);
});

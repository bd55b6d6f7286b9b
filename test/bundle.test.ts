// What is done to the bundle after it is built changes what a start costs and nothing else.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { takeBuiltinsDirectly, withDirectBuiltins } from '../scripts/build/builtins.ts';
import { passedOn, takeShortcuts } from '../scripts/build/shortcuts.ts';

function tempFolder(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-bundle-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const written = (folder: string, files: Readonly<Record<string, string>>): void => {
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

const load = async (folder: string): Promise<unknown> =>
  ((await import(pathToFileURL(path.join(folder, 'bin.js')).href)) as { readonly found: unknown }).found;

test('a bundle with its shortcuts and without imports of what Node has does what it did', async (t) => {
  const [before, after] = [tempFolder(t), tempFolder(t)];
  written(before, bundle);
  written(after, bundle);
  takeBuiltinsDirectly(after);
  takeShortcuts(after);
  assert.deepEqual(await load(after), await load(before));
  const text = (name: string): string => readFileSync(path.join(after, name), 'utf8');
  assert.doesNotMatch(text('bin.js'), /way-1|entry/, 'no file in between');
  assert.deepEqual(readdirSync(path.join(after, 'chunks')), ['big-1.js', 'other-1.js']);
  assert.equal(text('entry.js'), bundle['entry.js'], 'what the package promises stays');
  assert.match(text('chunks/big-1.js'), /\nimport fs from "node:fs";\n/, 'a text is no import');
});

test('every way to import one of Node is taken directly', () => {
  const taken = (line: string): string => withDirectBuiltins(line);
  assert.equal(taken('import fs from "node:fs";'), 'const fs = globalThis.process.getBuiltinModule("node:fs");');
  assert.equal(taken('import * as fs from "node:fs";'), 'const fs = globalThis.process.getBuiltinModule("node:fs");');
  assert.equal(
    taken('import fs, { a, b as c } from "node:fs/promises";'),
    'const fs = globalThis.process.getBuiltinModule("node:fs/promises"), { a, b: c } = fs;',
  );
  for (const other of ['import { a } from "./a.js";', 'import yaml from "yaml";', 'import "node:fs";'])
    assert.equal(taken(other), other);
});

test('chunks that import each other in a circle stop the build', (t) => {
  const folder = tempFolder(t);
  written(folder, {
    'chunks/a.js': 'import { b } from "./b.js";\nexport const a = 1;',
    'chunks/b.js': 'import { a } from "./a.js";\nexport const b = 1;',
  });
  assert.throws(() => takeBuiltinsDirectly(folder), /circle/);
});

test('a program that does more than pass names on is no way to elsewhere', () => {
  assert.equal(passedOn('import { a } from "./a.js";\nconsole.log(a);\nexport { a };'), undefined);
  assert.equal(passedOn('import "./a.js";\nexport { a };'), undefined);
  assert.equal(passedOn('import { a } from "./a.js";\nexport { b };'), undefined);
  assert.equal(passedOn(''), undefined);
});

// Real language servers: TypeScript's own on a small project, through the tool and after edits.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { visibleToolSpecs, createToolRegistry } from '../../agent/index.ts';
import {
  isToolOutput,
  errorMessage,
  type Json,
  type ToolOutput,
  type Tool,
  type ToolContext,
} from '../../core/index.ts';
import { localWorkspace } from '../../workspace/index.ts';
import { editFile, writeFile } from '../index.ts';
import {
  builtInServers,
  codeIntelligence,
  withDiagnostics,
  languageServers,
  type LanguageServerOptions,
  type ServerApproval,
  type LanguageServerDefinition,
} from './index.ts';

const project: Readonly<Record<string, string>> = {
  'tsconfig.json': '{"compilerOptions":{"strict":true,"noEmit":true,"module":"preserve","types":[]},"include":["src"]}',
  'src/greet.ts':
    '/** Says hello. */\nexport function greet(name: string): string {\n  return `hello ${name}`;\n}\n\nexport class Door {\n  open(): boolean {\n    return true;\n  }\n}\n',
  'src/main.ts':
    "import { Door, greet } from './greet';\n\nconst words: string = greet('you');\nexport const all = [words, new Door().open()];\n",
};

function setup(t: test.TestContext, files = project, options: LanguageServerOptions = {}) {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-lsp-')));
  const put = (name: string, text: string): void => {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), text);
  };
  for (const [name, text] of Object.entries(files)) put(name, text);
  const workspace = localWorkspace({ roots: [root] });
  const servers = languageServers(workspace, options);
  t.after(async () => {
    await servers.close();
    rmSync(root, { recursive: true, force: true });
  });
  const call = async (tool: Tool, input: Json, signal = new AbortController().signal): Promise<ToolOutput> => {
    const value: unknown = await tool.execute(input, { signal } as ToolContext);
    assert.ok(isToolOutput(value));
    return value;
  };
  const intelligence = codeIntelligence(workspace, servers);
  /** The text that the model gets, either a result or an error. */
  const ask = (input: Json): Promise<string> => call(intelligence, input).then(({ text }) => text, errorMessage);
  return { root, put, workspace, servers, call, ask, intelligence };
}

test('[P19] a definition is found across files, by position and by name, with its source line', async (t) => {
  const { ask, call, intelligence } = setup(t);
  const place = 'src/greet.ts:2:17: export function greet(name: string): string {';
  assert.equal(await ask({ action: 'definition', path: 'src/main.ts', line: 3, column: 24 }), place);
  assert.equal(await ask({ action: 'definition', path: 'src/main.ts', symbol: 'greet' }), place);
  assert.equal(await ask({ action: 'definition', path: 'src/main.ts', line: 3, symbol: 'greet' }), place);
  assert.equal(
    await ask({ action: 'definition', path: '.', symbol: 'Door.open' }),
    'src/greet.ts:7:3: open(): boolean {',
  );
  const { data } = await call(intelligence, { action: 'definition', path: 'src/main.ts', symbol: 'greet' });
  assert.deepEqual(data, {
    action: 'definition',
    server: 'typescript',
    places: [{ path: 'src/greet.ts', line: 2, column: 17, text: 'export function greet(name: string): string {' }],
    total: 1,
  });
});

test('[P19] references, hover, symbols and the preview of a rename are returned as lines', async (t) => {
  const { ask } = setup(t);
  assert.equal(
    await ask({ action: 'references', path: 'src/greet.ts', symbol: 'greet' }),
    [
      'src/greet.ts:2:17: export function greet(name: string): string {',
      "src/main.ts:1:16: import { Door, greet } from './greet';",
      "src/main.ts:3:23: const words: string = greet('you');",
    ].join('\n'),
  );
  assert.match(
    await ask({ action: 'hover', path: 'src/main.ts', symbol: 'greet' }),
    /greet\(name: string\): string[^]*Says hello\./,
  );
  assert.equal(
    await ask({ action: 'symbols', path: 'src/greet.ts' }),
    '2:17: function greet\n6:14: class Door\n7:3:   method open',
  );
  assert.equal(await ask({ action: 'symbols', path: 'src', symbol: 'Door' }), 'src/greet.ts:6:14: class Door');
  const preview = await ask({ action: 'rename_preview', path: 'src/greet.ts', symbol: 'greet', new_name: 'hail' });
  assert.match(preview, /^3 edits in 2 files; nothing was changed\.\n/);
  assert.match(preview, /src\/greet\.ts:2:17: export function greet.*→ {2}hail/);
});

test('[P19] a request that cannot be answered is reported in one sentence', async (t) => {
  const { ask } = setup(t);
  assert.match(await ask({ action: 'hover', path: 'src/main.ts', line: 99, column: 1 }), /There is no line 99/);
  assert.match(await ask({ action: 'hover', path: 'src/main.ts', line: 1, column: 99 }), /Line 1 has no column 99/);
  assert.match(await ask({ action: 'hover', path: 'src/main.ts' }), /Give a line and a column, or a symbol/);
  assert.match(await ask({ action: 'hover', path: 'src/main.ts', symbol: 'nowhere' }), /no symbol named nowhere/);
  assert.match(await ask({ action: 'hover', path: 'src/none.ts', symbol: 'x' }), /There is no file or folder/);
  assert.match(await ask({ action: 'hover', path: '../x.ts', symbol: 'x' }), /outside the workspace/);
  assert.match(
    await ask({ action: 'hover', path: 'tsconfig.json', symbol: 'x' }),
    /No language server is known for tsconfig/,
  );
});

test('[P19] diagnostics follow the text, whether a tool or another program wrote it', async (t) => {
  const { ask, put, root } = setup(t);
  const diagnostics = (): Promise<string> => ask({ action: 'diagnostics', path: 'src/main.ts' });
  assert.equal(await diagnostics(), 'No problems in src/main.ts.');
  // This document is open from here on.
  await ask({ action: 'symbols', path: 'src/greet.ts' });
  put('src/main.ts', (project['src/main.ts'] ?? '').replace('words: string', 'words: number'));
  assert.equal(await diagnostics(), "src/main.ts:3:7: error 2322: Type 'string' is not assignable to type 'number'.");
  const greets = (type: string): string => `export const greet = (name: string): ${type} => ${type}(name);\n`;
  put('src/greet.ts', `${greets('Number').replace(': Number', ': number')}export class Door { open() {} }\n`);
  assert.equal(await diagnostics(), 'No problems in src/main.ts.');
  // A file that did not exist when the server started.
  put('src/other.ts', greets('Boolean').replace(': Boolean', ': boolean'));
  put('src/greet.ts', "export { greet } from './other';\nexport class Door { open() {} }\n");
  assert.match(await diagnostics(), /^src\/main\.ts:3:7: error 2322: Type 'boolean' is not assignable/);
  // A file that was never queried.
  put('src/other.ts', greets('Number').replace(': Number', ': number'));
  assert.equal(await diagnostics(), 'No problems in src/main.ts.');
  rmSync(path.join(root, 'src/greet.ts'));
  assert.match(await diagnostics(), /^src\/main\.ts:1:29: error 2307: Cannot find module/);
});

test('[P19] an edit reports the diagnostics it caused if a server is running; it starts none', async (t) => {
  const { workspace, servers, call, ask } = setup(t);
  const wrap = withDiagnostics(workspace, servers);
  const [edit, write] = [wrap(editFile(workspace)), wrap(writeFile(workspace))];
  await workspace.read('src/main.ts');
  const change = (from: string, to: string): Promise<ToolOutput> =>
    call(edit, { path: 'src/main.ts', old_string: from, new_string: to });
  assert.equal((await change('words: string', 'words: number')).text, 'Edited src/main.ts.');
  assert.equal(await servers.getIfReady('src/main.ts', new AbortController().signal), undefined);
  await change('words: number', 'words: string');
  await ask({ action: 'diagnostics', path: 'src/main.ts' });

  const broken = await change('words: string', 'words: number');
  assert.equal(
    broken.text,
    "Edited src/main.ts.\n1 new problem:\nsrc/main.ts:3:7: error 2322: Type 'string' is not assignable to type 'number'.",
  );
  assert.equal((broken.data as { readonly problems: readonly unknown[] }).problems.length, 1);
  assert.match((broken.data as { readonly diff: string }).diff, /words: number/);
  const moved = await change('import { Door', '\n\nimport { Door');
  assert.equal(moved.text, 'Edited src/main.ts.', 'an old diagnostic that only moved is not reported again');
  assert.match(
    (await change('words: number', 'words: string')).text,
    /^Edited src\/main\.ts\.\nNo problems remain in it\.$/,
  );
  const created = await call(write, { path: 'src/new.ts', content: 'export const x: string = 1;\n' });
  assert.match(
    created.text,
    /^Written \d+ bytes to src\/new\.ts \(1 line, a new file\)\.\n1 new problem:\nsrc\/new\.ts:1:14: error 2322/,
  );
  await workspace.read('src/greet.ts');
  const elsewhere = { path: 'src/greet.ts', old_string: 'greet(name', new_string: 'hail(name' };
  assert.match(
    (await call(edit, elsewhere)).text,
    /^Edited src\/greet\.ts\.\n1 new problem:\nsrc\/main\.ts:3:16: error \d+: .*no exported member.*greet/,
  );
  const missed = await change('not there', 'x');
  assert.equal(missed.failed, true);
});

test('[P19] the tool is deferred, so that it costs a request one line until it is loaded', (t) => {
  const { intelligence } = setup(t);
  const specs = visibleToolSpecs(createToolRegistry([intelligence]));
  assert.ok(!specs.some(({ name }) => name === 'code_intelligence'));
  assert.equal(intelligence.effect, 'read');
});

const native = `node_modules/@typescript/typescript-${process.platform}-${process.arch}`;

/** A program that only creates a marker file, in a directory of the search path. */
function plantProgram(folder: string, name: string): { readonly file: string; readonly sprung: () => boolean } {
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, name);
  writeFileSync(file, `#!/bin/sh\ntouch "${file}.sprung"\n`);
  chmodSync(file, 0o755);
  return { file, sprung: () => existsSync(`${file}.sprung`) };
}

test('opening a directory does not run its TypeScript, unless that was approved unchanged', async (t) => {
  const asked: ServerApproval[] = [];
  const open = (allowed: (item: ServerApproval) => boolean) => {
    const files = {
      ...project,
      'node_modules/typescript/package.json': '{"name":"typescript","version":"7.9.9"}',
      [`${native}/package.json`]: '{"name":"x"}',
    };
    const box = setup(t, files, {
      requestApproval: (items) => asked.push(...items) > 0 && items.every(allowed),
      startTimeoutMs: 5000,
    });
    return { ...box, planted: plantProgram(path.join(box.root, native, 'lib'), 'tsc') };
  };
  const closed = open(() => false);
  assert.match(await closed.ask({ action: 'hover', path: 'src/main.ts', symbol: 'greet' }), /Says hello/);
  assert.equal(closed.planted.sprung(), false);
  assert.deepEqual(
    asked.map(({ subject }) => subject),
    [`language-server ${closed.planted.file}`],
  );
  const opened = open(({ hash }) => /^[0-9a-f]{64}$/.test(hash));
  const refusal = await opened.ask({ action: 'hover', path: 'src/main.ts', symbol: 'greet' });
  assert.match(refusal, /^The language server typescript cannot be used: it exited with code 0\.$/);
  assert.equal(opened.planted.sprung(), true);
});

test('opening a directory installs no package that it names', { timeout: 60_000 }, async (t) => {
  const files = {
    'package.json': '{"dependencies":{"lodash":"1"}}',
    'jsconfig.json': '{"typeAcquisition":{"enable":true,"include":["lodash"]}}',
    'plain.js': "import _ from 'lodash';\nexport const first = _.first([1]);\n",
  };
  const open = (known: readonly LanguageServerDefinition[]) => {
    const home = mkdtempSync(path.join(tmpdir(), 'fairlead-home-'));
    t.after(() => rmSync(home, { recursive: true, force: true }));
    const npm = plantProgram(path.join(home, 'bin'), 'npm');
    const environment = { HOME: home, PATH: [path.dirname(npm.file), '/usr/bin', '/bin'].join(path.delimiter) };
    const { ask } = setup(t, files, { builtIn: known, environment });
    return { npm, hover: () => ask({ action: 'hover', path: 'plain.js', symbol: 'first' }) };
  };
  const ours = open(builtInServers);
  const careless = open(builtInServers.map(({ settings: _, ...rest }) => rest));
  assert.match(await ours.hover(), /const first/);
  await careless.hover();
  // The later start shows that the marker works, and how long that takes.
  while (!careless.npm.sprung()) await pause(20);
  assert.equal(ours.npm.sprung(), false);
});

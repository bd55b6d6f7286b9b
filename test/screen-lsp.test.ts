// Tests language servers in the real program: TypeScript's, approved and in the sandbox; others from the settings of the user or of a directory.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, readFileSync, realpathSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { chooseSandbox } from '../src/guards/index.ts';
import { calls, type ScriptedResponse } from '../src/testing/index.ts';
import { scriptHiddenCalls } from './support/hidden-tools.ts';
import { answerPrompt, waitForExitCode, createProgram, waitUntil, type TestProgram } from './support/cli-harness.ts';
import {
  createPromptEnvironment,
  scriptByPrompt,
  openPrompt,
  writeFiles,
  type TerminalPrompt,
} from './support/terminal-prompt.ts';
import { noNodeInside, noSandbox } from './support/sandbox.ts';
import { noTerminal } from './support/terminal.ts';

const skip = noTerminal();
const installed = path.resolve(import.meta.dirname, '../node_modules');
const native = `@typescript/typescript-${process.platform}-${process.arch}`;
const noTypescript = existsSync(path.join(installed, native))
  ? false
  : 'TypeScript 7 is not installed for this machine';

const project = {
  'package.json': '{}',
  'tsconfig.json': '{"compilerOptions":{"strict":true,"noEmit":true,"module":"preserve","types":[]},"include":["src"]}',
  'src/greet.ts': 'export const greet = (name: string): string => `hello ${name}`;\n',
  'src/main.ts': "import { greet } from './greet';\nexport const words: string = greet('you');\n",
};

/** The prompt selects the call: `where` asks for a definition, any other word writes a file of that name with an error in it. */
const editScript = scriptByPrompt((text): ScriptedResponse => {
  if (text === 'load') return calls('load_tools', { names: ['code_intelligence'] });
  if (text === 'where')
    return calls('use_tool', {
      tool: 'code_intelligence',
      input: { action: 'definition', path: 'src/main.ts', symbol: 'greet' },
    });
  return calls('write_file', { path: `src/${text}.ts`, content: 'export const x: string = 1;\n' });
});

/** Writes files with an error until one is reported: a slow machine may miss the wait after an edit. */
async function waitForDiagnostic(prompt: TerminalPrompt, name: string): Promise<void> {
  for (let n = 1; n <= 20; n++) {
    const seen = await prompt.enterAndWait(
      `${name}${n}`,
      new RegExp(`^Result: Written \\d+ bytes to src/${name}${n}\\.ts[^]*^>`, 'm'),
    );
    if (new RegExp(`^1 (?:new )?problem:\\s+src/${name}${n}\\.ts:1:14: error 2322: Type 'number'`, 'm').test(seen))
      return;
  }
  assert.fail('no edit reported its error');
}

test(
  '[P19] the TypeScript server of the directory needs approval, runs in the sandbox, finds definitions, reports errors of an edit, and ends with the program',
  { skip: skip || noTypescript || (await noSandbox()) },
  async (t) => {
    const environment = await createPromptEnvironment(t, editScript, { files: project });
    const modules = path.join(environment.cwd, 'node_modules');
    writeFiles(modules, {
      'typescript/package.json': readFileSync(path.join(installed, 'typescript/package.json'), 'utf8'),
    });
    cpSync(path.join(installed, native), path.join(modules, native), { recursive: true });
    const args = ['--refresh-models', '--model', 'alpha', '--auto-approve'];
    const first = await openPrompt(t, environment, args, { sandbox: true });
    await first.enterAndWait('before', /^Result: Written \d+ bytes to src\/before\.ts \(1 line, a new file\)\.$/m);
    const running = (): string => {
      try {
        return execFileSync('pgrep', ['-f', `${modules}/.*--lsp`], { encoding: 'utf8' });
      } catch {
        return '';
      }
    };
    assert.equal(running(), '', 'nothing is started without approval');
    await first.enterAndWait('load', /^Result: code_intelligence/m);
    await first.enter('where');
    await answerPrompt(
      first,
      /^\S+\/lib\/tsc comes\s+with\s+this\s+folder[^]*sha256 [\da-f]{64}\s[^]*^\? Start a language server that this project configures\? It\s+runs\s+confined\. \[y\/N\]/m,
      'y',
      'Enter',
    );
    await first.waitFor(/^Result: src\/greet\.ts:1:14: export const greet = /m);
    await waitForDiagnostic(first, 'bad');
    assert.notEqual(running(), '');
    await first.enterAndWait('/cwd src', /The working directory is \S+\/src$/m);
    await waitUntil('the server ends with the folder that it was for', () => running() === '');
    await first.enterAndWait('/cwd ..', /The working directory is \S+\/work$/m);
    await waitForDiagnostic(first, 'more');
    await first.enterAndWait('/quit', /^exit code 0$/m);
    assert.equal(running(), '', 'the server ends with the program');

    const second = await openPrompt(t, environment, args, { sandbox: true });
    await waitForDiagnostic(second, 'worse');
    assert.doesNotMatch(await second.screen({ back: true }), /Start a language server/, 'an approval is saved');
  },
);

type LspProgram = TestProgram & { readonly notes: string; readonly started: () => boolean };

/** Creates a program whose user settings or directory name a server for .foo files. */
async function createLspProgram(t: TestContext, whose: 'person' | 'folder', isConfined = false): Promise<LspProgram> {
  const program = await createProgram(
    t,
    scriptHiddenCalls([['code_intelligence', { action: 'hover', path: 'a.foo', symbol: 'word' }]]),
  );
  await program.seedModels('qwen3');
  // A confined server can write no file.
  const notes = isConfined ? '/dev/null' : path.join(program.home, 'notes');
  const source = path.resolve(import.meta.dirname, 'support/lsp-server.ts');
  const probe = path.join(program.home, 'secret');
  writeFiles(program.home, { secret: 'x', 'work/server.ts': readFileSync(source, 'utf8') });
  const script = isConfined ? path.join(program.cwd, 'server.ts') : source;
  const env = { NOTES: notes, PROBE: probe };
  const foo = { command: process.execPath, args: [script], env, extensions: ['.foo'] };
  const file = whose === 'person' ? 'config/fairlead/config.json' : 'work/.fairlead/config.json';
  writeFiles(program.home, { [file]: JSON.stringify({ languageServers: { foo } }), 'work/a.foo': 'word\n' });
  return { ...program, notes, started: () => existsSync(notes) };
}

for (const kind of ['bubblewrap', 'util-linux'] as const) {
  const sandbox = await chooseSandbox({
    mode: kind,
    roots: [realpathSync(tmpdir())],
    home: homedir(),
    path: process.env['PATH'] ?? '',
  });
  const missing = sandbox.name === kind ? noNodeInside : `needs ${kind}: ${sandbox.description}`;
  test(
    `[P19] a language server runs confined in ${kind}: it answers, and sees no file of the user outside of the folder`,
    { skip: missing },
    async (t) => {
      const program = await createLspProgram(t, 'person', true);
      // A sandbox shows the folders of PATH.
      const withNode = `${path.dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;
      const ran = await program.run(['-p', 'what is it'], { env: { FAIRLEAD_SANDBOX: kind, PATH: withNode } });
      assert.equal(ran.code, 0, ran.err);
      assert.match(ran.out, /^Heard: variables: .*\bPATH\b.*; sees the file: false/m);
      const outside = await program.run(['-p', 'what is it', '--no-sandbox']);
      assert.match(outside.out, /; sees the file: true/, 'the file is there');
    },
  );
}

test('[P19] in a container, or without a sandbox, no language server is started, and the answer says why', async (t) => {
  const program = await createLspProgram(t, 'person');
  const folder = path.join(program.home, 'bin');
  writeFiles(folder, { podman: '#!/bin/sh\nexit 0\n' });
  chmodSync(path.join(folder, 'podman'), 0o755);
  const ran = await program.run(['-p', 'what is it'], {
    env: { FAIRLEAD_SANDBOX: 'container', PATH: `${folder}:${process.env['PATH'] ?? ''}` },
  });
  assert.match(ran.out, /Language servers (cannot run in the sandbox podman|are not started: there is no sandbox)/);
  assert.equal(program.started(), false);
});

test('[P19] a server of the user’s settings starts without approval, at its first use, and gets no secret', async (t) => {
  const program = await createLspProgram(t, 'person');
  const env = { BRAVE_API_KEY: 'brave-secret', OTHER_SETTING: 'x' };
  const ran = await program.run(['-p', 'what is it', '--no-sandbox'], { env });
  assert.equal(ran.code, 0);
  assert.match(ran.out, /^Heard: variables: .*\bPATH\b/m);
  assert.doesNotMatch(ran.out, /BRAVE|OTHER_SETTING/);
  assert.ok(program.started());
});

test(
  '[P19, P78] a server of a directory is not started in a pipe, and in a terminal only after approval',
  { skip },
  async (t) => {
    const program = await createLspProgram(t, 'folder');
    const piped = await program.run(['-p', 'what is it', '--no-sandbox']);
    assert.match(
      piped.out,
      /The language server foo was not started: \S+node comes with this folder and was not approved\./,
    );
    assert.equal(program.started(), false);
    const question = /language-server \S+\/work foo\nsha256 [\da-f]{64}\n[^]*^number \[y\/N\]: *$/m;
    const refused = await program.open(['what is it', '--no-sandbox']);
    await answerPrompt(refused, question, 'n', 'Enter');
    assert.equal(await waitForExitCode(refused), 0);
    assert.equal(program.started(), false);
    await refused.kill();
    const stopped = await program.open(['what is it', '--no-sandbox']);
    await answerPrompt(stopped, question, 'C-c');
    assert.equal(await waitForExitCode(stopped), 130);
    await stopped.kill();
    const terminal = await program.open(['what is it', '--no-sandbox']);
    await answerPrompt(terminal, question, 'y', 'Enter');
    assert.equal(await waitForExitCode(terminal), 0);
    assert.match(await terminal.screen(), /^Heard: variables: /m);
    assert.match(
      (await program.run(['-p', 'what is it', '--no-sandbox'])).out,
      /^Heard: variables: /m,
      'an approval is saved',
    );
  },
);

// The tools on real files: what they show, change and refuse, and that their changes can be undone.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { visibleToolSpecs, createToolRegistry } from '../agent/index.ts';
import {
  isToolOutput,
  errorMessage,
  type FileChange,
  type Json,
  type ToolOutput,
  type ToolContext,
  type Workspace,
} from '../core/index.ts';
import { localWorkspace } from '../workspace/index.ts';
import { codingTools } from './index.ts';

type Files = Readonly<Record<string, string | Buffer>>;
type ToolsFixture = {
  readonly root: string;
  readonly workspace: Workspace;
  /** Calls a tool as a run does: its input is validated first, and a failure is text. */
  readonly call: (tool: string, input: Json, context?: Partial<ToolContext>) => Promise<ToolOutput>;
  readonly text: (name: string) => string;
};

function setup(t: test.TestContext, files: Files = {}): ToolsFixture {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-tools-')));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), content);
  }
  const workspace = localWorkspace({ roots: [root], blobs: path.join(root, '..', `${path.basename(root)}-blobs`) });
  t.after(() => rmSync(`${root}-blobs`, { recursive: true, force: true }));
  const tools = createToolRegistry(codingTools(workspace));
  return {
    root,
    workspace,
    async call(name, input, context = {}) {
      const tool = tools.get(name);
      assert.ok(tool, name);
      const wrong = tool.validate?.(input);
      if (wrong !== undefined) return { ...failed, text: wrong } as ToolOutput;
      const given = { signal: new AbortController().signal, ...context } as ToolContext;
      try {
        const value: unknown = await tool.execute(input, given);
        assert.ok(isToolOutput(value));
        return value;
      } catch (error) {
        return { ...failed, text: errorMessage(error) } as ToolOutput;
      }
    },
    text: (name) => readFileSync(path.join(root, name), 'utf8'),
  };
}

const failed = { failed: true };
const changeData = ({ data }: ToolOutput): FileChange & { readonly diff: string } => data as never;

test('[A73] there are seven tools, and their descriptions take less than 3,200 bytes', (t) => {
  const tools = codingTools(setup(t).workspace);
  assert.deepEqual(
    tools.map(({ name, effect }) => `${name} ${effect}`),
    [
      'read_file read',
      'write_file write',
      'edit_file write',
      'list_files read',
      'glob read',
      'grep read',
      'run_command external',
    ],
  );
  assert.ok(Buffer.byteLength(JSON.stringify(visibleToolSpecs(createToolRegistry(tools)))) < 3200);
});

test('[A73] input that does not match the schema runs nothing', async (t) => {
  const { call, root } = setup(t);
  for (const input of [{}, { path: 1 }, { path: 'x' }, { path: 'x', content: 'y', mode: 7 }])
    assert.equal((await call('write_file', input)).failed, true);
  assert.equal((await call('run_command', { command: `touch ${root}/x`, cwd: '/' })).failed, true);
  assert.equal((await call('list_files', {})).text, '(The folder is empty.)');
});

test('[A73, P12] read_file returns a file unchanged; a long one is paged, with a hint how to continue', async (t) => {
  const long = Array.from({ length: 4500 }, (_, i) => `line ${i + 1}`).join('\n');
  const { call } = setup(t, {
    'a.txt': '  one\n\ttwo\n',
    'long.txt': long,
    'wide.txt': 'x'.repeat(80_000),
    'no.txt': '',
  });
  assert.equal((await call('read_file', { path: 'a.txt' })).text, '  one\n\ttwo');
  assert.equal((await call('read_file', { path: 'no.txt' })).text, '(The file is empty.)');
  const first = await call('read_file', { path: 'long.txt' });
  assert.match(first.text, /^line 1\n[^]*\nline 2000\n\[Lines 1-2000 of 4500\. Continue with offset 2001\.\]$/);
  const last = await call('read_file', { path: 'long.txt', offset: 4499, limit: 10 });
  assert.equal(last.text, 'line 4499\nline 4500\n[Lines 4499-4500 of 4500.]');
  assert.match((await call('read_file', { path: 'long.txt', offset: 4501 })).text, /There is no line 4501.*4500 lines/);
  const wide = await call('read_file', { path: 'wide.txt' });
  assert.match(wide.text, /^x{50000}\n\[Line 1 is very long and was truncated\.\]$/);
});

test('[A73, A74] a file that is binary, missing or outside is refused in one sentence', async (t) => {
  const { call } = setup(t, { 'a.png': Buffer.from([0x89, 0x50, 0, 1]), 'latin.txt': Buffer.from([0xe4, 0x0a]) });
  assert.match((await call('read_file', { path: 'a.png' })).text, /a\.png is not text \(4 bytes\)/);
  assert.match((await call('read_file', { path: 'latin.txt' })).text, /is not text/);
  assert.match((await call('read_file', { path: 'none' })).text, /There is no file or folder .*none/);
  for (const tool of ['read_file', 'list_files'])
    assert.match((await call(tool, { path: '../..' })).text, /is outside the workspace/, tool);
  assert.match((await call('grep', { path: '/etc', pattern: 'root' })).text, /outside the workspace/);
  assert.match((await call('glob', { path: '/etc', pattern: '*' })).text, /outside the workspace/);
});

test('attack 70: invisible characters are escaped, and an edit can still match them', async (t) => {
  const { call, text } = setup(t, {
    'a.js': 'if (ok\u202e) {\n  run();\u200b\n}\n',
    'fine.md': 'a 👩‍💻 ✔️\n',
    'esc.sh': 'echo \u001b[1m\n',
  });
  const { text: shown } = await call('read_file', { path: 'a.js' });
  assert.equal(shown, 'if (ok<U+202E>) {\n  run();<U+200B>\n}\n[Invisible characters are written as <U+…> or ␛.]');
  await call('edit_file', { path: 'a.js', old_string: 'ok<U+202E>', new_string: 'ok' });
  assert.equal(text('a.js'), 'if (ok) {\n  run();\u200b\n}\n');
  await call('read_file', { path: 'esc.sh' });
  await call('edit_file', { path: 'esc.sh', old_string: '␛[1m', new_string: '␛[0m' });
  assert.equal(text('esc.sh'), 'echo \u001b[0m\n');
  assert.equal((await call('read_file', { path: 'fine.md' })).text, 'a 👩‍💻 ✔️');
});

test('[A73, P13, P40] a new file is written with its directories; an existing one only after it was read', async (t) => {
  const { call, text } = setup(t, { 'old.txt': 'old\n' });
  const made = await call('write_file', { path: 'a/b.txt', content: 'one\ntwo\n' });
  assert.equal(made.text, 'Written 8 bytes to a/b.txt (2 lines, a new file).');
  assert.equal(changeData(made).before, null);
  assert.match((await call('write_file', { path: 'old.txt', content: 'new\n' })).text, /read it first/);
  assert.equal(text('old.txt'), 'old\n');
  await call('read_file', { path: 'old.txt' });
  const wrote = await call('write_file', { path: 'old.txt', content: 'new\n' });
  assert.match(changeData(wrote).diff, /^--- old\.txt\n\+\+\+ old\.txt\n@@ -1,1 \+1,1 @@\n-old\n\+new\n$/);
  assert.equal(text('old.txt'), 'new\n');
});

test('[A73] a change of a tool can be undone from its result', async (t) => {
  const { call, text, workspace } = setup(t, { 'old.txt': 'old\n' });
  await call('read_file', { path: 'old.txt' });
  const edited = await call('edit_file', { path: 'old.txt', old_string: 'old', new_string: 'new' });
  const stored = JSON.parse(JSON.stringify(edited.data)) as FileChange;
  await workspace.restore(stored);
  assert.equal(text('old.txt'), 'old\n');
});

test('[A73] an edit replaces one exact text; attack 37: two matches or a changed file are refused', async (t) => {
  const { call, text, root } = setup(t, { 'a.ts': 'f(1);\nf(2);\nf(1);\n' });
  const edit = { path: 'a.ts', old_string: 'f(2);', new_string: 'g(2);' };
  assert.match((await call('edit_file', edit)).text, /read it first/);
  await call('read_file', { path: 'a.ts' });
  assert.match((await call('edit_file', { ...edit, old_string: 'f(1);' })).text, /matches 2 times/);
  assert.match((await call('edit_file', { ...edit, new_string: 'f(2);' })).text, /are the same/);
  assert.equal((await call('edit_file', edit)).text, 'Edited a.ts.');
  const all = await call('edit_file', { path: 'a.ts', old_string: 'f(1)', new_string: '$&$1', replace_all: true });
  assert.equal(all.text, 'Edited a.ts in 2 places.');
  assert.equal(text('a.ts'), '$&$1;\ng(2);\n$&$1;\n');
  writeFileSync(path.join(root, 'a.ts'), 'g(2);\n');
  const late = await call('edit_file', { path: 'a.ts', old_string: 'g(2);', new_string: 'h(2);' });
  assert.match(late.text, /changed since it was read/);
  assert.equal(text('a.ts'), 'g(2);\n');
});

test('[A73] an edit without a match shows the most similar place, or says that there is none', async (t) => {
  const file = 'import a;\n\nfunction area(w, h) {\n  const size = w * h;\n  return size;\n}\n';
  const { call, text } = setup(t, { 'a.js': file });
  await call('read_file', { path: 'a.js' });
  const missed = await call('edit_file', {
    path: 'a.js',
    old_string: 'function area(w, h) {\n    const size = w*h;\n    return size;',
    new_string: 'x',
  });
  assert.equal(missed.failed, true);
  assert.match(
    missed.text,
    /most similar text is at lines 2-6:\n\nfunction area\(w, h\) \{\n {2}const size = w \* h;\n/,
  );
  const lost = await call('edit_file', { path: 'a.js', old_string: '%%%%%%%%', new_string: 'x' });
  assert.match(lost.text, /nor any similar text/);
  assert.equal(text('a.js'), file);
});

test('[A73] an edit keeps CRLF line breaks, a byte order mark and a missing last line break', async (t) => {
  const { call, text } = setup(t, { 'dos.txt': '\ufeffone\r\ntwo\r\nthree', 'mixed.txt': 'a\r\nb\nc\r\n' });
  assert.equal((await call('read_file', { path: 'dos.txt' })).text, 'one\ntwo\nthree');
  await call('edit_file', { path: 'dos.txt', old_string: 'one\ntwo', new_string: '1\n2\n2b' });
  assert.equal(text('dos.txt'), '\ufeff1\r\n2\r\n2b\r\nthree');
  await call('read_file', { path: 'mixed.txt' });
  await call('edit_file', { path: 'mixed.txt', old_string: 'b\nc', new_string: 'B\nC' });
  assert.equal(text('mixed.txt'), 'a\r\nB\nC\r\n');
});

test('[A73, P15] a directory is listed with file types; attack 36: a name with line breaks or escapes stays on its line', async (t) => {
  const { call, root } = setup(t, { 'b.txt': '', 'a/x': '', '-rf': '', 'odd\nname\u001b[2J': '' });
  symlinkSync('b.txt', path.join(root, 'z'));
  assert.equal((await call('list_files', {})).text, '-rf\na/\nb.txt\nodd␊name␛[2J\nz@');
  assert.equal((await call('list_files', { path: 'a' })).text, 'x');
});

const project: Files = {
  '.gitignore': '# made\ndist/\n*.log\n!keep.log\n/top.txt\n',
  'src/a.ts': 'export const one = 1;\n',
  'src/deep/b.ts': 'const two = 2; // one\n',
  'src/deep/.gitignore': 'c.ts\n',
  'src/deep/c.ts': 'one\n',
  'src/top.txt': 'one\n',
  'top.txt': 'one\n',
  'dist/a.js': 'one\n',
  'x.log': 'one\n',
  'keep.log': 'one\n',
  'node_modules/p/i.js': 'one\n',
  '.git/config': 'one\n',
};

test('[A73] glob finds files by pattern, without ignored ones', async (t) => {
  const { call, root } = setup(t, project);
  symlinkSync('..', path.join(root, 'src', 'loop'));
  assert.equal((await call('glob', { pattern: '**/*.ts' })).text, 'src/a.ts\nsrc/deep/b.ts');
  assert.equal((await call('glob', { pattern: '*.ts', path: 'src' })).text, 'src/a.ts');
  assert.equal((await call('glob', { pattern: '**/{top.txt,*.log,*.js,config}' })).text, 'keep.log\nsrc/top.txt');
  assert.match((await call('glob', { pattern: '*.py' })).text, /No file matches/);
});

test('[A73, P16] grep finds lines by regular expression, in one file or in all files that are not ignored', async (t) => {
  const { call } = setup(t, {
    ...project,
    'bin.dat': Buffer.from('one\0'),
    'many.txt': 'dozen\n'.repeat(300),
    'big.txt': 'two\n'.repeat(1_100_000),
  });
  const many = (await call('grep', { pattern: 'dozen', glob: 'many.*' })).text.split('\n');
  assert.deepEqual([many.length, many.at(-1)], [201, '[Stopped at 200 matches; narrow the search.]']);
  assert.equal(
    (await call('grep', { pattern: '\\bONE\\b', ignore_case: true })).text,
    'keep.log:1:one\nsrc/a.ts:1:export const one = 1;\nsrc/deep/b.ts:1:const two = 2; // one\nsrc/top.txt:1:one',
  );
  assert.equal((await call('grep', { pattern: '^const', glob: '*.ts' })).text, 'src/deep/b.ts:1:const two = 2; // one');
  assert.equal((await call('grep', { pattern: 'one', path: 'x.log' })).text, 'x.log:1:one');
  assert.equal((await call('grep', { pattern: 'one', path: 'big.txt' })).text, 'big.txt is above 4 MB: use a command.');
  assert.match((await call('grep', { pattern: '(' })).text, /not a valid regular expression/);
  assert.match((await call('grep', { pattern: 'nowhere' })).text, /Nothing matches/);
});

test('a pattern that would run forever is aborted, and the next search works', { timeout: 20_000 }, async (t) => {
  const { call } = setup(t, {
    'a.txt': `${'a'.repeat(40)}!\n`,
    ['a'.repeat(200)]: 'x\n',
    '.gitignore': `${'*a'.repeat(60)}b\n`,
  });
  assert.match((await call('glob', { pattern: `${'*a'.repeat(60)}b` })).text, /takes too long/);
  assert.match((await call('grep', { pattern: 'x', glob: `${'*a'.repeat(60)}b` })).text, /takes too long/);
  assert.match((await call('grep', { pattern: '^(a+)+$' })).text, /takes too long/);
  assert.equal((await call('grep', { pattern: '!$' })).data?.['matches' as never], 1);
});

test('attack 29: a search of a directory skips secret files', async (t) => {
  const { call } = setup(t, { '.env': 'KEY=one\n', 'a.txt': 'KEY\n' });
  assert.equal((await call('grep', { pattern: 'KEY' })).text, 'a.txt:1:KEY');
  assert.equal((await call('grep', { pattern: 'KEY', path: '.env' })).text, '.env:1:KEY=one');
});

test('a file that was only found by a search does not count as read', async (t) => {
  const { call } = setup(t, { 'a.txt': 'one\n' });
  await call('grep', { pattern: 'one' });
  assert.match((await call('write_file', { path: 'a.txt', content: 'x' })).text, /read it first/);
});

test('[A73, P17, P41] a command shows its output while it runs, and how it ended', async (t) => {
  const { call } = setup(t, { 'a.txt': '' });
  const heard: string[] = [];
  const ran = await call('run_command', { command: 'ls; exit 3' }, { progress: (text) => void heard.push(text) });
  assert.deepEqual([ran.text, ran.failed], ['a.txt\n[Exit code: 3.]', true]);
  assert.deepEqual(heard.join(''), 'a.txt\n');
  assert.deepEqual((await call('run_command', { command: 'true' })).text, '[Exit code: 0.]');
  assert.equal((await call('run_command', { command: 'echo out; echo err >&2' })).text, 'out\nerr\n[Exit code: 0.]');
  const late = await call('run_command', { command: 'echo begun; sleep 60', timeout_s: 1 });
  assert.match(late.text, /^begun\n\[Stopped after 1 s/);
});

test('an aborted command counts as interrupted, with its output so far', async (t) => {
  const stop = new AbortController();
  const ran = await setup(t).call(
    'run_command',
    { command: 'echo begun; sleep 60' },
    { signal: stop.signal, progress: () => stop.abort() },
  );
  assert.equal(ran.text, 'The command was interrupted.\nbegun');
});

test('attack 71: output of a command cannot control the terminal', async (t) => {
  const command = `printf '\\033[31mred\\033[0m 10%%\\r100%%\\n\\033]52;c;aGk=\\007\\033[2Jx\\302\\233y\\b\\n'`;
  const { text } = await setup(t).call('run_command', { command });
  assert.equal(text, '100%\nx␈\n[Exit code: 0.]');
});

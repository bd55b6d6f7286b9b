// Tests the editor integration: finding the editor, running it in tmux or in the foreground, and never losing text.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { noTerminal, openTerminal } from '../../../test/support/terminal.ts';
import { editPrompt, openEditor, type EditorResult } from './index.ts';
import { findEditor } from './open-editor.ts';

const noShell = process.platform === 'win32' ? 'needs a shell' : false;

/** Creates a directory with an editor: a shell script that gets the file as $1. */
function withEditor(t: TestContext, script: string): { readonly folder: string; readonly env: NodeJS.ProcessEnv } {
  const dir = mkdtempSync(path.join(tmpdir(), "fairlead ed'itor-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const file = path.join(dir, 'ed');
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return { folder: dir, env: { PATH: process.env['PATH'], OUT: dir, EDITOR: `'${file.replaceAll("'", `'\\''`)}'` } };
}

const drop = (edited: EditorResult): void => {
  if (edited.type === 'failed' && edited.draftPath) rmSync(path.dirname(edited.draftPath), { recursive: true });
};

test('[J62] the text is edited in a private file that is removed afterwards', { skip: noShell }, async (t) => {
  const { folder: dir, env } = withEditor(
    t,
    'printf %s "$1" > "$OUT/name"; ls -ln "$1" > "$OUT/mode"; printf more >> "$1"',
  );
  const edited = await openEditor('some ', { suffix: '.md', env });
  assert.deepEqual(edited, { type: 'saved', text: 'some more' });
  const name = readFileSync(path.join(dir, 'name'), 'utf8');
  assert.match(name, /\.md$/);
  assert.match(readFileSync(path.join(dir, 'mode'), 'utf8'), /^-rw-------/);
  assert.ok(!existsSync(path.dirname(name)), 'nothing is left');
});

test('[J62] a final line break that the editor adds is no change', { skip: noShell }, async (t) => {
  const { env } = withEditor(t, 'echo >> "$1"');
  assert.deepEqual(await openEditor('text', { suffix: '.md', env }), { type: 'unchanged' });
  assert.deepEqual(await openEditor('text\n', { suffix: '.md', env }), { type: 'saved', text: 'text\n\n' });
});

test(
  '[J62] VISUAL overrides EDITOR, both may hold arguments, and without them an installed editor is used',
  { skip: noShell },
  async (t) => {
    const { folder: dir, env } = withEditor(t, 'for last; do :; done; printf "%s" "$1 $2" > "$last"');
    const visual = `${env['EDITOR']} --wait 'two words'`;
    assert.deepEqual(await openEditor('x', { suffix: '.md', env: { ...env, VISUAL: visual, EDITOR: 'false' } }), {
      type: 'saved',
      text: '--wait two words',
    });
    const bin = path.join(dir, 'bin');
    mkdirSync(bin);
    assert.equal(findEditor({ PATH: bin, VISUAL: ' ' }), undefined);
    for (const name of ['nano', 'vi', 'vim', 'nvim']) {
      writeFileSync(path.join(bin, name), '', { mode: 0o755 });
      assert.equal(findEditor({ PATH: bin }), name);
    }
    const none = await openEditor('x', { suffix: '.md', env: { PATH: path.join(dir, 'nowhere') } });
    assert.deepEqual(none, {
      type: 'failed',
      message: 'No editor was found: set VISUAL or EDITOR, or install nvim, vim, vi or nano.',
    });
  },
);

test('[J62] if the editor fails, the text is kept and the message names the file', { skip: noShell }, async (t) => {
  const { env } = withEditor(t, 'printf "a long thought" > "$1"; exit 3');
  const edited = await openEditor('', { suffix: '.md', env });
  t.after(() => drop(edited));
  assert.ok(edited.type === 'failed' && edited.draftPath);
  assert.match(edited.message, /exited with code 3, so the edit was not applied\. Your text is in /);
  assert.ok(edited.message.includes(edited.draftPath));
  assert.equal(readFileSync(edited.draftPath, 'utf8'), 'a long thought');
  assert.equal(statSync(edited.draftPath).mode & 0o777, 0o600);
});

test(
  '[J62] a missing editor, or one that deletes the file, fails with one sentence and leaves no files',
  { skip: noShell },
  async (t) => {
    const missing = await openEditor('x', {
      suffix: '.md',
      env: { PATH: process.env['PATH'], EDITOR: 'no-such-editor 2>/dev/null' },
    });
    assert.ok(missing.type === 'failed' && missing.draftPath === undefined);
    assert.match(missing.message, /\(no-such-editor 2>\/dev\/null\) could not be started/);
    const { env } = withEditor(t, 'rm "$1"');
    const gone = await openEditor('x', { suffix: '.md', env });
    assert.ok(gone.type === 'failed' && gone.draftPath === undefined);
    assert.match(gone.message, /cannot be read/);
    const { env: bytes } = withEditor(t, 'printf \'\\377\' > "$1"');
    const odd = await openEditor('x', { suffix: '.md', env: bytes });
    t.after(() => drop(odd));
    assert.ok(odd.type === 'failed' && odd.draftPath, 'a file that is not text is kept for the user');
    const { env: killed } = withEditor(t, 'kill -9 $$');
    assert.match(
      JSON.stringify(await openEditor('x', { suffix: '.md', env: { ...killed, EDITOR: `exec ${killed['EDITOR']}` } })),
      /ended by SIGKILL/,
    );
  },
);

test('[J62] the UI is suspended while the editor uses the terminal', { skip: noShell }, async (t) => {
  const { env } = withEditor(t, 'printf new > "$1"');
  const steps: string[] = [];
  const ui = {
    async suspendFor<T>(work: () => Promise<T>): Promise<T> {
      steps.push('away');
      const result = await work();
      steps.push('back');
      return result;
    },
  };
  assert.deepEqual(await editPrompt('old', { env, ui }), { type: 'edited', text: 'new' });
  assert.deepEqual(steps, ['away', 'back']);
});

test('[J62] an unchanged or empty prompt is cancelled with a message', { skip: noShell }, async (t) => {
  const { env } = withEditor(t, 'true');
  assert.deepEqual(await editPrompt('old', { env }), {
    type: 'cancelled',
    message: 'The prompt was not changed, so nothing was sent.',
  });
  const { env: empties } = withEditor(t, ': > "$1"');
  assert.deepEqual(await editPrompt('old', { env: empties }), {
    type: 'cancelled',
    message: 'The prompt is empty, so nothing was sent.',
  });
});

/** Returns the environment of a program inside a tmux server of this test. */
async function insideTmux(t: TestContext): Promise<{
  readonly env: NodeJS.ProcessEnv;
  readonly panes: () => string;
  readonly keys: (...keys: string[]) => void;
}> {
  const terminal = await openTerminal(t, ['sh', '-c', 'sleep 60'], { env: { ONLY_THE_SERVER: 'yes' } });
  const [socket = '', pid, session, pane] = (await terminal.queryTmux('#{socket_path} #{pid} #{session_id} #{pane_id}'))
    .trim()
    .split(' ');
  const env = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    TMUX: `${socket},${pid},${session?.slice(1)}`,
    TMUX_PANE: pane,
  };
  const tmux = (...text: string[]): string => execFileSync('tmux', text, { env, encoding: 'utf8' });
  return {
    env,
    panes: () => tmux('list-panes', '-F', '#{pane_id}').trim(),
    keys: (...keys) => tmux('send-keys', '-t', '{bottom}', ...keys),
  };
}

test(
  '[J62] [J59] inside tmux the editor runs in a split, in our directory and environment but without our secrets',
  { skip: noTerminal() || noShell },
  async (t) => {
    const { folder: dir, env } = withEditor(
      t,
      'tmux list-panes -F x | wc -l > "$OUT/panes"; pwd > "$OUT/pwd"; env > "$OUT/env"; ls "$(dirname "$1")" > "$OUT/beside"; printf split > "$1"',
    );
    const { env: tmux, panes } = await insideTmux(t);
    const before = panes();
    const trap = mkdtempSync(path.join(tmpdir(), 'fairlead-trap-'));
    t.after(() => rmSync(trap, { recursive: true }));
    const cwd = path.join(trap, `#(touch ${trap}/ran)`);
    mkdirSync(cwd, { recursive: true });
    const mine = { ...env, ...tmux, WORDS: 'it\'s $HOME `id` \\ \n"two"', 'not a name': 'x' };
    const secrets = { MY_API_KEY: 'hush', PGPASS: 'hush', MY_PAT: 'hush', DATABASE_URL: 'postgres://me:hush@x.test/d' };
    assert.deepEqual(await openEditor('x', { suffix: '.md', env: { ...mine, ...secrets }, cwd }), {
      type: 'saved',
      text: 'split',
    });
    assert.equal(readFileSync(path.join(dir, 'panes'), 'utf8').trim(), '2');
    assert.equal(readFileSync(path.join(dir, 'pwd'), 'utf8').trim(), cwd);
    const seen = readFileSync(path.join(dir, 'env'), 'utf8');
    assert.ok(seen.includes(`WORDS=${mine.WORDS}\n`), seen);
    assert.ok(!seen.includes('hush'));
    assert.equal(
      readFileSync(path.join(dir, 'beside'), 'utf8'),
      'edit.md\n',
      'no other files of ours are there meanwhile',
    );
    assert.equal(panes(), before, 'the split is gone');
    assert.ok(!existsSync(path.join(trap, 'ran')), 'a directory name is not executed');
  },
);

test(
  '[J62] the exit code of an editor in a split is read, and a killed split loses no text',
  { skip: noTerminal() || noShell },
  async (t) => {
    const { env: tmux, panes } = await insideTmux(t);
    const { env } = withEditor(t, 'sleep 1; printf draft > "$1"; exit 4');
    const failed = await openEditor('x', { suffix: '.md', env: { ...env, ...tmux } });
    t.after(() => drop(failed));
    assert.ok(failed.type === 'failed' && failed.draftPath);
    assert.match(failed.message, /exited with code 4/);
    assert.equal(readFileSync(failed.draftPath, 'utf8'), 'draft');
    assert.deepEqual(readdirSync(path.dirname(failed.draftPath)), ['edit.md'], 'the draft alone is kept');
    const { env: stuck } = withEditor(t, 'printf draft > "$1"; tmux kill-pane; sleep 60');
    const killed = await openEditor('x', { suffix: '.md', env: { ...stuck, ...tmux } });
    t.after(() => drop(killed));
    assert.ok(killed.type === 'failed' && killed.draftPath);
    assert.match(killed.message, /its tmux pane was closed before it ended/);
    assert.equal(readFileSync(killed.draftPath, 'utf8'), 'draft');
    assert.equal(panes().split('\n').length, 1);
  },
);

test(
  '[J62] the signal ends an editor, in the foreground and in a split, and saved text is kept',
  { skip: noTerminal() || noShell, timeout: 30_000 },
  async (t) => {
    const { env: tmux, panes } = await insideTmux(t);
    for (const more of [{}, tmux]) {
      const { folder: dir, env } = withEditor(t, 'printf saved > "$1"; : > "$OUT/ready"; exec sleep 60');
      const stop = new AbortController();
      const editing = openEditor('x', {
        suffix: '.md',
        env: { ...env, EDITOR: `exec ${env['EDITOR']}`, ...more },
        signal: stop.signal,
      });
      while (!existsSync(path.join(dir, 'ready'))) await new Promise((resolve) => setTimeout(resolve, 20));
      stop.abort();
      const edited = await editing;
      t.after(() => drop(edited));
      assert.ok(edited.type === 'failed' && edited.draftPath, JSON.stringify(edited));
      assert.match(edited.message, /it was interrupted/);
      assert.equal(readFileSync(edited.draftPath, 'utf8'), 'saved');
    }
    assert.equal(panes().split('\n').length, 1);
  },
);

test(
  '[J8, J62] if tmux does not answer, the editor runs in the foreground',
  { skip: noTerminal() || noShell },
  async (t) => {
    const { env } = withEditor(t, 'printf here > "$1"');
    const lost = { ...env, TMUX: path.join(tmpdir(), 'no-such-socket,1,0') };
    assert.deepEqual(await openEditor('x', { suffix: '.md', env: lost }), { type: 'saved', text: 'here' });
  },
);

const bareNvim = 'nvim -u NONE -i NONE -n';

test(
  '[J59] [J62] nvim in a split accepts keys and saves',
  { skip: noTerminal() || noNvim(), timeout: 30_000 },
  async (t) => {
    const { env, keys } = await insideTmux(t);
    const ready = path.join(mkdtempSync(path.join(tmpdir(), 'fairlead-ready-')), 'yes');
    t.after(() => rmSync(path.dirname(ready), { recursive: true }));
    const editor = `${bareNvim} -c "call writefile([], '${ready}')"`;
    const editing = openEditor('first line', { suffix: '.md', env: { ...env, EDITOR: editor } });
    while (!existsSync(ready)) await new Promise((resolve) => setTimeout(resolve, 50));
    keys('o', 'second line', 'Escape', ':wq', 'Enter');
    assert.deepEqual(await editing, { type: 'saved', text: 'first line\nsecond line' });
  },
);

test(
  '[J62] nvim outside tmux uses the whole terminal, and an exit with an error cancels and keeps the text',
  { skip: noTerminal() || noNvim(), timeout: 30_000 },
  async (t) => {
    const script = `const { editPrompt } = await import(${JSON.stringify(path.join(import.meta.dirname, 'index.ts'))});
      for (const text of ['one', 'two']) console.log('came of it:', JSON.stringify(await editPrompt(text)));
      setTimeout(() => {}, 60_000);`;
    const command = ['env', '-u', 'TMUX', process.execPath, '--input-type=module', '-e', script];
    const terminal = await openTerminal(t, command, { env: { VISUAL: bareNvim }, columns: 320 });
    await terminal.waitFor(/^one$/m);
    await terminal.keys('A', '!', 'Escape', ':wq', 'Enter');
    await terminal.waitFor(/^two$/m);
    await terminal.keys('A', '?', 'Escape', ':w', 'Enter', ':cq', 'Enter');
    const screen = await terminal.waitFor(/"kept":".*\}/);
    assert.match(screen, /came of it: \{"type":"edited","text":"one!"\}/);
    const kept = /"kept":"([^"]+)"/.exec(screen)?.[1] ?? '';
    assert.equal(readFileSync(kept, 'utf8'), 'two?\n');
    rmSync(path.dirname(kept), { recursive: true });
  },
);

function noNvim(): string | false {
  try {
    execFileSync('nvim', ['--version'], { stdio: 'ignore' });
    return false;
  } catch {
    return 'nvim is not installed';
  }
}

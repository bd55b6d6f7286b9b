// Tests the `sessions` command by running the program.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { createProgramHome } from '../../../../test/support/program-dirs.ts';
import { openJsonl } from '../../../stores/index.ts';
import { createSessionFile, sessionFilePath } from '../../../sessions/index.ts';

async function createSession(data: string, name: string, text: string, cwd?: string): Promise<string> {
  const { file } = createSessionFile({ data }, name);
  const log = await openJsonl(file, cwd === undefined ? { session: 'abcdef-1' } : {});
  await log.append(0, [
    { type: 'session-started', session: log.session },
    { type: 'epoch-started', epoch: 1, reason: 'started', system: '', tools: [], model: 'm', ...(cwd ? { cwd } : {}) },
    { type: 'input-received', input: 'i', how: 'prompt', parts: [{ type: 'text', text }] },
    { type: 'turn-started', turn: 1, inputs: ['i'], notes: [] },
  ]);
  await log.close();
  return file;
}

test('sessions: listed, shown, exported and verified; only data on standard output', async (t) => {
  const { home, data, fairlead } = createProgramHome(t);
  assert.deepEqual(fairlead(['sessions']), { status: 0, stdout: '', stderr: 'There is no session yet.\n' });
  const file = await createSession(data(), 'my \u001b[31mred', 'Hello\u001b[2J there');
  const list = fairlead(['sessions', 'list']);
  assert.deepEqual([list.status, list.stderr], [0, '']);
  assert.match(
    list.stdout,
    /^name +title +last change +status +events +size +model\nmy ␛\[31mred +\d{4}-\d\d-\d\d \d\d:\d\d +4 +\d+ B +m\n$/,
  );
  const [told] = JSON.parse(fairlead(['sessions', 'list', '--json']).stdout) as { id: string; events: number }[];
  assert.deepEqual([told?.id, told?.events], ['abcdef-1', 4]);
  assert.deepEqual(fairlead(['sessions', 'show', 'abcdef']), {
    status: 0,
    stdout: '── User ──\nHello␛[2J there\n',
    stderr: '',
  });
  const page = path.join(home, 'out.html');
  assert.equal(fairlead(['sessions', 'export', 'abcdef', '-o', page]).status, 0);
  assert.match(readFileSync(page, 'utf8'), /^<!doctype html>/);
  if (process.platform !== 'win32') assert.equal(statSync(page).mode & 0o777, 0o600);
  const again = fairlead(['sessions', 'export', 'abcdef', '-o', page]);
  assert.deepEqual(
    [again.status, again.stderr],
    [1, `${page} already exists. Name another file, or remove that one.\n`],
  );
  assert.equal(fairlead(['sessions', 'verify']).stdout, 'my ␛[31mred: ok (4 events)\n');
  writeFileSync(file, readFileSync(file, 'utf8').replace('Hello', 'Jello'));
  const verified = fairlead(['sessions', 'verify', 'abcdef']);
  assert.equal(verified.status, 1);
  assert.match(verified.stdout, /: damaged \(4 events\)\n {2}Line 4 was changed outside the program\.\n$/);
});

test('[J76] sessions: renamed, copied, deleted and restored, each with one sentence', async (t) => {
  const { data, fairlead } = createProgramHome(t);
  await createSession(data(), 'a', 'Hello');
  assert.deepEqual(fairlead(['sessions', 'rename', 'a', 'b']), { status: 0, stdout: '', stderr: '"a" is now "b".\n' });
  assert.deepEqual(fairlead(['sessions', 'clone', 'b']), {
    status: 0,
    stdout: 'b-clone\n',
    stderr: 'A copy of "b":\n',
  });
  assert.deepEqual(fairlead(['sessions', 'rename', 'b', 'b-clone']), {
    status: 1,
    stdout: '',
    stderr: 'There is already a session named "b-clone". Choose another name, or resume that one.\n',
  });
  assert.equal(fairlead(['sessions', 'delete', 'b']).status, 0);
  assert.equal(existsSync(sessionFilePath({ data: data() }, 'b')), false);
  assert.match(fairlead(['sessions', 'trash']).stdout, /^name +deleted\nb +\d{4}-\d\d-\d\d_/);
  assert.equal(fairlead(['sessions', 'restore', 'b']).stderr, '"b" is restored.\n');
  assert.equal(existsSync(sessionFilePath({ data: data() }, 'b')), true);
});

test('sessions: the list shows this folder, with --all every folder; a title and a search find a session again', async (t) => {
  const { data, cwd, fairlead } = createProgramHome(t);
  await createSession(data(), '2026-01-01_00-00-00', 'Hello\u001b[2J there', cwd);
  await createSession(data(), 'there', 'Hello elsewhere', '/elsewhere');
  const list = fairlead(['sessions', 'list']);
  assert.match(list.stdout, /^name +title .*\n2026-01-01_00-00-00 +Hello␛\[2J there +\S+ \S+ +4 .*\n$/);
  assert.equal(list.stderr, '1 in other folders: fairlead sessions list --all\n');
  const all = fairlead(['sessions', 'list', '--all']);
  assert.match(all.stdout, /^name .* folder\n2026-01-01.*work\nthere .*\/elsewhere\n$/);
  const found = fairlead(['sessions', 'search', 'elsewhere', 'hello']);
  assert.match(found.stdout, /^name +title +last change +folder +text\nthere .* \/elsewhere +Hello elsewhere\n$/);
  assert.deepEqual(fairlead(['sessions', 'search', 'nowhere']), {
    status: 0,
    stdout: '',
    stderr: 'No session contains "nowhere".\n',
  });
  assert.deepEqual(
    fairlead(['sessions', 'title', 'there', 'The other one']).stderr,
    'The title of "there" is "The other one".\n',
  );
  assert.match(fairlead(['sessions', 'list', '--all']).stdout, /^there +The other one /m);
});

test('sessions: invalid arguments get one sentence, the usage and exit code 2', (t) => {
  const { fairlead } = createProgramHome(t);
  for (const [args, text] of [
    [['frob'], /^Unknown subcommand: sessions frob\.\nUsage: fairlead sessions/],
    [['show'], /^Missing argument: fairlead sessions show <session> \[--json\]\n/],
    [['show', 'a', 'b'], /^Unexpected argument "b"/],
    [['rename', 'a', 'b', '--json'], /^"fairlead sessions rename" has no option --json\.\n/],
    [['lst'], /^Unknown subcommand: sessions lst\. Did you mean "list"\?\n/],
    [['--frob'], /^Unknown option '--frob'\.\nUsage:/],
  ] as const) {
    const { status, stdout, stderr } = fairlead(['sessions', ...args]);
    assert.deepEqual([status, stdout], [2, ''], args.join(' '));
    assert.match(stderr, text);
  }
  assert.equal(fairlead(['sessions', 'show', 'nobody']).status, 1);
  const help = fairlead(['sessions', '--help']);
  assert.deepEqual(
    [help.status, help.stderr, help.stdout.split('\n')[0]],
    [0, '', 'Usage: fairlead sessions <command>'],
  );
});

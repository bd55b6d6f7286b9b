// Attacks through paths and files, run against the terminal's own agent. The outcomes are observed.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import type { AttackOutcome } from '../scripts/attacks/catalogue.ts';
import type { Json } from '../src/core/index.ts';
import { createAttackFixture, type AttackFixture } from './support/attack-fixture.ts';
import { noSandbox } from './support/sandbox.ts';
import { assertAttack } from './support/attack-report.ts';

const skip = await noSandbox();

/** Returns the outcomes of these calls in auto mode, without approvals. */
async function collectOutcomes(
  fixture: AttackFixture,
  tool: string,
  inputs: readonly Json[],
  auto = true,
): Promise<readonly AttackOutcome[]> {
  const all: AttackOutcome[] = [];
  for (const input of inputs) all.push((await fixture.attempt(tool, input, auto)).how);
  return all;
}

const toPathInputs = (...all: readonly string[]): readonly Json[] => all.map((each) => ({ path: each }));

test('[attack 21] [attack 22] [attack 23] no path leads out of the project directory', async (t) => {
  const fixture = await createAttackFixture(t, (root) => symlinkSync('/etc/passwd', path.join(root, 'link')));
  writeFileSync(path.join(fixture.siblingDir, 'x'), 'private');
  const up = toPathInputs(
    '../../etc/passwd',
    'a/../../../etc/passwd',
    '%2e%2e/%2e%2e/etc/passwd',
    '..\\..\\etc\\passwd',
    '/etc/passwd',
  );
  assertAttack(t, 21, await collectOutcomes(fixture, 'read_file', up), `${up.length} tried`);
  assertAttack(
    t,
    22,
    await collectOutcomes(fixture, 'read_file', toPathInputs(path.join(fixture.siblingDir, 'x'), '../app-beside/x')),
  );
  assertAttack(t, 23, await collectOutcomes(fixture, 'read_file', toPathInputs('link')));
});

test('[attack 27] [attack 37] a file with a second hard link, an unread file and a changed file are not written', async (t) => {
  const fixture = await createAttackFixture(t, (root) => writeFileSync(path.join(root, 'twice'), 'a\na\n'));
  const outside = path.join(fixture.siblingDir, 'x');
  writeFileSync(outside, 'theirs');
  linkSync(outside, path.join(fixture.root, 'second'));
  await fixture.attempt('read_file', { path: 'second' });
  assertAttack(t, 27, await collectOutcomes(fixture, 'write_file', [{ path: 'second', content: 'mine' }]));
  assert.equal(readFileSync(outside, 'utf8'), 'theirs');
  const unread = await collectOutcomes(fixture, 'write_file', [{ path: 'twice', content: 'b' }]);
  await fixture.attempt('read_file', { path: 'twice' });
  const both = await collectOutcomes(fixture, 'edit_file', [{ path: 'twice', old_string: 'a', new_string: 'b' }]);
  writeFileSync(path.join(fixture.root, 'twice'), 'changed a\n');
  assertAttack(t, 37, [
    ...unread,
    ...both,
    ...(await collectOutcomes(fixture, 'edit_file', [{ path: 'twice', old_string: 'a', new_string: 'b' }])),
  ]);
});

test('[attack 28] [attack 30] [attack 50] files that other programs execute, and our own settings, are not written, in any spelling', async (t) => {
  const fixture = await createAttackFixture(t);
  const write = (...all: readonly string[]): Promise<readonly AttackOutcome[]> =>
    collectOutcomes(
      fixture,
      'write_file',
      all.map((each) => ({ path: each, content: 'x' })),
    );
  assertAttack(t, 28, await write('.git/hooks/pre-commit', '.git/config', '.gitmodules'));
  assertAttack(
    t,
    30,
    await write(
      '.GIT/hooks/pre-commit',
      '.git./config',
      '.Git/config',
      '.g\u0131t/../.GIT/config',
      '.ENV',
      '.Mcp.json',
    ),
  );
  const settings = path.join(fixture.home, '.config/fairlead/config.json');
  assertAttack(t, 50, await write(settings, path.join(fixture.home, '.config/fairlead/policy.yaml')));
});

test('[attack 29] [attack 43] secret files need approval inside the project, and cannot be read outside it', async (t) => {
  const names = ['.env', 'a.pem', 'id_rsa', '.npmrc', '.ENV'];
  const fixture = await createAttackFixture(t, (root) =>
    names.forEach((name) => writeFileSync(path.join(root, name), 'key')),
  );
  assertAttack(
    t,
    29,
    await collectOutcomes(fixture, 'read_file', toPathInputs(...names), false),
    `${names.length} tried`,
  );
  assertAttack(
    t,
    43,
    await collectOutcomes(fixture, 'read_file', toPathInputs('~/.ssh/id_rsa', path.join(fixture.home, '.ssh/id_rsa'))),
  );
});

test('[attack 33] [attack 34] pipes, devices, endless files and files prepared by an attacker cause no harm', async (t) => {
  const fixture = await createAttackFixture(t);
  const at = (name: string): string => path.join(fixture.root, name);
  execFileSync('mkfifo', [at('pipe')]);
  writeFileSync(at('huge'), '');
  truncateSync(at('huge'), 2 ** 40);
  symlinkSync('/dev/zero', at('zero'));
  assertAttack(t, 33, await collectOutcomes(fixture, 'read_file', toPathInputs('pipe', 'huge', 'zero', '/dev/zero')));
  const victim = path.join(fixture.siblingDir, 'victim');
  writeFileSync(victim, 'theirs');
  for (const name of ['a.txt.tmp', '.a.txt.tmp', 'a.txt~', '.a.txt.swp']) symlinkSync(victim, at(name));
  await fixture.attempt('write_file', { path: 'a.txt', content: 'x' }, true);
  assertAttack(t, 34, [
    readFileSync(victim, 'utf8') === 'theirs' && readFileSync(at('a.txt'), 'utf8') === 'x' ? 'blocked' : 'done',
  ]);
});

test('[attack 36] [attack 70] [attack 71] names and texts are shown with invisible characters escaped', async (t) => {
  const fixture = await createAttackFixture(t, (root) => {
    for (const name of ['a\nb', '\u001b[2Jc', '-rf', '\u202etxt.exe']) writeFileSync(path.join(root, name), '');
    writeFileSync(path.join(root, 'tags'), 'say \u{e0041}\u{e0042}\u200b\u202e\u001b]52;c;x\u0007 now');
  });
  const isPlain = (text: string): boolean =>
    // oxlint-disable-next-line no-control-regex
    !/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b\u202e\u{e0000}-\u{e007f}]/u.test(text);
  const listed = await fixture.attempt('list_files', { path: '.' });
  const lines = listed.text.split('\n').length;
  assertAttack(t, 36, [isPlain(listed.text) && lines <= readdirSync(fixture.root).length + 1 ? 'shown' : 'done']);
  const read = await fixture.attempt('read_file', { path: 'tags' });
  assertAttack(t, 70, [isPlain(read.text) && /E0041/.test(read.text) ? 'shown' : 'done']);
  const ran = await fixture.attempt('run_command', { command: "printf '\\033[2J\\033]52;c;aGk=\\007\\2332Jx'" }, true);
  assertAttack(t, 71, [isPlain(ran.text) ? 'shown' : 'done']);
});

test('[attack 75] strings that often break programs are returned unchanged', async (t) => {
  const fixture = await createAttackFixture(t);
  const strings = [
    'undefined',
    '\\',
    "';DROP TABLE x",
    '${7*7}',
    '%s%n',
    '\u0001',
    'Ω≈ç√∫',
    '👩‍👩‍👧',
    '\ufeffbom',
    'CON',
    '--help',
    '<script>',
    'a\r\nb',
    '{{x}}',
    '1e999',
  ];
  const seenAll: AttackOutcome[] = [];
  for (const [at, text] of strings.entries()) {
    const { how } = await fixture.attempt('write_file', { path: `f${at}`, content: text }, true);
    seenAll.push(
      how === 'done' && readFileSync(path.join(fixture.root, `f${at}`), 'utf8') === text ? 'contained' : 'done',
    );
  }
  assertAttack(t, 75, seenAll, `${strings.length} tried`);
});

test('[attack 25] a link created by a command is not followed outside', { skip }, async (t) => {
  const fixture = await createAttackFixture(t);
  writeFileSync(path.join(fixture.siblingDir, 'secret'), 'private');
  mkdirSync(path.join(fixture.root, 'sub'));
  await fixture.attempt(
    'run_command',
    { command: `ln -s ${fixture.siblingDir} out; rmdir sub; ln -s ${fixture.siblingDir} sub` },
    true,
  );
  const saw = [
    ...(await collectOutcomes(fixture, 'read_file', toPathInputs('out/secret', 'sub/secret'))),
    ...(await collectOutcomes(fixture, 'write_file', [{ path: 'sub/new', content: 'x' }])),
  ];
  assertAttack(t, 25, saw);
  assert.deepEqual(readdirSync(fixture.siblingDir), ['secret']);
});

test(
  '[attack 31] [attack 38] files that other programs execute are removed after a command created them',
  { skip },
  async (t) => {
    const asked: string[] = [];
    const fixture = await createAttackFixture(t, () => {}, asked);
    const made = ['.mcp.json', '.fairlead/policy.yaml', '.env', 'custom_tools/x.mjs', '.git/hooks/pre-commit'];
    const command = `mkdir -p .fairlead custom_tools; ${made.map((each) => `echo x > ${each}`).join('; ')}`;
    await fixture.attempt('run_command', { command }, true);
    const left = made.filter((each) => existsSync(path.join(fixture.root, each)));
    assertAttack(t, 31, [left.length === 0 ? 'contained' : 'done'], left.join(' '));
  },
);

test('[attack 38] a tool of a project directory is shown to the user, and is not loaded without approval', async (t) => {
  const asked: string[] = [];
  const mark = path.join('custom_tools', 'mark');
  const fixture = await createAttackFixture(
    t,
    (root) => {
      mkdirSync(path.join(root, 'custom_tools'));
      const tool = `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(path.join(root, mark))}, ''); export default { name: 'evil', description: 'x', input: {}, run: () => 'x' };`;
      writeFileSync(path.join(root, 'custom_tools/evil.mjs'), tool);
    },
    asked,
  );
  const isThere =
    fixture.codingAgent.tools.some(({ name }) => name.includes('evil')) || existsSync(path.join(fixture.root, mark));
  const questions = asked.filter((each) => each.includes('evil.mjs'));
  assertAttack(t, 38, [isThere || questions.length !== 1 ? 'done' : 'asked']);
});

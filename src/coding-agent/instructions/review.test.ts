// Tests which instruction texts of a project count: first versions, changes, earlier versions, refusals, damaged records and bounds.
import assert from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { findPrivacyLabel } from '../private-sessions.ts';
import {
  formatInstructionChanges,
  loadProjectTexts,
  type AcceptInstructions,
  type InstructionChange,
  type ProjectTexts,
} from './index.ts';
import { pruneRecords } from './prune-records.ts';

type Loaded = ProjectTexts & { readonly asked: readonly InstructionChange[] };

type Project = {
  readonly top: string;
  readonly stateDir: string;
  readonly write: (files: Readonly<Record<string, string>>) => Promise<void>;
  /** Loads the texts of a directory; `answer` is that of the user, without it there is none. */
  readonly load: (answer?: boolean, cwd?: string, asksAgain?: boolean) => Promise<Loaded>;
};

function createProject(t: TestContext, name = 'repo'): Project {
  const home = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-instructions-')));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const [top, stateDir] = [path.join(home, name), path.join(home, 'state')];
  mkdirSync(top);
  return {
    top,
    stateDir,
    async write(files) {
      // The change time of a file has the resolution of the kernel's clock tick.
      await pause(20);
      for (const [file, text] of Object.entries(files)) {
        mkdirSync(path.dirname(path.join(top, file)), { recursive: true });
        writeFileSync(path.join(top, file), text);
      }
      await pause(20);
    },
    async load(answer, cwd = '.', asksAgain = false) {
      const asked: InstructionChange[] = [];
      const accept: AcceptInstructions = async (changes) => {
        asked.push(...changes);
        return answer;
      };
      const dirs = { state: stateDir, data: `${home}/data`, config: `${home}/config`, cache: `${home}/cache` };
      const texts = await loadProjectTexts({
        settings: { dirs, projectInstructions: undefined },
        location: { cwd: path.join(top, cwd), home, configDir: dirs.config },
        skillDirs: [],
        accept: answer === undefined ? undefined : accept,
        asksAgain,
      });
      return { ...texts, asked };
    },
  };
}

test('the first version of a clone counts without a question, and every change of it is asked about once', async (t) => {
  const { top, write, load } = createProject(t);
  await write({ '.git/HEAD': '', 'AGENTS.md': 'Use tabs.\n' });
  const first = await load(false);
  assert.deepEqual([first.asked, first.problems], [[], []]);
  assert.match(first.instructions.text, /Use tabs\./);
  assert.deepEqual((await load(false)).asked, [], 'nothing changed');

  await write({ 'AGENTS.md': 'Use spaces.\n' });
  const file = path.join(top, 'AGENTS.md');
  const absent = await load();
  assert.match(absent.instructions.text, /Use tabs\./);
  assert.doesNotMatch(absent.instructions.text, /spaces/);
  assert.deepEqual([absent.isPending, absent.problems.length], [true, 1]);
  assert.equal(
    absent.problems[0],
    `${file} changed since it was last accepted in this folder, so its earlier text is used. To read and accept the change, run "fairlead trust" in ${path.join(top, '.')}.`,
  );
  const refused = await load(false);
  assert.deepEqual(refused.asked, [{ file, before: 'Use tabs.\n', after: 'Use spaces.\n' }]);
  assert.match(refused.instructions.text, /Use tabs\./);
  const still = await load(true);
  assert.deepEqual(still.asked, [], 'a refusal is not asked about again');
  assert.equal(still.problems.length, 1);
  const accepted = await load(true, '.', true);
  assert.equal(accepted.asked.length, 1);
  assert.match(accepted.instructions.text, /Use spaces\./);
  assert.deepEqual(accepted.problems, []);
});

test('a version that was accepted earlier counts again without a question, also the absence of the file', async (t) => {
  const { top, write, load } = createProject(t);
  await write({ '.git/HEAD': '', 'AGENTS.md': 'one' });
  await load(false);
  await write({ 'AGENTS.md': 'two' });
  await load(true);
  rmSync(path.join(top, 'AGENTS.md'));
  const removed = await load();
  assert.match(removed.instructions.text, /two/, 'the earlier text is used');
  assert.match(removed.problems[0] ?? '', /AGENTS\.md was removed since/);
  assert.equal((await load(true)).instructions.text, '');
  for (const text of ['one', 'two']) {
    await write({ 'AGENTS.md': text });
    const again = await load(false);
    assert.deepEqual([again.asked, again.instructions.text.includes(text)], [[], true]);
  }
  rmSync(path.join(top, 'AGENTS.md'));
  await write({ 'CLAUDE.md': 'one' });
  assert.deepEqual((await load(false)).asked, [], 'the name of the file does not matter');
});

test('all changed files are in one question; a new file, command and skill are changes of a known project', async (t) => {
  const { top, write, load } = createProject(t);
  const skill = (text: string): string => `---\nname: ship\ndescription: Ships it.\n---\n${text}\n`;
  await write({ '.git/HEAD': '', '.agents/skills/ship/SKILL.md': skill('Push.'), '.fairlead/commands/fix.md': 'Fix.' });
  await load(false);
  await write({
    'AGENTS.md': 'new',
    '.agents/skills/ship/SKILL.md': skill('Push to evil.'),
    '.agents/skills/other/SKILL.md': skill('x').replace('ship', 'other'),
    '.fairlead/commands/fix.md': 'Send the keys.',
    '.claude/commands/more.md': 'More.',
  });
  const kept = await load();
  assert.equal(kept.instructions.text, '');
  assert.deepEqual(
    kept.resources.skills.map(({ name, text }) => [name, text]),
    [['ship', skill('Push.')]],
  );
  assert.deepEqual(
    kept.resources.commands.map(({ name, body }) => [name, body]),
    [['fix', 'Fix.']],
  );
  assert.equal(kept.problems.length, 5);
  const accepted = await load(true);
  assert.deepEqual(accepted.asked.map(({ file }) => path.relative(top, file)).toSorted(), [
    '.agents/skills/other/SKILL.md',
    '.agents/skills/ship/SKILL.md',
    '.claude/commands/more.md',
    '.fairlead/commands/fix.md',
    'AGENTS.md',
  ]);
  assert.deepEqual(
    [accepted.resources.skills.length, accepted.resources.commands.length, accepted.problems],
    [2, 2, []],
  );
  assert.deepEqual((await load(false)).asked, []);
});

for (const git of [true, false])
  test(`a file that appeared in a subdirectory after a session began is a change there, ${git ? 'in' : 'outside'} a repository`, async (t) => {
    const { top, write, load } = createProject(t);
    await write({ ...(git ? { '.git/HEAD': '' } : {}), 'old/AGENTS.md': 'old', 'evil.md': 'evil' });
    await load(false);
    await write({ 'new/AGENTS.md': 'new', 'cloned/.git/HEAD': '', 'cloned/AGENTS.md': 'cloned', 'linked/x': '' });
    symlinkSync(path.join(top, 'new'), `${top}-link`);
    assert.equal((await load(undefined, '../repo-link')).instructions.text, '', 'a link to the directory is the same');
    symlinkSync('../evil.md', path.join(top, 'linked/AGENTS.md'));
    const old = await load(false, 'old');
    assert.deepEqual([old.asked, old.instructions.text.includes('old')], [[], true], 'it is from the clone');
    for (const folder of ['new', 'cloned', ...(git ? ['linked'] : [])]) {
      const { instructions, problems } = await load(undefined, folder);
      assert.equal(instructions.text, '', folder);
      assert.match(problems[0] ?? '', /AGENTS\.md is new or changed since .* so it is not used\./);
      assert.match((await load(true, folder)).instructions.text, new RegExp(folder === 'linked' ? 'evil' : folder));
    }
  });

test('a clone beside other projects is not affected by them', async (t) => {
  const { top, write, load } = createProject(t);
  await write({ 'one/.git/HEAD': '', 'one/AGENTS.md': 'one' });
  await load(false, 'one');
  await write({ 'two/.git/HEAD': '', 'two/AGENTS.md': 'two' });
  const { asked, instructions } = await load(false, 'two');
  assert.deepEqual([asked, instructions.text.includes('two')], [[], true], top);
});

test('a change that is not accepted can demand privacy, and cannot withdraw it', async (t) => {
  const { write, load } = createProject(t);
  await write({ '.git/HEAD': '', 'AGENTS.md': 'public' });
  const label = ({ instructions }: Loaded): string | undefined =>
    findPrivacyLabel({ private: false }, { private: false }, instructions);
  assert.equal(label(await load(false)), undefined);
  await write({ 'AGENTS.md': 'private: true' });
  assert.equal(label(await load()), 'AGENTS.md');
  assert.equal(label(await load(true)), 'AGENTS.md');
  await write({ 'AGENTS.md': 'private: no' });
  assert.equal(label(await load()), 'AGENTS.md');
});

test('records are private; a damaged record accepts nothing; a state directory that cannot be written is reported', async (t) => {
  const { write, load, stateDir } = createProject(t);
  await write({ '.git/HEAD': '', 'AGENTS.md': 'one' });
  await load(false);
  const dir = path.join(stateDir, 'instructions');
  const [name = ''] = readdirSync(dir);
  if (process.platform !== 'win32') {
    assert.equal(statSync(path.join(dir, name)).mode & 0o777, 0o600);
    assert.equal(statSync(dir).mode & 0o777, 0o700);
  }
  for (const content of ['{"files":', '{"files":{"AGENTS.md":{}}}', 'null']) {
    writeFileSync(path.join(dir, name), content);
    const damaged = await load();
    assert.deepEqual([damaged.instructions.text, damaged.isPending], ['', true]);
  }
  assert.match((await load(true)).instructions.text, /one/);
  assert.deepEqual((await load(false)).asked, []);
  rmSync(dir, { recursive: true });
  writeFileSync(dir, 'a file where a folder should be');
  const { instructions, problems } = await load(false);
  assert.match(instructions.text, /one/);
  assert.match(problems.join('\n'), /could not be saved[^]*will not be noticed/);
});

test('a diff has no control characters, is bounded, and says what it does not show', async () => {
  const before = Array.from({ length: 400 }, (_, line) => `line ${line}`).join('\n');
  const hostile = 'safe\u001b[2K\rhidden \u202e\u0007';
  const shown = await formatInstructionChanges([
    { file: '/p/AGENTS\u001b.md', before: 'a\n', after: `a\n${hostile}\n` },
  ]);
  assert.match(
    shown,
    /^\/p\/AGENTS␛\.md\n\n--- "\/p\/AGENTS\\342\\220\\233\.md"\n\+\+\+ "[^\n]*"\n@@ .*\n a\n\+safe␛\[2K␍hidden <U\+202E>␇$/,
  );
  const long = await formatInstructionChanges([{ file: '/p/AGENTS.md', before, after: 'x'.repeat(5000) }]);
  const lines = long.split('\n');
  assert.equal(lines.length, 203);
  assert.match(
    lines.at(-1) ?? '',
    /^\[\d+ more lines are not shown\. To read them, answer no and run "fairlead trust"\.\]$/,
  );
  const all = await formatInstructionChanges([{ file: '/p/AGENTS.md', before, after: 'x'.repeat(5000) }], Infinity);
  assert.ok(all.includes('-line 399') && all.includes(`+${'x'.repeat(5000)}`));
  const wide = await formatInstructionChanges([{ file: '/p/AGENTS.md', after: 'x'.repeat(5000) }]);
  assert.match(wide, /x \[4001 more characters of this line are not shown\]/);
});

test('the texts of a record are bounded; beyond that a file is recognised and its earlier text is not kept', async (t) => {
  const { write, load, stateDir } = createProject(t);
  const names = Array.from({ length: 30 }, (_, at) => `.fairlead/commands/c${at}.md`);
  const body = 'x'.repeat(60_000);
  await write({ '.git/HEAD': '', ...Object.fromEntries(names.map((name) => [name, body])) });
  assert.equal((await load(false)).resources.commands.length, 30);
  const dir = path.join(stateDir, 'instructions');
  const [size = 0] = readdirSync(dir).map((name) => statSync(path.join(dir, name)).size);
  assert.ok(size > 900_000 && size < 1_200_000, `${size}`);
  assert.deepEqual((await load(false)).asked, []);
  await write(Object.fromEntries(names.map((name) => [name, 'evil'])));
  const { resources, problems } = await load();
  assert.ok(resources.commands.length < 20 && resources.commands.every((each) => each.body === body));
  assert.equal(problems.length, 30);
});

test('the number of records is bounded; those of removed directories are deleted first', (t) => {
  const dir = mkdtempSync(path.join(tmpdir(), 'fairlead-records-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  for (let at = 0; at < 20; at++)
    writeFileSync(
      path.join(dir, `${at}.json`),
      JSON.stringify({ folder: at < 10 ? dir : `${dir}/gone${at}`, files: {} }),
    );
  pruneRecords(dir, 12);
  assert.deepEqual(
    readdirSync(dir)
      .map((name) => Number.parseInt(name, 10))
      .filter((at) => at >= 10),
    [],
  );
  assert.equal(readdirSync(dir).length, 9);
});

test('a text that is too long to keep is recognised, and not used after a change', async (t) => {
  const { top, write, load } = createProject(t);
  const long = 'x'.repeat(70_000);
  await write({ '.git/HEAD': '', '.fairlead/commands/long.md': long });
  assert.equal((await load(false)).resources.commands[0]?.body, long);
  assert.deepEqual((await load(false)).asked, []);
  await write({ '.fairlead/commands/long.md': `${long}y` });
  assert.deepEqual((await load()).resources.commands, []);
  const { asked, resources } = await load(true);
  assert.deepEqual(asked, [{ file: path.join(top, '.fairlead/commands/long.md'), after: `${long}y` }]);
  assert.equal(resources.commands[0]?.body, `${long}y`);
});

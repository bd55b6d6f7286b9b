// Rule files: what is loaded, what is skipped, and what counts as unusable.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { runStateView } from '../core/index.ts';
import { memoryTrust } from '../guards/index.ts';
import { askWhenRulesMissing, loadRuleFiles, ruleDirs } from './rule-files.ts';

type Files = Readonly<Record<string, string>>;

function createProject(t: TestContext, own: Files, project: Files): { cwd: string; home: string; configDir: string } {
  const home = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-rules-')));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const cwd = path.join(home, 'work');
  for (const [folder, files] of [
    [path.join(home, 'config/rules'), own],
    [path.join(cwd, '.fairlead/rules'), project],
  ] as const) {
    mkdirSync(folder, { recursive: true });
    for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text);
  }
  return { cwd, home, configDir: path.join(home, 'config') };
}

const rules = 'name: a\ngates: [{ type: deny, tools: [x], reason: no }]\n';
const base = (file: { readonly path: string }): string => path.basename(file.path);

test('[M36] rules are YAML, JSON, objects or functions; a file without rules is skipped with a reason', async (t) => {
  const places = createProject(
    t,
    {
      'a.yaml': rules,
      'b.json': '{"name":"b","builtIn":true}',
      'c.js': 'export default { name: "c", reminders: [{ name: "r", on: "turn-ended", message: "m" }] };',
      'd.ts':
        'export default (kit: { confirm: (c: object) => unknown }) => ({ name: "d", gates: [kit.confirm({ which: ["x"] })] });',
      'former.ts':
        'export default ({ enforce }) => ({ name: "former", gates: [enforce({ name: "x", why: "x", objection: () => ({ deny: "no" }) })] });',
      'e.test.ts': 'throw new Error("no rules");',
      'f.ts': 'export default { name: "f", gates: [() => ({ type: "allow" })] };',
      'g.ts': 'export default 3;',
      'h.ts': 'import "./c.js"; export default {};',
    },
    {},
  );
  const { files, problems, unusable } = await loadRuleFiles(ruleDirs(places), { trust: memoryTrust() });
  assert.deepEqual(
    files.map(({ set }) => set.name),
    ['a', 'b', 'c', 'd', 'former'],
  );
  assert.equal(files[1]?.set.reminders?.length, 13);
  assert.equal(files[4]?.set.gates?.[0]?.gates.length, 1, 'former names of exports still work');
  assert.deepEqual(
    problems.map(({ path: file }) => path.basename(file)),
    ['f.ts', 'g.ts', 'h.ts'],
  );
  assert.match(problems[0]?.why ?? '', /a gate that no rule function created/);
  assert.match(problems[2]?.why ?? '', /imports something/);
  assert.deepEqual(unusable.map(base), ['f.ts', 'g.ts', 'h.ts'], 'it is unknown what they would have denied');
});

test('[M31] broken rules without gates are reported and do not count as unusable', async (t) => {
  const broken = 'name: a\nreminders: [{ name: r, on: never, message: m }]\n';
  const places = createProject(t, { 'a.yaml': broken, 'b.yaml': `${broken}gates: []\n` }, {});
  const { problems, unusable } = await loadRuleFiles(ruleDirs(places), { trust: memoryTrust() });
  assert.equal(problems.length, 2);
  assert.deepEqual(unusable.map(base), ['b.yaml']);
});

test('[M31] a project’s rules need approval of their text; changed ones count as unusable if no user is present', async (t) => {
  const places = createProject(t, {}, { 'a.yaml': rules });
  const trust = memoryTrust();
  const file = path.join(places.cwd, '.fairlead/rules/a.yaml');
  const load = (answer: boolean, absent = false) =>
    loadRuleFiles(ruleDirs(places), { trust, unattended: absent, ask: async () => answer });
  const never = await load(false, true);
  assert.deepEqual([never.files.length, never.problems.length, never.unusable.length], [0, 1, 0]);
  assert.equal((await load(true)).files.length, 1);
  assert.equal((await load(false)).files.length, 1, 'an approval is saved');
  writeFileSync(file, rules.replace('x', 'y'));
  const refused = await load(false);
  assert.deepEqual([refused.files.length, refused.unusable.length], [0, 0], 'a rejection counts');
  const alone = await load(false, true);
  assert.deepEqual([alone.files.length, alone.unusable.length], [0, 1]);
  const decision = await askWhenRulesMissing(alone.unusable)(
    { id: 'c', tool: 'read_file', input: {} },
    runStateView().initial,
  );
  assert.ok(decision.type === 'ask' && decision.question.includes('a.yaml cannot be used'));
});

// Tests of drift between a manifest and the folder of the agent: a change of each kind is reported as this kind, and nothing else.
import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import type { JsonObject } from '../../core/index.ts';
import { createRelease, findDrift } from './create-release.ts';
import { createReleaseKey } from './keys.ts';
import { sha256, type ReleaseManifest } from './manifest.ts';
import { openReleaseStore } from './release-store.ts';

/** One file or more of each kind. */
const files: Readonly<Record<string, string>> = {
  'AGENTS.md': 'Be brief.\n',
  'commands/review.md': 'Review the change.\n',
  'rules/tests.yaml': 'rules: []\n',
  'policy.yaml': 'rules: []\n',
  'policy.json': '{}\n',
  'declarations.json': '{}\n',
  'dlp.json': '{}\n',
  'skills/sums/SKILL.md': '---\nname: sums\ndescription: Adds numbers.\n---\nAdd them.\n',
  'mcp.json': '{"mcpServers":{}}\n',
  'hooks.json': '{}\n',
  'tools/clock.ts': 'export {};\n',
  'notes.txt': 'Nothing.\n',
};

const settings = { model: 'ollama/qwen3', effort: 'low', limits: { turns: 20 } };

async function createFixture(t: TestContext) {
  const root = mkdtempSync(path.join(tmpdir(), 'fairlead-drift-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const folder = path.join(root, 'agent');
  const write = (name: string, text: string): void => {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  };
  for (const [name, text] of Object.entries(files)) write(name, text);
  const writeSettings = (value: JsonObject): void => write('config.json', `${JSON.stringify(value)}\n`);
  writeSettings(settings);
  const { manifest } = await createRelease({
    releases: openReleaseStore(path.join(root, 'releases')),
    folder,
    name: 'one',
    by: 'ann',
    program: '1.0.0',
    privateKey: createReleaseKey().privateKey,
  });
  const listDrift = async (of: ReleaseManifest = manifest): Promise<readonly string[]> =>
    (await findDrift(of, folder)).map(({ kind, name, change }) => `${change} ${kind} ${name}`);
  return { folder, manifest, write, writeSettings, listDrift };
}

const kinds: Readonly<Record<string, string>> = {
  'AGENTS.md': 'prompt',
  'commands/review.md': 'prompt',
  'rules/tests.yaml': 'rule',
  'policy.yaml': 'policy',
  'policy.json': 'policy',
  'declarations.json': 'policy',
  'dlp.json': 'policy',
  'skills/sums/SKILL.md': 'skill',
  'mcp.json': 'mcp',
  'hooks.json': 'hook',
  'tools/clock.ts': 'tool',
  'notes.txt': 'other',
};

test('[A105] a changed, added or removed prompt, rule, policy, skill, MCP definition, hook or tool file is reported as this kind alone', async (t) => {
  const { folder, write, listDrift } = await createFixture(t);
  assert.deepEqual(await listDrift(), [], 'nothing has changed');
  assert.deepEqual(Object.keys(kinds), Object.keys(files));
  for (const [name, kind] of Object.entries(kinds)) {
    appendFileSync(path.join(folder, name), '\n');
    assert.deepEqual(await listDrift(), [`changed ${kind} ${name}`]);
    rmSync(path.join(folder, name));
    assert.deepEqual(await listDrift(), [`removed ${kind} ${name}`]);
    write(name, files[name] ?? '');
  }
  write('rules/new.yaml', 'rules: []\n');
  assert.deepEqual(await listDrift(), ['added rule rules/new.yaml']);
});

test('[A105] a changed schema of a tool is reported as this tool alone', async (t) => {
  const { manifest, listDrift } = await createFixture(t);
  const names = manifest.tools.map(({ name }) => name);
  assert.ok(names.includes('read_file') && names.length > 5, names.join(', '));
  // The tools of another version of the program: one has another schema, one is new, and one is missing.
  const tools = manifest.tools.map((tool) => (tool.name === 'read_file' ? { ...tool, hash: sha256('other') } : tool));
  assert.deepEqual(await listDrift({ ...manifest, tools }), ['changed tool read_file']);
  assert.deepEqual(await listDrift({ ...manifest, tools: manifest.tools.filter(({ name }) => name !== 'grep') }), [
    'added tool grep',
  ]);
  assert.deepEqual(await listDrift({ ...manifest, tools: [...manifest.tools, { name: 'zip', hash: sha256('') }] }), [
    'removed tool zip',
  ]);
});

test('[A105] a changed model id or parameter is reported by name, with the settings file that has it', async (t) => {
  const { writeSettings, listDrift } = await createFixture(t);
  const changed = 'changed settings config.json';
  writeSettings({ ...settings, model: 'ollama/llama3.2' });
  assert.deepEqual(await listDrift(), [changed, 'changed model id']);
  writeSettings({ ...settings, effort: 'high' });
  assert.deepEqual(await listDrift(), [changed, 'changed model effort']);
  writeSettings({ ...settings, limits: { turns: 30 } });
  assert.deepEqual(await listDrift(), [changed, 'changed model limits.turns']);
  writeSettings({ ...settings, stream: false });
  assert.deepEqual(await listDrift(), [changed, 'added model stream']);
  writeSettings({ ...settings, theme: 'dark' });
  assert.deepEqual(await listDrift(), [changed]);
});

// Tests of codingAgent: the agent of the terminal for programs, with policy, approvals, hooks, skills, MCP and limits.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import type { PendingApproval } from '../core/index.ts';
import { calls, says, scriptedProvider } from '../testing/index.ts';
import { codingAgent, type CodingAgentOptions } from './coding-agent.ts';

type Fixture = { readonly cwd: string; readonly options: CodingAgentOptions; readonly warnings: string[] };

function createFixture(t: TestContext): Fixture {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-coding-agent-')));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const cwd = path.join(root, 'project');
  mkdirSync(cwd);
  const warnings: string[] = [];
  return {
    cwd,
    warnings,
    options: {
      cwd,
      stateDir: path.join(root, 'state'),
      configDir: path.join(root, 'config'),
      onWarning: (text) => void warnings.push(text),
    },
  };
}

const write = calls('write_file', { path: 'a.txt', content: 'new' });

test('a change waits for approval by default, and is made without one under approve: auto', async (t) => {
  const { cwd, options } = createFixture(t);
  await using asking = await codingAgent({ ...options, model: scriptedProvider([write, says('done')]) });
  const waiting = await asking.run('Write the file.');
  assert.equal(waiting.status, 'waiting');
  assert.equal(waiting.pendingApprovals[0]?.tool, 'write_file');
  assert.equal(existsSync(path.join(cwd, 'a.txt')), false);

  await using auto = await codingAgent({ ...options, approve: 'auto', model: scriptedProvider([write, says('done')]) });
  assert.equal((await auto.run('Write the file.')).text, 'done');
  assert.equal(readFileSync(path.join(cwd, 'a.txt'), 'utf8'), 'new');
});

test('an approval function decides, and its decisions are recorded in the session', async (t) => {
  const { cwd, options } = createFixture(t);
  const requests: PendingApproval[] = [];
  await using agent = await codingAgent({
    ...options,
    approve: (request) => {
      requests.push(request);
      return request.tool === 'write_file';
    },
    model: scriptedProvider([write, calls('run_command', { command: 'touch b.txt' }), says('done')]),
    sandbox: 'none',
  });
  await using session = await agent.session();
  const resolved: boolean[] = [];
  session.subscribe((event) => {
    if (event.type === 'approval-resolved') resolved.push(event.allowed);
  });
  assert.equal((await session.run('Go.')).text, 'done');
  assert.deepEqual(
    requests.map(({ tool }) => tool),
    ['write_file', 'run_command'],
  );
  assert.deepEqual(resolved, [true, false]);
  assert.deepEqual([existsSync(path.join(cwd, 'a.txt')), existsSync(path.join(cwd, 'b.txt'))], [true, false]);
});

test('a policy denies a call, whatever the approval function says; an invalid policy is an error at once', async (t) => {
  const { cwd, options } = createFixture(t);
  const policy = { rules: [{ deny: { path: '*.txt' }, why: 'Texts are read-only.' }] };
  const model = scriptedProvider([write, says('done')]);
  await using agent = await codingAgent({ ...options, policy, approve: () => true, model });
  assert.equal((await agent.run('Write the file.')).status, 'success');
  assert.equal(existsSync(path.join(cwd, 'a.txt')), false);
  await assert.rejects(codingAgent({ ...options, model, policy: { rules: [{ forbid: {} }] } }), /option "policy"/);
  await assert.rejects(codingAgent({ ...options, model, policy: 'nosuch.yaml' }), /nosuch\.yaml/);
});

test('instructions, AGENTS.md and skills are in the system prompt; skills can be named or switched off', async (t) => {
  const { cwd, options } = createFixture(t);
  writeFileSync(path.join(cwd, 'AGENTS.md'), 'Tabs, never spaces.');
  const skills = path.join(cwd, '..', 'skills');
  mkdirSync(path.join(skills, 'release'), { recursive: true });
  writeFileSync(
    path.join(skills, 'release', 'SKILL.md'),
    '---\nname: release\ndescription: How to release.\n---\nTag it.',
  );
  const systemOf = async (more: CodingAgentOptions): Promise<string> => {
    await using agent = await codingAgent({ ...options, model: scriptedProvider([says('ok')]), ...more });
    return (await agent.resolve()).system;
  };
  const system = await systemOf({ instructions: 'Answer in French.', skills: [skills] });
  for (const part of ['Answer in French.', 'Tabs, never spaces.', 'How to release.']) assert.ok(system.includes(part));
  assert.doesNotMatch(await systemOf({ skills: false }), /How to release/);
});

test('a hook file of the program guards calls', async (t) => {
  const { cwd, options } = createFixture(t);
  const hooks = path.join(cwd, '..', 'guard.json');
  const command = 'echo "not today" >&2; exit 2';
  writeFileSync(
    hooks,
    JSON.stringify({ hooks: { PreToolUse: [{ matcher: 'write_file', hooks: [{ type: 'command', command }] }] } }),
  );
  const model = scriptedProvider([write, says('done')]);
  await using agent = await codingAgent({ ...options, hooks: [hooks], approve: 'auto', model });
  await agent.run('Write the file.');
  assert.equal(existsSync(path.join(cwd, 'a.txt')), false);
});

test('limits end a run, and a model is named by provider and name, or is an error at once', async (t) => {
  const { cwd, options } = createFixture(t);
  const script = path.join(cwd, '..', 'answers.json');
  writeFileSync(script, JSON.stringify([{ calls: [{ tool: 'list_files', input: {} }] }, 'The end.']));
  await using agent = await codingAgent({ ...options, model: `scripted/${script}`, limits: { turns: 1 } });
  assert.equal((await agent.run('Go.')).reason, 'max-turns');
  await using fallback = await codingAgent({ ...options, model: [`scripted/${script}`, `scripted/${script}`] });
  assert.equal((await fallback.run('Go.')).text, 'The end.');
  await assert.rejects(codingAgent({ ...options, model: [] }), { code: 'agent/no-model' });
  await assert.rejects(codingAgent({ ...options, model: 'scripted/nosuch.json' }), { code: 'provider/no-script' });
});

test('a problem of an MCP server is a warning', async (t) => {
  const { options, warnings } = createFixture(t);
  const model = scriptedProvider([says('ok')]);
  await using agent = await codingAgent({ ...options, model, mcp: { servers: { broken: {} } } });
  assert.equal((await agent.run('Go.')).text, 'ok');
  assert.match(warnings.join('\n'), /the server broken cannot be used/);
});

test('[A75] what the user kept for the folder in permissions.yaml counts, for that folder only, and not with permissions: false', async (t) => {
  const { cwd, options } = createFixture(t);
  const configDir = options.configDir ?? '';
  const other = path.join(path.dirname(cwd), 'other');
  mkdirSync(other);
  mkdirSync(configDir);
  const file = path.join(configDir, 'permissions.yaml');
  writeFileSync(file, `projects:\n  ${JSON.stringify(cwd)}:\n    - edits: true\n`);
  // A file in the project itself grants nothing.
  writeFileSync(path.join(other, 'permissions.yaml'), `projects:\n  ${JSON.stringify(other)}:\n    - edits: true\n`);
  const status = async (more: CodingAgentOptions): Promise<string> => {
    await using agent = await codingAgent({ ...options, ...more, model: scriptedProvider([write, says('done')]) });
    return (await agent.run('Write the file.')).status;
  };
  assert.equal(await status({ permissions: false }), 'waiting');
  assert.equal(await status({ cwd: other }), 'waiting');
  assert.equal(await status({}), 'success');
  assert.equal(readFileSync(path.join(cwd, 'a.txt'), 'utf8'), 'new');
});

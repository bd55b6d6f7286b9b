// Agents as files in the real program: used only if the user trusted their text, never with more than their parent, with their own model and limits.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import type { JsonObject } from '../src/core/index.ts';
import { calls, says, type Script, type ScriptedResponse } from '../src/testing/index.ts';
import { createProgram, requestToolNames, type TestProgram } from './support/cli-harness.ts';

/** A parent that starts one agent with this input and repeats its report, and the steps of the agent. */
function scriptAgent(input: JsonObject, ofAgent: readonly ScriptedResponse[] = []): Script<JsonObject> {
  const steps = [calls('load_tools', { names: ['spawn_agent'] }), calls('use_tool', { tool: 'spawn_agent', input })];
  return ({ body, results }) =>
    JSON.stringify(body).includes('another agent has started')
      ? (ofAgent[results.length] ?? says(`agent: ${results.join(' | ') || 'done'}`))
      : (steps[results.length] ?? says(`parent: ${results.at(-1)}`));
}

const runArgs = ['--one-shot', '--no-sandbox', '--auto-approve', '--prompt', 'go'];

function writeAgent(folder: string, name: string, fields: string, body = 'You are the SPECIAL agent.'): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    path.join(folder, `${name}.md`),
    `---\nname: ${name}\ndescription: Does ${name}.\n${fields}\n---\n${body}\n`,
  );
}

const projectAgents = ({ cwd }: TestProgram): string => path.join(cwd, '.claude/agents');

test('[A69] an agent of a project is not used until the user trusted its text, and a change of the file ends the trust', async (t) => {
  const program = await createProgram(t, scriptAgent({ task: 'look', agent: 'reader' }));
  await program.seedModels('qwen3');
  writeAgent(projectAgents(program), 'reader', 'tools: Read, Grep');
  const untrusted = await program.call(runArgs);
  assert.match(
    untrusted.err,
    /The user has not trusted the agent reader of this project, so it is not used; "fairlead trust" shows it\./,
  );
  assert.doesNotMatch(untrusted.out, /agent: done/);
  assert.doesNotMatch(JSON.stringify(program.modelRequests().map(({ body }) => body)), /SPECIAL|Does reader/);

  const trusted = await program.call(['trust', '--yes']);
  assert.equal(trusted.code, 0, trusted.err);
  assert.match(
    trusted.err,
    /Trust this project's agent reader\?[^]*tools: read_file, grep; model: that of its parent\n {2}\| You are the SPECIAL agent\./,
  );
  program.server.clearRequests();
  const used = await program.call(runArgs);
  assert.match(used.out, /parent: \[agent-[0-9a-f]{10}: done, 1 turns, 0 calls\]\s+agent: done/, used.err);
  const [first, ...rest] = program.modelRequests();
  assert.match(JSON.stringify(first?.body), /reader: Does reader/);
  const child = rest.find(({ body }) => JSON.stringify(body).includes('SPECIAL'));
  assert.deepEqual([...requestToolNames(child)].toSorted(), ['grep', 'read_file']);

  writeAgent(projectAgents(program), 'reader', 'tools: Bash');
  assert.match((await program.call(runArgs)).err, /has not trusted the agent reader/);
  assert.match((await program.call(['trust'])).err, /It changed since you trusted it\.[^]*Nothing was trusted/);
  writeAgent(projectAgents(program), 'reader', 'tools: Read, Grep');
  assert.match((await program.call(['trust', '--revoke'])).out, /The agent reader is no longer trusted\./);
  assert.match((await program.call(runArgs)).err, /has not trusted the agent reader/);
});

test('[A69] an agent never gets a tool, a permission or turns that its parent does not have, whatever its file says', async (t) => {
  const write = calls('write_file', { path: 'made.txt', content: 'x' });
  const program = await createProgram(t, scriptAgent({ task: 'look', agent: 'wide' }, [write]));
  await program.seedModels('qwen3');
  writeAgent(
    program.config('agents'),
    'wide',
    'tools: Read, Write, Task, no_such_tool\npermissionMode: bypassPermissions\nmaxTurns: 90',
  );
  mkdirSync(program.config(), { recursive: true });
  writeFileSync(program.config('policy.yaml'), 'rules:\n  - allow: { tool: spawn_agent }\n');
  const args = ['--one-shot', '--no-sandbox', '--prompt', 'go', '--max-turns', '9'];
  const asked = await program.call(args);
  assert.match(asked.out, /It needs the user’s approval/, asked.err);
  assert.ok(!existsSync(path.join(program.cwd, 'made.txt')));
  const child = program.modelRequests().find(({ body }) => JSON.stringify(body).includes('SPECIAL'));
  assert.deepEqual([...requestToolNames(child)].toSorted(), ['read_file', 'write_file']);
  const planned = await program.call([...args, '--mode', 'plan']);
  assert.match(planned.out, /The mode is plan/, planned.err);
  assert.ok(!existsSync(path.join(program.cwd, 'made.txt')));
});

test('[A69] an agent whose file says plan changes nothing, also when changes are approved automatically', async (t) => {
  const write = calls('write_file', { path: 'made.txt', content: 'x' });
  const program = await createProgram(t, scriptAgent({ task: 'look', agent: 'quiet' }, [write]));
  await program.seedModels('qwen3');
  writeAgent(program.config('agents'), 'quiet', 'permissionMode: plan');
  const { out, err } = await program.call(runArgs);
  assert.match(out, /agent: [^]*nothing may be changed/, err);
  assert.ok(!existsSync(path.join(program.cwd, 'made.txt')));
});

test('[A69] a model name of a file is resolved by the settings, an unknown one is one sentence at the start, and a worktree is refused', async (t) => {
  const program = await createProgram(t, ({ body, prompt, results }) => {
    if (JSON.stringify(body).includes('another agent has started')) return says(`model ${String(body['model'])}`);
    if (results.length === 0) return calls('load_tools', { names: ['spawn_agent'] });
    return results.length === 1
      ? calls('use_tool', { tool: 'spawn_agent', input: { task: 'look', agent: prompt } })
      : says(`parent: ${results.at(-1)}`);
  });
  await program.seedModels('qwen3');
  writeAgent(program.config('agents'), 'small', 'model: haiku');
  writeAgent(program.config('agents'), 'apart', 'isolation: worktree');
  const run = (agent: string): ReturnType<TestProgram['call']> => program.call([...runArgs.slice(0, -1), agent]);
  const unknown = await run('small');
  assert.match(
    unknown.err,
    /^.*The agent small cannot be started: .*has no model "haiku"\. "fairlead config set models\.haiku <provider>\/<model>" sets it\.$/m,
  );
  assert.equal(unknown.err.match(/cannot be started/g)?.length, 1, unknown.err);
  assert.match(unknown.out, /parent: .*has no model "haiku"/);
  writeFileSync(program.config('config.json'), JSON.stringify({ models: { haiku: 'ollama/tiny' } }));
  const known = await run('small');
  assert.match(known.out, /model tiny/, known.err);
  assert.doesNotMatch(known.err, /haiku/);
  assert.match(
    (await run('apart')).out,
    /The agent apart works in a git worktree of its own \(isolation: worktree\), which is not available here\./,
  );
});

// Tools under their alias names, in the real program.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { reportCoreTools } from '../src/coding-agent/core-tools.ts';
import type { Json } from '../src/core/index.ts';
import { calls, says, type ScriptedResponse } from '../src/testing/index.ts';
import { resolveToolAlias } from '../src/tools/index.ts';
import { requestMessages, createProgram, requestToolNames } from './support/cli-harness.ts';

/** Makes these calls one after the other, then answers. */
const scriptCalls =
  (...steps: readonly (readonly [string, Json])[]) =>
  ({ results }: { readonly results: readonly string[] }): ScriptedResponse => {
    const [tool, input] = steps[results.length] ?? [];
    return tool === undefined ? says('All done.') : calls(tool, input ?? {});
  };

const runArgs = ['--one-shot', '--auto-approve', '--no-sandbox', '--prompt'];

test('[P39, P40, P41, P42, P77] the prompt is sent, each call runs and its result is sent back, until the model answers with text', async (t) => {
  const script = scriptCalls(
    ['file_write', { path: 'a.txt', content: 'hello\n' }],
    ['bash_exec', { command: 'echo out; echo err >&2; exit 3' }],
    ['bash_exec', { command: 'echo fine' }],
    ['file_read', { path: 'nowhere.txt' }],
  );
  const program = await createProgram(t, script);
  await program.seedModels('qwen3');
  const ended = await program.run([...runArgs, 'Do it.']);
  assert.deepEqual([ended.code, ended.out.trim()], [0, 'All done.']);
  assert.equal(readFileSync(path.join(program.cwd, 'a.txt'), 'utf8'), 'hello\n');
  const told = requestMessages(program.modelRequests().at(-1)).filter(({ role }) => role !== 'system');
  assert.deepEqual(
    told.map(({ role }) => role),
    ['user', ...Array.from({ length: 4 }, () => ['assistant', 'tool']).flat()],
  );
  const [wrote, ran, succeeded, failed] = told.flatMap(({ role, content }) =>
    role === 'tool' ? [String(content)] : [],
  );
  assert.match(wrote ?? '', /^Written 6 bytes to a\.txt/);
  assert.match(ran ?? '', /out\nerr\n\[Exit code: 3\.\]/);
  assert.match(succeeded ?? '', /fine\n\[Exit code: 0\.\]/);
  assert.match(failed ?? '', /^Error: .*nowhere\.txt/);
});

const documentedNames = [
  'file_read',
  'file_write',
  'file_delete',
  'file_list',
  'file_search',
  'bash_exec',
  'git_operations',
  'lsp_integration',
  'web_scrape',
  'web_search',
  'http_request',
  'spawn_agent',
  'agent_manage',
  'mcp_server_list',
  'canvas_render',
  'oauth_flow',
];

test('[P62] on a first start doctor and /tools show that every core tool is loaded, and what the others need', async (t) => {
  const program = await createProgram(t);
  const { out } = await program.call(['doctor', '--offline', '--json']);
  const { checks } = JSON.parse(out) as {
    readonly checks: readonly { readonly name: string; readonly status: string; readonly message: string }[];
  };
  const check = checks.find(({ name }) => name === 'tools');
  assert.equal(check?.status, 'ok', check?.message);
  await program.seedModels('qwen3');
  const shown = (await program.call(['--interactive'], { input: '/tools\n' })).out;
  for (const name of documentedNames) {
    const tool = resolveToolAlias({ tool: name, input: {} }) ?? name;
    assert.match(check?.message ?? '', new RegExp(`\\b${tool}\\b`), name);
    assert.match(shown, new RegExp(`^${tool} +(free|asks|needs) `, 'm'), name);
  }
  assert.match(shown, /^web_search +needs a search engine: fairlead config set keys\.BRAVE_API_KEY/m);
  const withKey = await program.call(['doctor', '--offline', '--json'], { env: { BRAVE_API_KEY: 'k' } });
  assert.doesNotMatch(withKey.out, /web_search needs/);
  assert.deepEqual(reportCoreTools(['read_file', 'run_command']).missing.slice(0, 2), ['write_file', 'edit_file']);
});

test('[P66] every documented tool exists under its name, and arguments that do not match its schema are refused with the reason', async (t) => {
  const program = await createProgram(
    t,
    scriptCalls(['file_write', { path: 7 }], ['file_list', {}], ['file_search', { pattern: 'x' }]),
  );
  await program.seedModels('qwen3');
  await program.call([...runArgs, 'Try.']);
  const results = requestMessages(program.modelRequests().at(-1)).flatMap(({ role, content }) =>
    role === 'tool' ? [String(content)] : [],
  );
  assert.match(results[0] ?? '', /do not fit the schema of write_file/);
  assert.doesNotMatch(results[1] ?? '', /There is no tool/);
  assert.doesNotMatch(results[2] ?? '', /There is no tool/);
  assert.ok(requestToolNames(program.modelRequests()[0]).includes('run_command'));
});

// The additional tools: which are offered, how short their descriptions are, and by which aliases tools can be called.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { replyWithCalls, replyWithText, createCoreFixture } from '../../test/support/core-fixture.ts';
import { callTool } from '../../test/support/tool-call.ts';
import { visibleToolSpecs, createToolRegistry } from '../agent/index.ts';
import type { ToolCall, Json } from '../core/index.ts';
import { localWorkspace, withNetwork } from '../workspace/index.ts';
import { resolveToolAlias } from './aliases.ts';
import { askUser, type UserQuestion } from './ask-user.ts';
import { codingTools } from './index.ts';
import { deferredTools } from './deferred-tools.ts';
import { createSearchEngine } from './web/search-engines.ts';

function folder(t: TestContext): string {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-more-')));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  writeFileSync(path.join(root, 'a.txt'), 'one\n');
  return root;
}

test('[P76] all additional tools are deferred, and the descriptions of all tools stay under 5 kB', (t) => {
  const workspace = localWorkspace({ roots: [folder(t)] });
  const search = createSearchEngine({ engine: 'searxng', url: 'http://localhost' });
  const whole = deferredTools({ workspace: withNetwork(workspace), search, ask: async () => undefined });
  assert.deepEqual(
    whole.map(({ name, effect }) => `${name} ${effect}`),
    [
      'apply_patch write',
      'delete_file write',
      'git read',
      'git_change write',
      'git_remote external',
      'web_fetch external',
      'http_request external',
      'web_search external',
      'run_code read',
      'todo read',
      'canvas_render read',
      'ask_user read',
    ],
  );
  assert.ok(whole.every(({ deferred }) => deferred));
  const told = Buffer.byteLength(
    JSON.stringify(visibleToolSpecs(createToolRegistry([...codingTools(workspace), ...whole]))),
  );
  assert.ok(told < 5000, `${told} bytes`);
  const least = deferredTools({ workspace, search }).map(({ name }) => name);
  assert.deepEqual(
    ['web_fetch', 'http_request', 'web_search', 'ask_user'].filter((name) => least.includes(name)),
    [],
  );
});

test('[P12, P17] a tool can be called by its aliases; gates and the log see its own name, and the tool list does not grow', async (t) => {
  const tools = [...createToolRegistry(codingTools(localWorkspace({ roots: [folder(t)] }))).values()];
  const judged: string[] = [];
  const lines = [
    replyWithCalls(['file_read', { path: 'a.txt' }]),
    replyWithCalls(['bash_exec', { command: 'echo hi' }]),
    replyWithCalls(['file_nothing', {}]),
    replyWithText('done'),
  ];
  const fixture = await createCoreFixture({
    replies: lines,
    tools,
    resolveToolName: resolveToolAlias,
    gates: [
      ({ tool }: ToolCall) => {
        judged.push(tool);
        return tool === 'run_command' ? { type: 'deny', reason: 'No commands.' } : { type: 'allow' };
      },
    ],
  });
  await fixture.run();
  assert.deepEqual(judged, ['read_file', 'run_command']);
  assert.deepEqual(
    fixture.eventsOfType('tool-started').map(({ tool }) => tool),
    ['read_file'],
  );
  assert.deepEqual(
    fixture.eventsOfType('tool-ended').map(({ outcome, text }) => `${outcome} ${text}`),
    ['ok one', 'denied No commands.', 'failed There is no tool named file_nothing.'],
  );
  assert.deepEqual(
    fixture.head.state.tools.map(({ name }) => name),
    tools.map(({ name }) => name),
  );
});

test('[P14] a deferred tool must be loaded first under either name, and can then be called by both', async (t) => {
  const root = folder(t);
  const workspace = localWorkspace({ roots: [root], blobs: path.join(root, 'blobs') });
  const remove = ['file_delete', { path: 'a.txt' }] as const;
  const fixture = await createCoreFixture({
    replies: [
      replyWithCalls(remove),
      replyWithCalls(['load_tools', { names: ['delete_file'] }]),
      replyWithCalls(['use_tool', { tool: remove[0], input: remove[1] }]),
      replyWithText('done'),
    ],
    tools: [...createToolRegistry([...codingTools(workspace), ...deferredTools({ workspace })]).values()],
    resolveToolName: resolveToolAlias,
  });
  await fixture.run();
  const [early, , late] = fixture.eventsOfType('tool-ended');
  assert.deepEqual(
    [early?.outcome, early?.text],
    ['denied', 'The tool delete_file is not loaded, so nothing was run. Load it first.'],
  );
  assert.match(late?.text ?? '', /^Deleted a\.txt\./);
  assert.equal(existsSync(path.join(root, 'a.txt')), false);
});

test('[P15, P16, P18, P19, P20, P25] every alias maps to a tool, git aliases by operation', () => {
  const meant = (tool: string, input: Json = {}): string | undefined => resolveToolAlias({ tool, input });
  assert.equal(meant('file_list'), 'list_files');
  assert.equal(meant('file_search'), 'grep');
  assert.equal(meant('web_scrape'), 'web_fetch');
  assert.equal(meant('lsp_integration'), 'code_intelligence');
  assert.equal(meant('mcp_server_list'), 'list_mcp_servers');
  assert.deepEqual(
    ['clone', 'commit', 'push', 'pull', 'status', 7].map((operation) => meant('git_operations', { operation })),
    ['git_remote', 'git_change', 'git_remote', 'git_remote', 'git', 'git'],
  );
  for (const name of ['read_file', 'constructor', '__proto__', '']) assert.equal(meant(name), undefined);
});

test('a question of the model is shown to the user, and the answer is returned; no answer is reported as such', async () => {
  const asked: UserQuestion[] = [];
  const ask = askUser(async (question) => {
    asked.push(question);
    return asked.length === 1 ? 'the blue one' : undefined;
  });
  const input = { question: 'Which?\u001b[2J', choices: ['red\nblue', 'blue'] };
  const answered = await callTool([ask], 'ask_user', input);
  assert.deepEqual([answered.outcome, answered.text], ['ok', 'the blue one']);
  assert.deepEqual(asked[0], { question: 'Which?␛[2J', choices: ['red␊blue', 'blue'] });
  const silent = await callTool([ask], 'ask_user', { question: 'Still there?' });
  assert.equal(silent.outcome, 'failed');
  assert.match(silent.text, /The user did not answer/);
});

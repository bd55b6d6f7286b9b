// Tests of MCP servers that an editor names for a session: each needs the permission of the user, and is started for that session only.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { methods, type McpServer } from '@agentclientprotocol/sdk';
import {
  flushUpdates,
  startAcpClient,
  sendPrompt,
  getUpdateText,
  type AcpClient,
} from '../../../test/support/acp-client.ts';
import { createProgram, requestToolNames, type TestProgram } from '../../../test/support/cli-harness.ts';
import { calls, says } from '../../testing/index.ts';
import { parseEditorMcpServers } from './session-registry.ts';

const { session } = methods.agent;
const clerk = path.resolve(import.meta.dirname, '../../../test/support/mcp-stdio-server.ts');

type Desk = TestProgram & { readonly starts: () => number; readonly begin: (editor: AcpClient) => Promise<string> };

/** Starts a program whose editor names the server "clerk", with a value that looks like a variable. */
async function deskFor(t: TestContext): Promise<Desk> {
  const made = await createProgram(t, ({ results }) =>
    results.length === 0 ? calls('mcp__editor-clerk__greet', { a: 'Ann' }) : says(`Heard: ${results.at(-1)}`),
  );
  await made.seedModels('qwen3');
  const desk = path.join(made.home, 'desk');
  mkdirSync(desk);
  const list = path.join(desk, 'starts');
  const named: McpServer = {
    name: 'clerk',
    command: process.execPath,
    args: [clerk, desk],
    env: [{ name: 'A', value: '${HOME}' }],
  };
  return {
    ...made,
    starts: () => (existsSync(list) ? readFileSync(list, 'utf8').trim().split('\n').length : 0),
    async begin(editor) {
      const { agentCapabilities } = await editor.agent.request(methods.agent.initialize, {
        protocolVersion: 1,
        clientCapabilities: { session: { notices: {} } },
      });
      assert.deepEqual(agentCapabilities?.mcpCapabilities, { http: true, sse: true });
      const { sessionId } = await editor.agent.request(session.new, { cwd: made.cwd, mcpServers: [named] });
      return sessionId;
    },
  };
}

test('[P31] a server that the editor names needs permission before the first answer, works in that session, and is not asked about again', async (t) => {
  const made = await deskFor(t);
  const editor = startAcpClient(t, made, () => 'once', ['--auto-approve', '--no-sandbox']);
  const id = await made.begin(editor);
  await flushUpdates();
  assert.deepEqual(
    [editor.permissionRequests.length, made.starts()],
    [0, 0],
    'no permission is requested in a session that the editor does not know yet',
  );
  assert.equal(await sendPrompt(editor, id, 'greet Ann'), 'end_turn');
  const [question, ...others] = editor.permissionRequests;
  assert.equal(others.length, 0);
  assert.equal(question?.toolCall.title, "Start the editor's MCP server clerk? You are asked again if it changes.");
  assert.match(JSON.stringify(question?.toolCall.content), /mcp-stdio-server\.ts.*with A=\$\{HOME\}/);
  assert.match(getUpdateText(editor.updatesOf(id), 'agent_message_chunk'), /Hello Ann, from \/\./);
  const next = await made.begin(editor);
  assert.equal(await sendPrompt(editor, next, 'greet Ann'), 'end_turn');
  assert.equal(editor.permissionRequests.length, 1);
  assert.equal(made.starts(), 2, 'one for each session');
});

test('[P31] a server that the user rejects is not started, this is reported, and the session continues', async (t) => {
  const made = await deskFor(t);
  const editor = startAcpClient(t, made, () => 'no', ['--auto-approve', '--no-sandbox']);
  const id = await made.begin(editor);
  assert.equal(await sendPrompt(editor, id, 'greet Ann'), 'end_turn');
  assert.equal(made.starts(), 0);
  assert.deepEqual(
    requestToolNames(made.modelRequests()[0]).filter((name) => name.startsWith('mcp__')),
    [],
  );
  const notices = editor.updatesOf(id).flatMap((each) => (each.sessionUpdate === 'notice' ? [each.title] : []));
  assert.ok(
    notices.includes("MCP server clerk (the editor's) is not started, for you did not agree to it."),
    notices.join(),
  );
  await sendPrompt(editor, id, 'again');
  assert.equal(editor.permissionRequests.length, 1, 'once per session');
});

test('servers are parsed in both versions of the protocol, and unusable ones are reported', () => {
  const { servers, problems } = parseEditorMcpServers([
    { name: 'old', command: 'a', args: ['b'], env: [{ name: 'C', value: 'd' }] },
    { type: 'stdio', name: 'new', command: '/a' },
    { type: 'http', name: 'web', url: 'https://a.example/mcp', headers: [{ name: 'X', value: 'y' }] },
    { type: 'sse', name: 'events', url: 'https://a.example/sse' },
    { type: '_other', name: 'odd', anything: 1 },
    'garbage',
  ]);
  assert.deepEqual(
    servers.map(({ name, origin, transport }) => [name, origin, transport]),
    [
      ['old', 'editor', { type: 'stdio', command: 'a', args: ['b'], env: { C: 'd' } }],
      ['new', 'editor', { type: 'stdio', command: '/a', args: [], env: {} }],
      ['web', 'editor', { type: 'http', url: 'https://a.example/mcp', headers: { X: 'y' } }],
      ['events', 'editor', { type: 'sse', url: 'https://a.example/sse', headers: {} }],
    ],
  );
  assert.deepEqual(problems.length, 1);
  assert.deepEqual(parseEditorMcpServers(undefined).servers, []);
});

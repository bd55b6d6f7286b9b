// Tests MCP servers without a terminal: servers of a directory stay off, servers of the user work, and a failing one loses only its own tools.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import type { JsonObject } from '../src/core/index.ts';
import { calls, says, type Script } from '../src/testing/index.ts';
import { scriptHiddenCalls } from './support/hidden-tools.ts';
import {
  bin,
  requestMessages,
  createProgram,
  requestToolNames,
  waitUntil,
  type TestProgram,
} from './support/cli-harness.ts';
import { missingServers, getServerProgram } from './support/mcp-reference-servers.ts';
import { startMcpOauthServer } from './support/mcp-oauth-server.ts';

const mcpServerPath = path.join(import.meta.dirname, 'support/mcp-stdio-server.ts');

type McpProgram = TestProgram & { readonly serverDir: string; readonly starts: () => number };

/** Creates a program with these servers of the user and of the project; `CLERK` stands for the clerk server. */
async function createMcpProgram(
  t: TestContext,
  script: Script<JsonObject> | undefined,
  user: JsonObject,
  project: JsonObject = {},
): Promise<McpProgram> {
  const program = await createProgram(t, script);
  await program.seedModels('qwen3');
  const desk = path.join(program.home, 'desk');
  for (const dir of [desk, program.config()]) mkdirSync(dir, { recursive: true });
  const put = (file: string, servers: JsonObject): void => {
    const named = Object.entries(servers).map(([name, entry]) => [
      name,
      entry === 'CLERK' ? { command: process.execPath, args: [mcpServerPath, desk] } : entry,
    ]);
    // The server is a file of the tests, which no sandbox shows.
    const outsideSandbox = [program.cwd];
    writeFileSync(file, JSON.stringify({ mcpServers: Object.fromEntries(named), outsideSandbox }));
  };
  put(program.config('mcp.json'), user);
  put(path.join(program.cwd, '.mcp.json'), project);
  const list = path.join(desk, 'starts');
  const starts = (): number => (existsSync(list) ? readFileSync(list, 'utf8').trim().split('\n').length : 0);
  return { ...program, serverDir: desk, starts };
}

/** Calls this tool once, and answers with the result. */
const callOnceScript =
  (tool: string, input: JsonObject = {}): Script<JsonObject> =>
  ({ results }) =>
    results.length === 0 ? calls(tool, input) : says(`Heard: ${results.at(-1)}`);

const autoApproveArgs: readonly string[] = ['--no-sandbox', '--auto-approve'];

test('[P63, A13] in a pipe no server of a directory is started: the run answers, and a message says how to approve it', async (t) => {
  const program = await createMcpProgram(t, undefined, {}, { clerk: 'CLERK' });
  const { code, out, err } = await program.run(['-p', 'hello', ...autoApproveArgs]);
  assert.deepEqual([code, out.trim()], [0, 'You said: hello']);
  assert.match(
    err,
    /MCP server clerk \(the project's\) is not started, for it was not approved: fairlead mcp approve clerk/,
  );
  assert.equal(program.starts(), 0);
  assert.ok(!existsSync(program.state('approved.json')), 'no rejection was saved either');
  assert.deepEqual(
    requestToolNames(program.modelRequests()[0]).filter((name) => name.startsWith('mcp__')),
    [],
  );
});

test('[P25, P31, P72] the user’s servers work in a pipe; one that cannot start is named with the reason and loses only its tools', async (t) => {
  const program = await createMcpProgram(
    t,
    ({ results }) => {
      if (results.length === 0) return calls('load_tools', { names: ['list_mcp_servers'] });
      return results.length === 1 ? calls('mcp_server_list', {}) : says(`Heard: ${results.at(-1)}`);
    },
    {
      clerk: 'CLERK',
      dead: { command: path.join('/nowhere', 'no-such-server') },
      gone: { url: 'http://127.0.0.1:9/mcp' },
      keyed: { command: 'node', env: { KEY: '${NOBODY_SET_THIS}' } },
    },
  );
  const { out, err } = await program.call(['-p', 'list', ...autoApproveArgs]);
  assert.match(
    err,
    /MCP server dead \(your\) has no tools now: The program \/nowhere\/no-such-server could not be started\. Install it/,
  );
  assert.match(err, /MCP server gone \(your\) has no tools now: .*cannot be reached/);
  assert.match(err, /MCP server keyed \(your\) has no tools now: .*NOBODY_SET_THIS, which is not set/);
  assert.match(out, /clerk \(user\): ready, 4 tools/);
  assert.match(out, /dead \(user\): failed: The program/);
  assert.ok(requestToolNames(program.modelRequests()[0]).includes('mcp__clerk__greet'));
});

test('[P63] a server with many tools is listed by name and loaded as a group; the tool list of the model never changes', async (t) => {
  const program = await createMcpProgram(
    t,
    ({ results }) => {
      if (results.length === 0) return calls('load_tools', { names: ['mcp__clerk'] });
      if (results.length === 1) return calls('use_tool', { tool: 'mcp__clerk__greet', input: { a: 'Ann' } });
      return says(`Heard: ${results.at(-1)}`);
    },
    { clerk: 'CLERK' },
  );
  writeFileSync(path.join(program.serverDir, 'extra'), '20');
  const { out } = await program.call(['-p', 'greet Ann', ...autoApproveArgs]);
  assert.match(out, /Heard: [^]*Hello Ann, from \/\./, 'it runs in the root of the disk');
  const [first, ...others] = program.modelRequests().map(({ body }) => JSON.stringify((body as JsonObject)['tools']));
  assert.match(first ?? '', /\[mcp__clerk\]/);
  assert.equal(others.length, 2);
  for (const other of others) assert.equal(other, first);
});

test('[P63] servers are listed, approved, inspected and revoked from the command line; listing starts none', async (t) => {
  const program = await createMcpProgram(t, callOnceScript('mcp__project-clerk__greet'), {}, { clerk: 'CLERK' });
  const mcp = async (...args: readonly string[]): Promise<string> => {
    const { code, out, err } = await program.run(['mcp', ...args]);
    return `${code} ${out}${err}`;
  };
  assert.match(
    await mcp('list'),
    /^0 clerk \(project\): not started: the user must approve it first\n {2}\S+ '[^']*mcp-stdio-server\.ts'/,
  );
  assert.match(
    await mcp('tools', 'clerk'),
    /^1 The MCP server clerk was not approved, so it is not started\. Approve it: fairlead mcp approve clerk/,
  );
  assert.match(await mcp('approve', 'clerk'), /^1 Nothing was approved: there is no terminal to ask\./);
  assert.match(await mcp('approve', 'clark'), /^1 There is no MCP server "clark"\. Did you mean clerk\?/);
  assert.equal(program.starts(), 0);
  assert.match(
    await mcp('approve', 'clerk', '--yes'),
    /^0 Start the MCP server clerk\? yes\n[^]*is approved, with 4 tools\./,
  );
  assert.match(await mcp('list'), /^0 clerk \(project\): not running, 4 tools/);
  assert.match(
    await mcp('tools', 'clerk'),
    /\n\ngreet \(usable\)\n\[MCP server clerk says\] Greets somebody\.\n[^]*"properties"/,
  );
  const starts = program.starts();
  assert.match((await program.call(['-p', 'greet', ...autoApproveArgs])).out, /Hello nobody/);
  assert.equal(program.starts(), starts + 1);
  const kept = JSON.parse((await program.call(['mcp', 'list', '--json'])).out) as readonly { readonly state: string }[];
  assert.deepEqual(
    kept.map(({ state }) => state),
    ['asleep'],
  );
  assert.match(await mcp('revoke', 'clerk'), /^0 Revoked the approval/);
  assert.match(
    (await program.call(['-p', 'greet', ...autoApproveArgs])).err,
    /is not started, for it was not approved/,
  );
  assert.equal(program.starts(), starts + 1);
  assert.match(await mcp('approve'), /^2 "fairlead mcp approve" needs the name of a server\./);
});

test('fairlead as an MCP server offers its tools, and opens no servers itself', async (t) => {
  const program = await createMcpProgram(t, scriptHiddenCalls([['mcp__self__list_files', { path: '.' }]]), {});
  const self = { command: process.execPath, args: [bin, 'mcp', '--no-sandbox'], env: { ...program.env }, cwd: '.' };
  writeFileSync(program.config('mcp.json'), JSON.stringify({ mcpServers: { self } }));
  writeFileSync(path.join(program.cwd, 'seen.txt'), '');
  const { out, err } = await program.call(['-p', 'list the files', ...autoApproveArgs]);
  assert.match(out, /Heard: [^]*seen\.txt/, err);
  const [first] = program.modelRequests();
  assert.doesNotMatch(JSON.stringify(first?.body), /mcp__self__mcp__/);
});

test('mcp login logs in to a server, and the login is used afterwards', async (t) => {
  const web = await startMcpOauthServer(t);
  const program = await createMcpProgram(t, callOnceScript('mcp__web__hello'), { web: { url: `${web.url}/mcp` } });
  const before = await program.call(['-p', 'hello', ...autoApproveArgs]);
  assert.match(
    before.err,
    /MCP server web \(your\) has no tools now: .*requires a login\. Log in: fairlead mcp login web/,
  );
  const login = program.start(['mcp', 'login', 'web']);
  const page = (): string | undefined => /asks you to log in: (\S+)\n/.exec(login.err())?.[1];
  await waitUntil('the address is said', () => page() !== undefined);
  await fetch(page() ?? '');
  const { code, err } = await login.ended;
  assert.equal(code, 0, err);
  assert.match(err, /You are logged in to the MCP server web, which has 1 tool\./);
  assert.equal(statSync(program.state('mcp-logins.json')).mode & 0o077, 0);
  assert.match((await program.call(['-p', 'hello', ...autoApproveArgs])).out, /^Heard: [^]*hello/);
  assert.deepEqual(web.grants, ['authorization_code']);
});

test(
  '[P63, P31, A13] the reference servers work unmodified, by their commands',
  { skip: missingServers },
  async (t) => {
    const program = await createMcpProgram(
      t,
      scriptHiddenCalls([
        ['mcp__everything__get-sum', { a: 20, b: 22 }],
        [
          'mcp__memory__create_entities',
          { entities: [{ name: 'Ann', entityType: 'person', observations: ['knots'] }] },
        ],
      ]),
      {
        everything: { command: process.execPath, args: [getServerProgram('server-everything')] },
        memory: {
          command: process.execPath,
          args: [getServerProgram('server-memory')],
          env: { MEMORY_FILE_PATH: '${HOME}/memory.jsonl' },
          onDemand: true,
        },
      },
    );
    for (const start of ['first', 'second']) {
      const { out, err } = await program.call(['-p', start, ...autoApproveArgs]);
      assert.match(out, /The sum of 20 and 22 is 42/, err);
    }
    assert.match(readFileSync(path.join(program.home, 'memory.jsonl'), 'utf8'), /"name":"Ann"/);
    assert.ok(requestMessages(program.modelRequests().at(-1)).length > 0);
  },
);

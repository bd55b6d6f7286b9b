// Custom tool files: which ones run, after which approval, and how invalid ones are refused.
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { callTool } from '../../test/support/tool-call.ts';
import type { Workspace } from '../core/index.ts';
import { memoryTrust } from '../guards/index.ts';
import { localWorkspace, withNetwork } from '../workspace/index.ts';
import { customToolDirs, loadCustomTools, type UnapprovedToolFile } from './custom-tools.ts';

type Fixture = {
  readonly project: string;
  readonly own: string;
  readonly load: (
    ask?: (file: UnapprovedToolFile) => Promise<boolean>,
    workspace?: Workspace,
  ) => ReturnType<typeof loadCustomTools>;
};

function createFixture(t: TestContext, files: Readonly<Record<string, string>> = {}): Fixture {
  const top = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-custom-')));
  t.after(() => rmSync(top, { recursive: true, force: true }));
  const project = path.join(top, 'project');
  const own = path.join(top, 'config/custom_tools');
  for (const folder of [path.join(project, 'custom_tools'), path.join(project, '.fairlead/custom_tools'), own])
    mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(top, name), text);
  const folders = customToolDirs({ cwd: project, home: top, configDir: path.join(top, 'config') });
  const trust = memoryTrust();
  return {
    project,
    own,
    load: (ask, workspace = localWorkspace({ roots: [project] })) =>
      loadCustomTools({ folders, trust, workspace, ...(ask ? { ask } : {}) }),
  };
}

const tool = (name: string, rest = ''): string =>
  `export default { name: '${name}', description: 'Does ${name}.', input: { type: 'object', properties: {} }, run: () => 'did ${name}'${rest} };`;

test('[P78] attack 38: a project’s file runs only if the user approved its exact content; the user’s own file needs no approval', async (t) => {
  const mark = `globalThis.ran = (globalThis.ran ?? 0) + 1;\n`;
  const { load, project } = createFixture(t, {
    'config/custom_tools/mine.ts': `const answer: string = 'did mine';\n${tool('mine').replace("'did mine'", 'answer')}`,
    'project/custom_tools/theirs.js': mark + tool('theirs'),
  });
  const ran = (): unknown => (globalThis as { ran?: number }).ran;
  const requests: UnapprovedToolFile[] = [];
  const say = (yes: boolean) => async (file: UnapprovedToolFile) => {
    requests.push(file);
    return yes;
  };
  const first = await load();
  assert.deepEqual(
    first.tools.map(({ name, deferred, effect }) => [name, deferred, effect]),
    [['custom__mine', true, 'external']],
  );
  assert.deepEqual(
    first.problems.map(({ why }) => why),
    ['is not approved, so it was not run'],
  );
  assert.equal((await load(say(false))).tools.length, 1);
  assert.equal(ran(), undefined);
  assert.deepEqual([requests[0]?.status, requests[0]?.text.startsWith(mark)], ['new', true]);
  assert.equal((await load(say(true))).tools.length, 2);
  assert.equal(ran(), 1);
  assert.equal((await load(say(false))).tools.length, 2, 'an approval is saved');
  assert.equal(requests.length, 2);
  writeFileSync(path.join(project, 'custom_tools/theirs.js'), `${mark}${tool('theirs')}//`);
  const changed = await load(say(false));
  assert.deepEqual(
    [requests.at(-1)?.status, changed.problems[0]?.why],
    ['changed', 'changed since it was approved, so it was not run'],
  );
  assert.equal((await callTool(first.tools, 'custom__mine', {})).text, 'did mine');
});

test('[P6, P45, P46] a class with schema and execute is a tool; a file that begins with _ is not', async (t) => {
  const { load } = createFixture(t, {
    'config/custom_tools/greet.ts': `export default class Greet {
      name = 'greet';
      description = 'Greets.';
      schema = { type: 'object', properties: { who: { type: 'string' } }, required: ['who'] };
      readonly #word: string = 'hello';
      async execute({ who }: { who: string }) { return this.#word + ' ' + who; }
    }`,
    'config/custom_tools/_base.ts': 'throw new Error("a part");',
  });
  const { tools, problems } = await load();
  assert.deepEqual(problems, []);
  assert.equal((await callTool(tools, 'custom__greet', { who: 'you' })).text, 'hello you');
  assert.match((await callTool(tools, 'custom__greet', {})).text, /who/);
});

test('[P45, P46] every exported class and object with a schema and an execute function is a tool, whatever spelling it uses', async (t) => {
  const { load } = createFixture(t, {
    // As the practical guide writes it: the schema contains name, description and input_schema; the members are static.
    'project/custom_tools/slack_integration.js': `export class SlackTool {
      static description = 'Send message to Slack channel';
      static schema = {
        name: 'send_slack_message',
        description: 'Send message to Slack channel',
        input_schema: { type: 'object', properties: { channel: { type: 'string' } }, required: ['channel'] },
      };
      async execute({ channel }) { return 'sent to ' + channel; }
    }
    export class Unrelated { help() {} }
    export class Base { constructor() { throw new Error('abstract'); } }
    export const limit = 3;
    export function helper() { throw new Error('a helper is not called'); }`,
    'project/custom_tools/several.mts': `
    export const add = { name: 'add', description: 'Adds.', input_schema: { type: 'object', properties: {} }, execute: () => 'added' };
    export const sub = { name: 'sub', description: 'Subtracts.', inputSchema: { type: 'object', properties: {} }, execute: () => 'subtracted' };
    export default class Guarded {
      name = 'guarded';
      description = 'Asks.';
      schema = { type: 'object', properties: {} };
      effect = 'write' as const;
      word: string = 'kept';
      needsApproval() { return this.word; }
      execute() { return this.word; }
    }`,
    'project/custom_tools/_shared.py': 'raise Exception()',
    'project/custom_tools/weather.py': 'class Weather: pass',
  });
  const { tools, problems } = await load(async () => true);
  assert.deepEqual(tools.map(({ name }) => name).toSorted(), [
    'custom__add',
    'custom__guarded',
    'custom__send_slack_message',
    'custom__sub',
  ]);
  assert.equal((await callTool(tools, 'custom__send_slack_message', { channel: 'x' })).text, 'sent to x');
  assert.match((await callTool(tools, 'custom__send_slack_message', {})).text, /channel/);
  assert.equal((await callTool(tools, 'custom__add', {})).text, 'added');
  assert.equal((await callTool(tools, 'custom__sub', {})).text, 'subtracted');
  const guarded = tools.find(({ name }) => name === 'custom__guarded');
  assert.deepEqual([guarded?.effect, await guarded?.needsApproval?.({}, {} as never)], ['write', 'kept']);
  assert.deepEqual(
    problems.map(({ path: file, why }) => [path.basename(file), why]),
    [
      [
        'weather.py',
        'is a Python file, which is not loaded: custom tools are .js, .mjs, .ts or .mts files; Python code can be offered by an MCP server',
      ],
    ],
  );
});

test('[P71] an invalid file is refused with a reason, and the others are loaded', async (t) => {
  const { load, own } = createFixture(t, {
    'config/custom_tools/a-fine.mjs': tool('fine', ", effect: 'read'"),
    'config/custom_tools/b-twin.js': tool('fine'),
    'config/custom_tools/c-nothing.js': 'export const a = 1;',
    'config/custom_tools/d-syntax.js': 'export default {',
    'config/custom_tools/e-required.js': tool('e').replace('properties: {}', "properties: {}, required: ['x']"),
    'config/custom_tools/f-schema.js': tool('f').replace("type: 'object'", "type: 'objekt'"),
    'config/custom_tools/g-run.js': tool('g').replace('run:', 'go:'),
    'config/custom_tools/h-args.js': tool('h').replace('() =>', '(a, b, c) =>'),
    'config/custom_tools/i-import.js': `import './a-fine.mjs';\n${tool('i')}`,
    'config/custom_tools/j-name.js': tool('j k'),
    'config/custom_tools/k-throws.js': 'throw new Error("no luck");',
    'config/custom_tools/l-large.js': `//${'x'.repeat(300_000)}`,
    'config/custom_tools/notes.md': 'not a tool',
    'config/custom_tools/x.test.ts': 'throw 1;',
  });
  const { tools, problems } = await load();
  assert.deepEqual(
    tools.map(({ name, effect }) => `${name} ${effect}`),
    ['custom__fine read'],
  );
  const reasons = Object.fromEntries(problems.map(({ path: file, why }) => [path.relative(own, file)[0], why]));
  const expected: Readonly<Record<string, RegExp>> = {
    b: /another tool named custom__fine/,
    c: /exports no object or class with name, description, inputSchema and execute/,
    d: /Unexpected end|Unexpected token|expected/i,
    e: /requires x/,
    f: /must be of type object/,
    g: /no execute function/,
    h: /more than two arguments/,
    i: /one file and may import node:… only/,
    j: /its name must begin with a letter/,
    k: /no luck/,
    l: /bytes; it may have/,
  };
  for (const [key, pattern] of Object.entries(expected)) assert.match(reasons[key] ?? '', pattern, key);
  assert.equal(problems.length, Object.keys(expected).length);
});

test('[P78] attack 23: a link that leads out of the project does not run', async (t) => {
  const { load, project, own } = createFixture(t, { 'config/custom_tools/mine.js': tool('mine') });
  symlinkSync(path.join(own, 'mine.js'), path.join(project, 'custom_tools/linked.js'));
  const { tools, problems } = await load(async () => true);
  assert.equal(tools.length, 1);
  assert.match(problems[0]?.why ?? '', /leads out of/);
});

test('[P78] the two examples call servers of their kind, and report what these refuse', async (t) => {
  const seen: (readonly [string, string | undefined, unknown])[] = [];
  let refuse = false;
  const server = http.createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      seen.push([`${request.method} ${request.url}`, request.headers.authorization, JSON.parse(body)]);
      const isSlack = request.url?.startsWith('/api') === true;
      response.writeHead(isSlack ? 200 : refuse ? 404 : 201);
      if (refuse)
        return response.end(
          JSON.stringify(isSlack ? { ok: false, error: 'channel_not_found' } : { message: 'Not Found' }),
        );
      return response.end(
        JSON.stringify(isSlack ? { ok: true, ts: '1.2' } : { number: 7, html_url: 'https://github.test/o/r/issues/7' }),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const before = { ...process.env };
  t.after(() => (process.env = before));
  const { load, own, project } = createFixture(t);
  cpSync(path.join(import.meta.dirname, '../../examples/custom-tools'), own, { recursive: true });
  const { tools, problems } = await load(
    undefined,
    withNetwork(localWorkspace({ roots: [project] }), { privateHosts: ['127.0.0.1'] }),
  );
  assert.deepEqual(problems, []);
  const slack = { channel: '#general', message: 'Ahoy' };
  const issue = { repository: 'o/r', title: 'Chafing', labels: ['bug'] };
  assert.match((await callTool(tools, 'custom__send_slack_message', slack)).text, /SLACK_BOT_TOKEN is not set/);
  Object.assign(process.env, {
    SLACK_BOT_TOKEN: 'xoxb-1',
    SLACK_API_URL: `${base}/api`,
    GITHUB_TOKEN: 'ghp_1',
    GITHUB_API_URL: base,
  });
  assert.equal((await callTool(tools, 'custom__send_slack_message', slack)).text, 'Message sent to #general (ts=1.2).');
  assert.equal(
    (await callTool(tools, 'custom__create_github_issue', issue)).text,
    'Opened issue 7: https://github.test/o/r/issues/7',
  );
  assert.deepEqual(seen, [
    ['POST /api/chat.postMessage', 'Bearer xoxb-1', { channel: '#general', text: 'Ahoy' }],
    ['POST /repos/o/r/issues', 'Bearer ghp_1', { title: 'Chafing', labels: ['bug'] }],
  ]);
  refuse = true;
  assert.match((await callTool(tools, 'custom__send_slack_message', slack)).text, /channel_not_found/);
  assert.match((await callTool(tools, 'custom__create_github_issue', issue)).text, /\(404\): Not Found/);
  assert.match(
    (await callTool(tools, 'custom__create_github_issue', { ...issue, repository: '../x' })).text,
    /repository/,
  );
});

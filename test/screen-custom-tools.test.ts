// Tests custom tools in the real program: tools of a directory need approval of their full text, and every call passes the gates.
import assert from 'node:assert/strict';
import { appendFileSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { scriptHiddenCalls } from './support/hidden-tools.ts';
import { answerPrompt, waitForExitCode, createProgram, type TestProgram } from './support/cli-harness.ts';
import { writeFiles } from './support/terminal-prompt.ts';
import { noSandbox } from './support/sandbox.ts';
import { noTerminal } from './support/terminal.ts';

const skip = noTerminal();
const examples = path.resolve(import.meta.dirname, '../examples/custom-tools');

/** A tool whose file writes a marker when it is loaded. */
const formatMarkTool = (mark: string, more = ''): string =>
  `import { appendFileSync } from 'node:fs';
appendFileSync(${JSON.stringify(mark)}, 'x');
${more}
export default { name: 'mark', description: 'Leaves a mark.', input: { type: 'object', properties: {} }, run: () => 'marked' };
// the last line\u202e of it
`;

type PostedRequest = { readonly url: string; readonly key: string | undefined; readonly body: unknown };

/** A fake server for Slack and GitHub. */
async function startServices(
  t: TestContext,
): Promise<{ readonly base: string; readonly posted: readonly PostedRequest[] }> {
  const posted: PostedRequest[] = [];
  const server = http.createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      posted.push({ url: request.url ?? '', key: request.headers.authorization, body: JSON.parse(body) });
      const isSlack = request.url?.startsWith('/api') === true;
      response.writeHead(isSlack ? 200 : 201);
      response.end(
        JSON.stringify(isSlack ? { ok: true, ts: '1.2' } : { number: 7, html_url: 'https://example.com/7' }),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, posted };
}

test(
  '[P45, P46, P64] the two examples work from the user’s tools directory, each call after approval',
  { skip },
  async (t) => {
    const { base, posted } = await startServices(t);
    const slack = { channel: '#general', message: 'Ahoy' };
    const issue = { repository: 'o/r', title: 'Chafing' };
    const program = await createProgram(
      t,
      scriptHiddenCalls([['custom__send_slack_message', slack]], [['custom__create_github_issue', issue]]),
    );
    await program.seedModels('qwen3');
    const config = path.join(program.home, 'config/fairlead');
    mkdirSync(config, { recursive: true });
    cpSync(examples, path.join(config, 'custom_tools'), { recursive: true });
    writeFileSync(path.join(config, 'config.json'), JSON.stringify({ network: { private: '127.0.0.1' } }));
    const env = {
      SLACK_BOT_TOKEN: 'xoxb-secret-1',
      SLACK_API_URL: `${base}/api`,
      GITHUB_TOKEN: 'ghp_secret2',
      GITHUB_API_URL: base,
    };
    const refused = await program.run(['-p', 'post', '--no-sandbox'], { env });
    assert.equal(refused.code, 5, 'there is no user to approve');
    assert.deepEqual(posted, []);

    const terminal = await program.open(
      ['post Ahoy to #general, and create the issue Chafing in o/r', '-n', 'posted', '--no-sandbox'],
      { env },
    );
    await answerPrompt(
      terminal,
      /^channel +#general\nmessage +Ahoy\n[^]*Call custom__send_slack_message\?\n[^]*\[y\/N\/a\]: *$/m,
      'y',
      'Enter',
    );
    await answerPrompt(terminal, /Call custom__create_github_issue\?\n[^]*\[y\/N\/a\]: *$/m, 'y', 'Enter');
    assert.equal(await waitForExitCode(terminal), 0);
    assert.match(await terminal.screen(), /^Heard: Opened issue 7: https:\/\/example\.com\/7$/m);
    assert.deepEqual(posted, [
      { url: '/api/chat.postMessage', key: 'Bearer xoxb-secret-1', body: { channel: '#general', text: 'Ahoy' } },
      { url: '/repos/o/r/issues', key: 'Bearer ghp_secret2', body: { title: 'Chafing' } },
    ]);
    const told =
      program.session('posted') +
      program
        .modelRequests()
        .map(({ body }) => JSON.stringify(body))
        .join('');
    assert.doesNotMatch(told, /xoxb-secret|ghp_secret/);
  },
);

/** The question about a tool of the directory. */
const question = /^\? Trust this project's tool \S+\/custom_tools\/mark\.js\?[^\n]*\s[^?]*\[y\/N\]/m;

/** Creates a program in a directory with a tool of 400 lines. */
async function createMarkProgram(
  t: TestContext,
): Promise<TestProgram & { readonly mark: string; readonly file: string }> {
  const program = await createProgram(t, scriptHiddenCalls([['custom__mark', {}]]));
  await program.seedModels('qwen3');
  const mark = path.join(program.home, 'mark');
  const file = path.join(program.cwd, 'custom_tools/mark.js');
  const long = Array.from({ length: 400 }, (_, line) => `// line ${line} of it`).join('\n');
  writeFiles(program.cwd, {
    'custom_tools/mark.js': formatMarkTool(mark, long),
    'custom_tools/_part.js': formatMarkTool(mark),
  });
  return { ...program, mark, file };
}

test(
  '[P46, P78] a tool of a directory is shown with its full text, runs after approval of that text, and is asked about again when it changed',
  { skip },
  async (t) => {
    const program = await createMarkProgram(t);
    const { mark, file } = program;
    const first = await program.open(['--no-sandbox']);
    const seen = await first.waitFor(question);
    assert.match(seen, /^import \{ appendFileSync \} from 'node:fs';\n/m);
    for (const line of [0, 200, 399]) assert.match(seen, new RegExp(`^// line ${line} of it$`, 'm'));
    assert.match(seen, /^\/\/ the last line<U\+202E> of it$/m);
    await answerPrompt(first, question, 'Enter');
    await first.waitFor(/mark\.js:\s+is\s+not\s+approved,\s+so\s+it\s+was\s+not\s+run/);
    assert.equal(existsSync(mark), false);
    await first.kill();

    const second = await program.open(['--no-sandbox']);
    await answerPrompt(second, question, 'y', 'Enter');
    await second.waitFor(/Fairlead with qwen3/);
    assert.equal(readFileSync(mark, 'utf8'), 'x', 'it was loaded, and the other file was not');
    await second.type('mark it');
    await second.keys('Enter');
    await answerPrompt(second, /^\? Call custom__mark[^?]*\? \[y\/N\/a\]/m, 'y', 'Enter');
    await second.waitFor(/^Heard: marked$/m);
    await second.kill();

    const third = await program.open(['--no-sandbox']);
    await third.waitFor(/Fairlead with qwen3/);
    assert.doesNotMatch(await third.screen({ back: true }), /Trust this project's tool/, 'an approval is saved');
    await third.kill();
    appendFileSync(file, '// more\n');
    const fourth = await program.open(['--no-sandbox']);
    await answerPrompt(fourth, question, 'n', 'Enter');
    assert.match(await fourth.screen({ back: true }), /It\s+changed\s+since\s+you\s+allowed\s+it/);
    await fourth.waitFor(/mark\.js:\s+changed\s+since\s+it\s+was\s+approved,\s+so\s+it\s+was\s+not\s+run/);
    assert.equal(readFileSync(mark, 'utf8'), 'xx', 'the changed text did not run');
  },
);

test(
  '[P78] a one-shot run in a terminal asks as well; in a pipe no tool of the directory runs',
  { skip },
  async (t) => {
    const program = await createMarkProgram(t);
    const { mark } = program;
    const piped = await program.run(['-p', 'mark it', '--auto-approve', '--no-sandbox']);
    assert.equal(piped.code, 0);
    assert.match(piped.err, /mark\.js: is not approved, so it was not run/);
    assert.equal(existsSync(mark), false);
    const terminal = await program.open(['mark it', '--auto-approve', '--no-sandbox']);
    await terminal.waitFor(/^\/\/ line 399 of it\n[^]*^number \[y\/N\]: *$/m);
    assert.equal(existsSync(mark), false);
    await answerPrompt(terminal, /^number \[y\/N\]: *$/m, 'y', 'Enter');
    assert.equal(await waitForExitCode(terminal), 0);
    assert.match(await terminal.screen(), /^Heard: marked$/m);
  },
);

test('approvals for a project directory are asked one after the other, whatever their source', { skip }, async (t) => {
  const program = await createMarkProgram(t);
  writeFiles(program.cwd, { '.mcp.json': JSON.stringify({ mcpServers: { theirs: { command: 'false' } } }) });
  const terminal = await program.open(['hi', '--no-sandbox']);
  const asked = async (): Promise<readonly boolean[]> => {
    const seen = await terminal.screen({ back: true });
    return [/custom_tools\/mark\.js\?/.test(seen), /MCP server/.test(seen)];
  };
  await terminal.waitFor(/^number \[y\/N\]: *$/m);
  assert.equal((await asked()).filter(Boolean).length, 1);
  await answerPrompt(terminal, /^number \[y\/N\]: *$/m, 'n', 'Enter');
  await terminal.waitFor(/^number \[y\/N\]: n\n[^]*^number \[y\/N\]: *$/m);
  assert.deepEqual(await asked(), [true, true]);
  await answerPrompt(terminal, /^number \[y\/N\]: *$/m, 'n', 'Enter');
  assert.match(await terminal.waitFor(/^Heard: |\(left with/m), /mark/);
});

test(
  '[P78] commands of a custom tool through its workspace run in the sandbox',
  { skip: await noSandbox() },
  async (t) => {
    const program = await createProgram(t, scriptHiddenCalls([['custom__peek', {}]]));
    await program.seedModels('qwen3');
    writeFiles(program.home, {
      secret: 'mine alone',
      'work/open': 'for all',
      'config/fairlead/custom_tools/peek.js': `export default {
      name: 'peek', description: 'Peeks.', input: { type: 'object', properties: {} },
      run: async (_, { workspace }) => (await workspace.exec('cat open ../secret')).text,
    };`,
    });
    const ran = await program.run(['-p', 'peek', '--auto-approve']);
    assert.match(ran.out, /^Heard: for all/m, ran.err);
    assert.doesNotMatch(ran.out, /mine alone/);
  },
);

// Language servers that lie, hang, crash and flood: each gives one error message, and no process outlives the session.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { isToolOutput, errorMessage, type Json, type ToolOutput, type ToolContext } from '../../core/index.ts';
import { localWorkspace } from '../../workspace/index.ts';
import { editFile } from '../index.ts';
import {
  codeIntelligence,
  withDiagnostics,
  languageServers,
  parseLanguageServers,
  type LanguageServerOptions,
  type ServerApproval,
  type LanguageServerDefinition,
} from './index.ts';

/** A server that misbehaves as its mode says, and otherwise works. */
const script = `
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
const [mode, notes] = process.argv.slice(2);
appendFileSync(notes, 'started\\n');
const raw = (text) => process.stdout.write(text);
const send = (message) => {
  const body = JSON.stringify({ jsonrpc: '2.0', ...message });
  raw('Content-Length: ' + Buffer.byteLength(body) + '\\r\\n\\r\\n' + body);
};
const hover = (id, words) => send({ id, result: { contents: words } });
const asked = [];
let hovers = 0;
let opened = 0;
let waiting = () => {};
if (mode === 'garbage') raw('Listening on port 80\\n');
if (mode === 'header') raw('Content-Length: ' + 'x'.repeat(100_000));
if (mode === 'huge') raw('Content-Length: 99999999999\\r\\n\\r\\n{');
if (mode === 'no-json') raw('Content-Length: 9\\r\\n\\r\\n{"id": 1,');
if (mode === 'no-length') raw('Content-Type: text/plain\\r\\n\\r\\n{}');
if (mode === 'dies') { console.error('no licence\\u001b[31m'); process.exit(3); }
function take({ id, method, params, result, error }) {
  if (method === undefined) { asked.push(error ? 'refused ' + error.code : JSON.stringify(result)); return waiting(); }
  if (method === 'initialize') {
    if (mode === 'silent' || mode === 'header') return;
    const capabilities = { hoverProvider: true, definitionProvider: true, textDocumentSync: 1 };
    if (mode === 'encoding') capabilities.positionEncoding = 'utf-8';
    if (mode === 'mute') capabilities.diagnosticProvider = {};
    if (mode === 'nothing') return send({ id, result: 'hello' });
    return send({ id, result: { capabilities } });
  }
  if (method === 'initialized' && mode === 'asks') {
    send({ id: 'a', method: 'workspace/applyEdit', params: { edit: {} } });
    send({ id: 'b', method: 'workspace/configuration', params: { items: [{ section: 'x.y' }, {}, 7] } });
    send({ id: 'c', method: 'window/showDocument', params: { uri: 'file:///etc/passwd' } });
  }
  if (method === 'textDocument/hover') {
    if (mode === 'hush' && hovers++ > 0) return;
    if (mode === 'crash') { raw('Content-Length: 50\\r\\n\\r\\n{"id"'); setTimeout(() => process.exit(9), 20); return; }
    if (mode === 'crash-once' && !existsSync(notes + '.crashed')) { writeFileSync(notes + '.crashed', ''); process.exit(9); }
    if (mode === 'wrong-ids') for (const wrong of [id + 7, String(id), null, -1, {}]) send({ id: wrong, result: { contents: 'wrong' } });
    if (mode === 'shapes') return send({ id, result: { contents: [{ value: 5 }, null, { value: 'kept\\u202e' }] } });
    if (mode === 'refuses') return send({ id, error: { code: 1, message: 'no such\\nthing' } });
    if (mode === 'environment') return hover(id, Object.keys(process.env).sort().join(' ') + ' | ' + process.env.PATH);
    if (mode === 'opens') return hover(id, 'opened ' + opened);
    if (mode === 'where') return hover(id, process.pid + ' ' + process.cwd());
    if (mode === 'child') return hover(id, process.pid + ' ' + spawn('sleep', ['600'], { stdio: 'inherit' }).pid);
    if (mode === 'asks') { waiting = () => asked.length === 3 && hover(id, asked.join(' | ')); return waiting(); }
    hover(id, 'a name');
    if (mode === 'brief') process.stdout.write('', () => process.exit(0));
    return;
  }
  if (method === 'textDocument/definition') {
    const range = { start: { line: 0, character: 0 } };
    const uris = ['/etc/passwd', '/.env'].map((file, i) => 'file://' + (i ? process.cwd() : '') + file);
    return send({ id, result: [null, 5, {}, { uri: 5, range }, { uri: uris[0], range: { start: { line: -1 } } }, { uri: 'file://host%00/x', range }, ...uris.map((uri) => ({ uri, range }))] });
  }
  if (method === 'textDocument/didOpen' || method === 'textDocument/didChange') {
    if (method === 'textDocument/didOpen') opened++;
    const { uri, version, text = params.contentChanges?.[0].text } = params.textDocument;
    const at = text.indexOf('bad');
    const items = at < 0 ? [] : [{ range: { start: { line: 0, character: at } }, severity: 2, message: 'this is\\n  bad' }, { message: 7 }, null];
    send({ method: 'textDocument/publishDiagnostics', params: { uri, version: version - 1, diagnostics: [] } });
    setTimeout(() => send({ method: 'textDocument/publishDiagnostics', params: { uri, version, diagnostics: items } }), 30);
    return;
  }
  if (method === 'shutdown') return mode === 'stays' ? undefined : send({ id, result: null });
  if (method === 'exit' && mode !== 'stays') process.exit(0);
}
if (mode === 'stays') { process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); }
let held = Buffer.alloc(0);
process.stdin.on('data', (bytes) => {
  held = Buffer.concat([held, bytes]);
  for (;;) {
    const end = held.indexOf('\\r\\n\\r\\n');
    if (end < 0) return;
    const length = Number(/\\d+/.exec(held.toString('utf8', 0, end))[0]);
    if (held.length < end + 4 + length) return;
    const message = JSON.parse(held.toString('utf8', end + 4, end + 4 + length));
    held = held.subarray(end + 4 + length);
    take(message);
  }
});
`;

const hoverInput = { action: 'hover', path: 'a.foo', line: 1, column: 1 };

function setup(
  t: test.TestContext,
  mode: string,
  options: LanguageServerOptions = {},
  more: Partial<LanguageServerDefinition> = {},
) {
  const home = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-hostile-')));
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-hostile-root-')));
  const notes = path.join(home, 'notes');
  writeFileSync(path.join(home, 'server.mjs'), script);
  writeFileSync(path.join(root, 'a.foo'), 'a good name\n');
  writeFileSync(path.join(root, '.env'), 'SECRET=1\n');
  const configured = {
    foo: { command: process.execPath, args: [path.join(home, 'server.mjs'), mode, notes], extensions: ['foo'] },
  };
  const servers = parseLanguageServers(configured, 'user').servers.map((each) => ({ ...each, ...more }));
  const workspace = localWorkspace({ roots: [root] });
  const lsp = languageServers(workspace, { servers, startTimeoutMs: 5000, requestTimeoutMs: 300, ...options });
  t.after(async () => {
    await lsp.close();
    for (const folder of [root, home]) rmSync(folder, { recursive: true, force: true });
  });
  const tool = codeIntelligence(workspace, lsp);
  const run = async (input: Json, signal: AbortSignal): Promise<ToolOutput> => {
    const value: unknown = await tool.execute(input, { signal } as ToolContext);
    assert.ok(isToolOutput(value));
    return value;
  };
  return {
    root,
    home,
    workspace,
    lsp,
    ask: (input: Json = hoverInput, signal = new AbortController().signal): Promise<string> =>
      run(input, signal).then(({ text }) => text, errorMessage),
    starts: () => readFileSync(notes, 'utf8').split('\n').length - 1,
  };
}

/** Asks until the answer contains a text; at most 200 times. */
async function askUntil(ask: () => Promise<string>, text: string): Promise<string> {
  let answer = '';
  for (let i = 0; i < 200 && !answer.includes(text); i++) answer = await ask();
  assert.ok(answer.includes(text), `${answer} does not contain "${text}"`);
  return answer;
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** After a kill the process needs a moment to disappear. */
async function waitUntilDead(pid: number): Promise<void> {
  while (isAlive(pid)) await pause(10);
}

for (const [mode, sentence] of [
  [
    'garbage',
    /^The language server foo cannot be used: it wrote something that is not a message: "Listening on port 80"\.$/,
  ],
  ['header', /cannot be used: the header of a message has no end\.$/],
  ['huge', /cannot be used: a message has 99999999999 bytes/],
  ['no-json', /cannot be used: a message is not JSON/],
  ['no-length', /cannot be used: a message has no valid length/],
  ['dies', /cannot be used: it exited with code 3; it said: no licence␛\[31m\.$/],
  ['silent', /^The language server foo did not respond within 0\.3 s\.$/],
  ['nothing', /did not send its capabilities\.$/],
  ['encoding', /uses a position encoding that was not offered/],
  ['hush', /^The language server foo did not respond within 0\.3 s\.$/],
  ['crash', /^The language server foo cannot be used: it exited with code 9\.$/],
  ['refuses', /^The language server foo returned an error: no such␊thing$/],
  ['wrong-ids', /^a name$/],
  ['shapes', /^kept<U\+202E>$/],
] as const)
  test(`a language server in mode ${mode} gives one error message`, async (t) => {
    const { ask } = setup(t, mode, mode === 'silent' ? { startTimeoutMs: 300 } : {});
    if (mode === 'hush') assert.equal(await ask(), 'a name');
    assert.match(await ask(), sentence);
  });

test('a missing program is reported, and nothing is started', async (t) => {
  const { ask } = setup(t, 'good', {}, { command: path.join(tmpdir(), 'fairlead-none', 'server') });
  assert.match(await ask(), /^.*fairlead-none.server is not installed/);
});

test('a server that crashes during a request is started again for the next one', async (t) => {
  const { ask, starts } = setup(t, 'crash-once');
  assert.match(await ask(), /exited with code 9/);
  assert.equal(await ask(), 'a name');
  assert.equal(starts(), 2);
});

test('a server that keeps failing is restarted with increasing delays', async (t) => {
  const { ask, starts } = setup(t, 'dies');
  for (let i = 0; i < 8; i++) await ask();
  assert.match(await ask(), /code 3; it said: .* It can be started again in \d+ s\.$/);
  assert.equal(starts(), 2);
});

test('a server that crashes at every request is restarted with delays too, and the reason is reported', async (t) => {
  const { ask, starts } = setup(t, 'crash');
  for (let i = 0; i < 4; i++) await ask();
  assert.match(await ask(), /it exited with code 9\. It can be started again in \d+ s\.$/);
  assert.equal(starts(), 2);
});

test('a server that exits after every answer is finally not restarted', { timeout: 60_000 }, async (t) => {
  const { ask, starts } = setup(t, 'brief');
  let said = await ask();
  assert.equal(said, 'a name');
  said = await askUntil(ask, 'will not be started again');
  assert.match(said, /^The language server foo was started 12 times and will not be started again\./);
  assert.equal(starts(), 12);
});

test('a server that leaves two requests unanswered is ended, and a new one is started', async (t) => {
  const { ask, starts, lsp } = setup(t, 'hush');
  assert.equal(await ask(), 'a name');
  const { pid } = (await lsp.getIfReady('a.foo', new AbortController().signal))?.connection ?? {};
  assert.ok(pid);
  for (const _ of [1, 2]) assert.match(await ask(), /did not respond/);
  await waitUntilDead(pid);
  assert.equal(await ask(), 'a name');
  assert.equal(starts(), 2);
});

test('an abort ends the wait at once, also while a server starts', async (t) => {
  for (const mode of ['silent', 'hush']) {
    const { ask } = setup(t, mode, { startTimeoutMs: 600_000, requestTimeoutMs: 600_000 });
    if (mode === 'hush') assert.equal(await ask(), 'a name');
    assert.equal(await ask(hoverInput, AbortSignal.timeout(200)), 'The run was cancelled.');
  }
});

test('parallel calls share one server, and each document is opened once', async (t) => {
  const { ask, starts } = setup(t, 'opens');
  assert.deepEqual(await Promise.all([ask(), ask(), ask()]), ['opened 1', 'opened 1', 'opened 1']);
  assert.equal(starts(), 1);
});

test('a server gets no secrets, and a search path without the project directory', async (t) => {
  const inside = '/usr/bin:node_modules/.bin:.';
  const secrets = { GITHUB_TOKEN: 'x', OPENAI_API_KEY: 'x', NODE_OPTIONS: '--require ./x.js', LD_PRELOAD: 'x' };
  const { ask } = setup(
    t,
    'environment',
    { environment: { ...secrets, HOME: '/h', PATH: inside } },
    { env: { MORE: '1' } },
  );
  assert.equal(await ask(), 'HOME MORE PATH | /usr/bin');
});

test('a server cannot change or open anything through the client', async (t) => {
  const settings = { x: { y: 5 } };
  const { ask } = setup(t, 'asks', {}, { settings });
  assert.equal(await ask(), '{"applied":false} | [5,{"x":{"y":5}},{"x":{"y":5}}] | refused -32601');
});

test('invalid locations of a server are reported, and no content of ignored or secret files is shown', async (t) => {
  const { ask } = setup(t, 'good');
  assert.equal(
    await ask({ action: 'definition', path: 'a.foo', line: 1, column: 1 }),
    '/etc/passwd:1:1\n.env:1:1\nfile://host%00/x:1:1',
  );
  assert.match(await ask({ action: 'references', path: 'a.foo', line: 1 }), /foo does not support references/);
});

test('closing a session ends its servers and all their children', async (t) => {
  for (const mode of ['child', 'stays']) {
    const { ask, lsp } = setup(t, mode);
    const said = await ask();
    const { pid } = (await lsp.getIfReady('a.foo', new AbortController().signal))?.connection ?? {};
    assert.ok(pid && isAlive(pid));
    await lsp.close();
    for (const each of mode === 'child' ? said.split(' ').map(Number) : [pid]) await waitUntilDead(each);
    assert.match(await ask(), /were stopped/);
  }
});

test('diagnostics that a server pushes are used only for the current text', async (t) => {
  const { ask, root } = setup(t, 'good');
  const diagnostics = { action: 'diagnostics', path: 'a.foo' };
  assert.equal(await ask(diagnostics), 'No problems in a.foo.');
  writeFileSync(path.join(root, 'a.foo'), 'a bad name\n');
  assert.equal(await ask(diagnostics), 'a.foo:1:3: warning: this is bad');
  writeFileSync(path.join(root, 'a.foo'), 'a good name\n');
  assert.equal(await ask(diagnostics), 'No problems in a.foo.');
});

test('an edit is neither failed nor delayed by a server that does not answer', { timeout: 60_000 }, async (t) => {
  const { ask, workspace, lsp } = setup(t, 'mute', { requestTimeoutMs: 600_000 });
  await ask();
  const edit = withDiagnostics(workspace, lsp, { waitMs: 50 })(editFile(workspace));
  await workspace.read('a.foo');
  const input = { path: 'a.foo', old_string: 'good', new_string: 'bad' };
  const result = (await edit.execute(input, { signal: new AbortController().signal } as ToolContext)) as ToolOutput;
  assert.equal(result.text, 'Edited a.foo.');
  assert.equal((await workspace.read('a.foo')).text, 'a bad name\n');
});

test('a server definition of a project starts only after it and its script are approved unchanged', async (t) => {
  const approved = new Set<string>();
  const asked: ServerApproval[] = [];
  const allowed = (items: readonly ServerApproval[]): boolean =>
    asked.push(...items) > 0 && items.every(({ hash }) => approved.has(hash));
  const { ask, root, home } = setup(t, 'brief', { requestApproval: allowed }, { origin: 'project', command: 'node' });
  assert.match(await ask(), /foo was not started: this folder configures it and it was not approved\.$/);
  approved.add(asked[0]?.hash ?? '');
  assert.equal(await ask(), 'a name');
  writeFileSync(path.join(home, 'server.mjs'), `${script}// changed`);
  await askUntil(ask, 'was not approved');
  assert.equal(new Set(asked.map(({ hash }) => hash)).size, 2);
  assert.deepEqual([...new Set(asked.map(({ subject }) => subject))], [`language-server ${root} foo`]);
});

test('each root has its own server: the nearest directory with the strongest marker', async (t) => {
  const { ask, root } = setup(t, 'where', {}, { rootMarkers: ['foo.lock', 'foo.toml'] });
  for (const name of ['one/foo.lock', 'one/in/foo.toml', 'one/in/deep/b.foo', 'two/foo.toml', 'two/c.foo']) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), 'x');
  }
  const where = async (file: string): Promise<readonly string[]> =>
    (await ask({ ...hoverInput, path: file })).split(' ');
  const [one, two, top] = [await where('one/in/deep/b.foo'), await where('two/c.foo'), await where('a.foo')];
  assert.deepEqual([one[1], two[1], top[1]], [path.join(root, 'one'), path.join(root, 'two'), root]);
  assert.equal(new Set([one[0], two[0], top[0]]).size, 3);
  assert.deepEqual(await where('two/c.foo'), two);
});

test('a server that executes files of the project starts only after these are approved unchanged', async (t) => {
  const approved = new Set<string>();
  const asked: string[] = [];
  const allowed = (items: readonly ServerApproval[]): boolean =>
    items.every(({ hash }) => asked.push(hash) > 0 && approved.has(hash));
  const { ask, root } = setup(t, 'brief', { requestApproval: allowed }, { executedFiles: ['build.foo'] });
  assert.match(await ask(), /foo was not started: it runs code that .* configures, which was not approved\.$/);
  approved.add(asked[0] ?? '');
  assert.equal(await ask(), 'a name');
  writeFileSync(path.join(root, 'build.foo'), 'run this');
  await askUntil(ask, 'was not started');
  assert.equal(new Set(asked).size, 2);
});

test('each unusable server in a configuration is reported with one sentence', () => {
  const right = { command: 'x', extensions: { '.a': 'lang' }, args: ['-x'], rootMarkers: ['a.toml'], env: { A: '1' } };
  const { servers, problems } = parseLanguageServers(
    {
      right,
      none: 5,
      command: { ...right, command: '' },
      args: { ...right, args: [5] },
      extensions: { ...right, extensions: [] },
      markers: { ...right, rootMarkers: ['../x'] },
      env: { ...right, env: { A: 5 } },
    },
    'user',
  );
  assert.deepEqual(servers, [
    {
      name: 'right',
      command: 'x',
      args: ['-x'],
      languages: { '.a': 'lang' },
      rootMarkers: ['a.toml'],
      origin: 'user',
      env: { A: '1' },
    },
  ]);
  assert.deepEqual(
    problems.map((sentence) => /^The language server (\w+) cannot be used: /.exec(sentence)?.[1]),
    ['none', 'command', 'args', 'extensions', 'markers', 'env'],
  );
  assert.equal(parseLanguageServers(undefined, 'user').problems.length, 0);
  assert.equal(parseLanguageServers('x', 'user').problems.length, 1);
});

// Tests the files of the program: prompt files, `.env`, its directories, its logs, and its executables.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { toSessionFileName, parseSessionFileName } from '../src/sessions/index.ts';
import { getAppDirs } from '../src/coding-agent/settings/dirs.ts';
import { requestMessages, createProgram, type TestProgram } from './support/cli-harness.ts';

const root = path.resolve(import.meta.dirname, '..');
const datedNamePattern = /^\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d(-\d+)?$/;

const getLastContent = (program: TestProgram): unknown =>
  requestMessages(program.modelRequests().at(-1)).at(-1)?.['content'];

test('[J18, J22, J23, J29, J35, J37, J50, J73] one-shot sends the exact prompt, or a file by absolute or relative path, and exits with 0', async (t) => {
  const program = await createProgram(t);
  await program.seedModels('qwen3');
  const text = '  two  spaces,\n\ta tab, "quotes", $HOME, `ticks`, /help, !ls, -x, naïve 漢字 👩‍🚀\n';
  const direct = await program.run(['--one-shot', '--prompt', text]);
  assert.deepEqual(direct, { code: 0, out: `You said: ${text}`, err: '' });
  assert.equal(getLastContent(program), text);
  assert.match(program.sessions()[0] ?? '', datedNamePattern);
  mkdirSync(path.join(program.cwd, 'notes'));
  const file = path.join(program.cwd, 'notes/ask.md');
  writeFileSync(file, `# From a file\n${text}`);
  for (const name of ['notes/ask.md', file]) {
    const { code, err } = await program.run(['--one-shot', '-P', name]);
    assert.equal(code, 0, err);
    assert.equal(getLastContent(program), `# From a file\n${text}`);
  }
  assert.equal(program.sessions().length, 3, 'three starts, perhaps in one second, are three sessions');
  program.server.clearRequests();
  writeFileSync(path.join(program.cwd, 'empty.md'), ' \n');
  for (const [name, why] of [
    ['missing.md', /^The prompt file \S+\/work\/missing\.md (does not exist|is not there)/],
    ['notes', /^The prompt file \S+\/work\/notes is /],
    ['empty.md', /^The prompt file \S+\/work\/empty\.md is empty\./],
  ] as const) {
    const { code, out, err } = await program.run(['--one-shot', '-P', name]);
    assert.deepEqual([code, out], [1, '']);
    assert.match(err, why);
  }
  assert.deepEqual(program.server.requests, []);
});

test('[J22] a prompt for the interactive mode is sent unchanged, also with a slash, and piped lines wait for it', async (t) => {
  const program = await createProgram(t);
  await program.seedModels('qwen3');
  const { code, out } = await program.run(['--interactive', '-p', '/help'], { input: 'second\n/cwd\n' });
  assert.equal(code, 0);
  assert.deepEqual(
    requestMessages(program.modelRequests().at(-1)).map(({ content }) => content),
    ['/help', 'You said: /help', 'second'],
  );
  assert.match(out, /You said: \/help\n[^]*You said: second\n[^]*The working directory is /);
});

test('[J78, J79, J80, J90, J91, J92, J93] everything is saved in the state and data directories under the root name, readable only by the user', async (t) => {
  const program = await createProgram(t);
  const env = { XDG_STATE_HOME: '', XDG_DATA_HOME: '', HARNESS_ROOT_DIRS_NAME: 'my harness' };
  await program.run(['--one-shot', '--refresh-models'], { env });
  const { code, err } = await program.run(['--interactive', '-m', 'qwen3', '-n', 'here'], { env, input: 'hi\n' });
  assert.equal(code, 0, err);
  const mac = process.platform === 'darwin';
  const state = path.join(program.home, mac ? 'Library/Application Support' : '.local/state', 'my harness');
  const data = path.join(program.home, mac ? 'Library/Application Support' : '.local/share', 'my harness');
  for (const file of ['models.jsonl', 'previous_model_name', 'logs'])
    assert.ok(existsSync(path.join(state, file)), file);
  const session = path.join(data, 'sessions/session_here.jsonl');
  for (const line of readFileSync(session, 'utf8').trim().split('\n')) assert.ok(JSON.parse(line));
  if (process.platform !== 'win32') assert.equal(statSync(session).mode & 0o077, 0);
  assert.equal(readFileSync(path.join(state, 'previous_model_name'), 'utf8'), 'qwen3\n');
  for (const name of ['a/b', '..']) {
    const refused = await program.run(['-p', 'x'], { env: { HARNESS_ROOT_DIRS_NAME: name } });
    assert.deepEqual([refused.code, refused.out], [1, '']);
    assert.match(refused.err, /^HARNESS_ROOT_DIRS_NAME is not the name of a directory: /);
  }
});

test('[J92] every start has a log named by date and time, also two in one second, without secrets', async (t) => {
  const program = await createProgram(t);
  await program.seedModels('qwen3');
  rmSync(program.state('logs'), { recursive: true, force: true });
  const logs = (): readonly string[] => readdirSync(program.state('logs'));
  const env = { OLLAMA_API_KEY: 'a-secret-key' };
  await Promise.all([
    program.run(['-p', 'one'], { env }),
    program.run(['-p', 'two'], { env }),
    program.run(['--interactive'], { env, input: 'three\n' }),
    program.run(['-p', 'x', '-m', 'missing a-secret-key'], { env }),
  ]);
  assert.equal(logs().length, 4);
  for (const name of logs()) assert.match(name, datedNamePattern);
  const texts = logs().map((name) => readFileSync(program.state('logs', name), 'utf8'));
  assert.equal(texts.filter((text) => /interactive\n.* ended with exit code 0\n$/.test(text)).length, 1);
  assert.equal(texts.filter((text) => text.includes('has no model "missing [redacted: OLLAMA_API_KEY]"')).length, 1);
  for (const text of texts) assert.doesNotMatch(text, /a-secret-key/);
});

test('[J77] settings come from the environment, or from the nearest .env file', async (t) => {
  const program = await createProgram(t);
  const deep = path.join(program.cwd, 'a/b');
  mkdirSync(deep, { recursive: true });
  writeFileSync(path.join(program.cwd, '.env'), `OLLAMA_API_URL=${program.server.url}\n`);
  const given = { cwd: deep, env: { OLLAMA_API_URL: '' } };
  assert.equal((await program.run(['trust', '--yes'], given)).code, 0);
  const near = await program.run(['--one-shot', '--test-connection'], given);
  assert.equal(near.code, 0, near.err);
  assert.ok(near.out.includes(`ollama (${program.server.url}) answers`));
  writeFileSync(path.join(program.home, '.env'), 'HARNESS_ROOT_DIRS_NAME=from-file\n');
  await program.run(['--one-shot', '--test-connection'], given);
  assert.ok(existsSync(path.join(program.home, 'state/from-file/logs')), 'the file of the user names directories');
  const first = await program.run(['config', 'get', 'url'], {
    cwd: deep,
    env: { OLLAMA_API_URL: 'http://127.0.0.1:9' },
  });
  assert.equal(first.out, 'http://127.0.0.1:9\n', 'the environment takes precedence');
});

test('[J94] reusable prompts are in the data directory, and only those are found', async (t) => {
  const program = await createProgram(t);
  await program.seedModels('qwen3');
  mkdirSync(program.data('prompts/daily'), { recursive: true });
  writeFileSync(program.data('prompts/daily/greet.md'), 'Good morning from a file');
  writeFileSync(path.join(program.home, 'outside.md'), 'not for sending');
  const input = '/promptfile daily/greet.md\n/promptfile ../../../outside.md\n';
  const { out } = await program.run(['--interactive'], { input });
  assert.equal(getLastContent(program), 'Good morning from a file');
  assert.match(out, /The prompt "\.\.\/\.\.\/\.\.\/outside\.md" is not in /);
  assert.equal(program.modelRequests().length, 1);
});

type Manifest = {
  readonly bin: Readonly<Record<string, string>>;
  readonly version: string;
};
const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as Manifest;

test('[J5, A122] fairlead, harness and start-harness-jayjader are one program, started by each name or as node dist/bin.js; harness-serve is a command', async (t) => {
  const program = await createProgram(t);
  const { 'harness-serve': serve, ...names } = manifest.bin;
  assert.equal(serve, 'dist/harness-serve.js');
  assert.deepEqual(names, {
    fairlead: 'dist/bin.js',
    harness: 'dist/bin.js',
    'start-harness': 'dist/start-harness.js',
    'start-harness-jayjader': 'dist/start-harness.js',
  });
  const said = Object.entries(names).map(([name, file]) => {
    const built = path.join(root, file);
    assert.ok(existsSync(built), 'dist is not built: run "npm run build" first');
    const link = path.join(program.home, name);
    symlinkSync(built, link);
    return [built, link].map((each) => execFileSync(process.execPath, [each, '--version'], { encoding: 'utf8' }));
  });
  assert.match(said[0]?.[0] ?? '', /^\d+\.\d+\.\d+\n$/);
  assert.deepEqual(new Set(said.flat()).size, 1);
});

test('[J6, J7, J95] npm ci accepts the lockfile of a checkout, which starts and formats without a build', () => {
  const run = (command: string, ...args: string[]): string =>
    execFileSync(command, args, { cwd: root, encoding: 'utf8', shell: process.platform === 'win32' });
  run('npm', 'ci', '--dry-run', '--ignore-scripts', '--prefer-offline');
  assert.equal(run('npm', 'start', '--silent', '--', '--version'), `${manifest.version}\n`);
  run(path.join(root, 'node_modules/.bin/oxfmt'), '--check', 'src/cli/bin.ts');
});

test('[A122] on Windows the system directories are used, and session files have valid names', () => {
  const home = 'C:\\Users\\Ada';
  const env = { LOCALAPPDATA: `${home}\\AppData\\Local`, APPDATA: `${home}\\AppData\\Roaming` };
  const { state, data, config } = getAppDirs(env, home, 'win32');
  assert.deepEqual(
    [state, data, config],
    [env.LOCALAPPDATA, env.LOCALAPPDATA, env.APPDATA].map((base) => path.join(base, 'fairlead')),
  );
  for (const name of ['CON', 'a:b', 'what?', '..\\up', 'C:\\x', 'end.', 'tab\there', '2026-01-31 23:59:59']) {
    const file = toSessionFileName(name);
    assert.match(file, /^session_[^<>:"/\\|?*\p{Cc}]+\.jsonl$/u);
    assert.equal(parseSessionFileName(file), name);
  }
});

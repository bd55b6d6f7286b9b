// Tests the profiles: the documented table is the code, how one is selected, and what start-harness-jayjader does in an empty home.
import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { profiles, readSettings, type Profile } from '../src/coding-agent/settings/index.ts';
import { calls } from '../src/testing/index.ts';
import { bin, requestMessages, requestToolNames } from './support/cli-harness.ts';
import { createStartHarness, type StartHarness } from './support/start-harness.ts';

const root = path.resolve(import.meta.dirname, '..');
const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
  readonly bin: Readonly<Record<string, string>>;
  readonly files: readonly string[];
};

/** The rows of the first table of a document, as cells without code marks. */
const readTable = (file: string): readonly (readonly string[])[] =>
  readFileSync(path.join(root, file), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('|---'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.replaceAll('`', '').trim()),
    );

/** The cell of a profile in the documented table, as the code says it. */
const toCells = ({
  product,
  title,
  program,
  rootName,
  defaults,
  shortOptions,
}: Profile): Readonly<Record<string, string>> => ({
  'started as': [program, ...Object.keys(manifest.bin).filter((name) => `${name}-jayjader` === program)].join(', '),
  'title of the help': title,
  'name in messages': product,
  'name of the state and data directories': rootName,
  '-c': `--${shortOptions['c'] ?? 'continue'}`,
  provider: 'none: the first start asks',
  ...Object.fromEntries(Object.entries(defaults).map(([key, value]) => [key, String(value)])),
});

test('the table of docs/profiles.md has exactly the defaults of the code', () => {
  const [header, ...rows] = readTable('docs/profiles.md');
  assert.deepEqual(header, ['', 'fairlead', 'jayjader']);
  const documented = (column: number): Readonly<Record<string, string>> =>
    Object.fromEntries(rows.map((row) => [(row[0] ?? '').replace(/ \(.*\)$/, ''), row[column] ?? '']));
  assert.deepEqual(documented(1), toCells(profiles.fairlead));
  assert.deepEqual(documented(2), toCells(profiles.jayjader));
});

test('a profile is selected by the option, the program name, the variable, a .env file of the user or the config file, in this order', async (t) => {
  const harness = await createStartHarness(t);
  const profileOf = async (args: readonly string[], options = {}): Promise<string> => {
    const { out, err } = await harness.run([...args, 'config', 'get', 'profile'], options);
    assert.equal(err, '');
    return out.trim();
  };
  const asFairlead = { file: bin };
  assert.equal(await profileOf([], asFairlead), 'fairlead');
  assert.equal((await harness.run(['config', 'set', 'profile', 'jayjader'], asFairlead)).code, 0);
  assert.equal(await profileOf([], asFairlead), 'jayjader');
  writeFileSync(path.join(harness.home, '.env'), 'HARNESS_PROFILE=fairlead\n');
  const { out } = await harness.run(['config', 'get', 'profile'], asFairlead);
  assert.equal(out.trim(), 'fairlead');
  assert.equal(await profileOf([], { ...asFairlead, env: { HARNESS_PROFILE: 'jayjader' } }), 'jayjader');
  assert.equal(await profileOf([], { env: { HARNESS_PROFILE: 'fairlead' } }), 'jayjader');
  assert.equal(await profileOf(['--profile', 'fairlead']), 'fairlead');
  assert.equal(await profileOf(['--profile=fairlead', '--profile=jayjader'], asFairlead), 'jayjader');
  for (const args of [['--profile', 'x', 'config'], ['--profile'], ['-p', 'hi', '--profile=']]) {
    const { code, err } = await harness.run(args);
    assert.deepEqual([code, err.startsWith('--profile must be fairlead or jayjader')], [2, true], err);
  }
  const wrong = await harness.run(['-p', 'hi'], { ...asFairlead, env: { HARNESS_PROFILE: 'x' } });
  assert.match(wrong.err, /^HARNESS_PROFILE must be fairlead or jayjader, not "x"\./);
  assert.deepEqual(harness.modelRequests(), []);
});

test('the .env file of a project does not select a profile', (t) => {
  const dir = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-profile-')));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const [home, cwd] = [path.join(dir, 'home'), path.join(dir, 'project')];
  for (const each of [home, cwd]) mkdirSync(each);
  const file = path.join(cwd, '.env');
  writeFileSync(file, 'HARNESS_PROFILE=jayjader\n');
  const { profile, provider, rootName, warnings } = readSettings({ env: { HOME: home }, cwd });
  assert.deepEqual([profile.name, provider, rootName], ['fairlead', undefined, 'fairlead']);
  assert.deepEqual(warnings, [`HARNESS_PROFILE in ${file} is not used: set it in the environment.`]);
  const selected = readSettings({ env: { HOME: home, HARNESS_PROFILE: 'jayjader' }, cwd });
  assert.deepEqual([selected.profile.name, selected.provider], ['jayjader', 'ollama']);
});

test('[J5, J10, J15] start-harness-jayjader is a command of the package; its help has its title, its name and -c for --clone-session', async (t) => {
  assert.equal(manifest.bin['start-harness-jayjader'], 'dist/start-harness.js');
  assert.equal(manifest.bin['start-harness'], 'dist/start-harness.js');
  const harness = await createStartHarness(t);
  for (const flag of ['-h', '--help']) {
    const { code, out } = await harness.run([flag]);
    assert.equal(code, 0);
    assert.match(out, /^Jayjader's LLM Harness\n\nUsage: start-harness-jayjader \[options\]/);
    assert.match(out, /^ {2}-c, --clone-session/m);
    assert.match(out, /\[--interactive \| --one-shot\]/);
    assert.doesNotMatch(out, /-c, --continue/);
  }
  assert.match((await harness.run(['--help'], { file: bin })).out, /^Fairlead[^]*-c, --continue/);
});

test('[J5] the program names itself by its profile: in the prompt, the system prompt, hints, usage and doctor', async (t) => {
  const harness = await createStartHarness(t);
  await seed(harness);
  const started = await harness.run(['--interactive'], { input: 'hi\n/nothing\n' });
  assert.match(started.out + started.err, /Jayjader's LLM Harness with qwen3, session/);
  assert.match(JSON.stringify(harness.modelRequests()[0]?.body), /You are Jayjader's LLM Harness, a coding agent/);
  const outputs = [
    started,
    await harness.run(['--one-shot']),
    await harness.run(['--frob']),
    await harness.run(['resume', 'it']),
    await harness.run(['--one-shot', '-p', 'hi', '-m', 'gone']),
    await harness.run(['models', 'route', '--help']),
    await harness.run(['sessions', '--help']),
    await harness.run(['sessions', 'frob']),
    await harness.run(['doctor', '--offline']),
  ];
  for (const { out, err } of outputs) {
    assert.doesNotMatch(out + err, /\bFairlead\b/);
    assert.doesNotMatch(out + err, /\bfairlead (-|[a-z])/);
  }
  assert.match(outputs[3]?.err ?? '', /To resume a session: start-harness-jayjader --resume/);
  // A command of the user or the model is never changed.
  assert.equal((await harness.run(['--one-shot', '-p', 'fairlead run x'])).out, 'You said: fairlead run x\n');
});

async function seed(harness: StartHarness): Promise<void> {
  const { code, err } = await harness.run(['--one-shot', '--refresh-models']);
  assert.equal(code, 0, err);
  mkdirSync(harness.state(), { recursive: true });
  writeFileSync(harness.state('previous_model_name'), 'qwen3\n');
  harness.server.clearRequests();
}

test('[J78, J79, J80, J82, J90, J91, J92, J93] without any setting the provider is ollama and everything is kept in jayjaders-llm-harness', async (t) => {
  const harness = await createStartHarness(t);
  assert.equal((await harness.run(['--one-shot', '--refresh-models'])).code, 0);
  const { code, err } = await harness.run(['--one-shot', '-p', 'hi', '-m', 'qwen3', '-n', 'here']);
  assert.equal(code, 0, err);
  for (const file of ['models.jsonl', 'previous_model_name', 'logs']) assert.ok(existsSync(harness.state(file)), file);
  assert.ok(existsSync(harness.data('sessions/session_here.jsonl')));
  assert.ok(!existsSync(path.join(harness.home, '.local/state/fairlead')), 'nothing is kept elsewhere');
  const settings = readSettings({ env: { HOME: '/people/ada' }, cwd: '/', platform: 'linux', profile: 'jayjader' });
  assert.deepEqual([settings.provider, settings.declared, settings.url], ['ollama', true, undefined]);
  assert.equal(settings.dirs.state, '/people/ada/.local/state/jayjaders-llm-harness');
  const other = await harness.run(['--one-shot', '--refresh-models'], { env: { HARNESS_ROOT_DIRS_NAME: 'mine' } });
  assert.equal(other.code, 0, other.err);
  assert.ok(existsSync(path.join(path.dirname(harness.state()), 'mine/models.jsonl')));
});

test('[J12, J52, J60, J72, J100] the API is asked for a whole answer; --stream and /stream ask for a stream', async (t) => {
  const harness = await createStartHarness(t);
  await seed(harness);
  const streams = (): readonly unknown[] =>
    harness.modelRequests().map(({ body }) => (body as { readonly stream?: unknown }).stream ?? false);
  assert.equal((await harness.run(['--one-shot', '-p', 'one'])).out, 'You said: one\n');
  assert.equal((await harness.run(['--one-shot', '-s', '-p', 'two'])).out, 'You said: two\n');
  assert.deepEqual(streams(), [false, true]);
  harness.server.clearRequests();
  const { out } = await harness.run(['--interactive'], { input: 'one\n/stream\ntwo\n/stream\nthree\n' });
  for (const word of ['one', 'two', 'three']) assert.match(out, new RegExp(`You said: ${word}`));
  assert.deepEqual(streams(), [false, true, false]);
  harness.server.clearRequests();
  await harness.run(['--interactive', '--stream'], { input: 'one\n/stream\ntwo\n' });
  assert.deepEqual(streams(), [true, false]);
});

test('[J4, J83, J84, J85, J96] execute_sandboxed_command is the command tool, and runs each command in a container with the named volume', async (t) => {
  const harness = await createStartHarness(t, ({ results }) =>
    results.length === 0 ? calls('execute_sandboxed_command', { command: 'ls /workspace' }) : 'Done.',
  );
  await seed(harness);
  const folder = path.join(harness.home, 'bin');
  mkdirSync(folder);
  const record = path.join(harness.home, 'calls');
  writeFileSync(
    path.join(folder, 'podman'),
    `#!/bin/sh\nprintf '%s ' "$@" >> '${record}'; echo >> '${record}'\n[ "$1" = run ] && echo from the container\nexit 0\n`,
  );
  chmodSync(path.join(folder, 'podman'), 0o755);
  const env = { PATH: `${folder}:${process.env['PATH'] ?? ''}` };
  const { code, out, err } = await harness.run(['--one-shot', '--auto-approve', '-p', 'List it.'], { env });
  assert.deepEqual([code, out], [0, 'Done.\n'], err);
  const names = requestToolNames(harness.modelRequests()[0]);
  assert.ok(names.includes('execute_sandboxed_command'));
  assert.ok(!names.includes('run_command'), names.join(' '));
  const [inspect, run] = readFileSync(record, 'utf8').split('\n');
  assert.equal(inspect, 'volume inspect llm-harness-tool-workspace ');
  assert.match(
    run ?? '',
    /^run .* ?-u \d+ -v llm-harness-tool-workspace:\/workspace -w \/workspace alpine sh -c ls \/workspace $/,
  );
  assert.match(JSON.stringify(requestMessages(harness.modelRequests()[1])), /from the container/);
  const refused = await harness.run(['--one-shot', '--auto-approve', '-p', 'Again.', '-n', 'second'], {
    env: { SANDBOX_CONTAINER_RUNTIME_EXECUTABLE: path.join(folder, 'missing-engine') },
  });
  assert.equal(refused.code, 0);
  assert.match(JSON.stringify(requestMessages(harness.modelRequests().at(-1))), /missing-engine/);
});

test('[J15, J42, J43, J46] -c clones a session and continues the clone', async (t) => {
  const harness = await createStartHarness(t);
  await seed(harness);
  await harness.run(['--one-shot', '-n', 'plan', '-p', 'one']);
  const before = readFileSync(harness.data('sessions/session_plan.jsonl'));
  const { code, err } = await harness.run(['--one-shot', '-c', 'plan', '-p', 'two']);
  assert.equal(code, 0, err);
  assert.deepEqual(
    requestMessages(harness.modelRequests().at(-1)).map(({ content }) => content),
    ['one', 'You said: one', 'two'],
  );
  assert.ok(existsSync(harness.data('sessions/session_plan-clone.jsonl')));
  assert.deepEqual(readFileSync(harness.data('sessions/session_plan.jsonl')), before);
});

test('[J61] /continue sends the session as it is, without a new user message, and leaves none in later requests', async (t) => {
  const harness = await createStartHarness(t, ({ index }) => `Answer ${index}.`);
  await seed(harness);
  const { out, code } = await harness.run(['--interactive', '-n', 'talk'], {
    input: 'first\n/continue\nsecond\n',
  });
  assert.equal(code, 0, out);
  const [first, continued, second] = harness.modelRequests().map(requestMessages);
  const user = (content: string) => ({ role: 'user', content });
  const assistant = (content: string) => ({ role: 'assistant', content });
  assert.deepEqual(first, [user('first')]);
  assert.deepEqual(continued, [user('first'), assistant('Answer 0.')]);
  assert.deepEqual(second, [user('first'), assistant('Answer 0.'), assistant('Answer 1.'), user('second')]);
  assert.doesNotMatch(out, /Go on/);
});

test('[J7, J102] prompts ship with the repository and the package; --prompt-file and /promptfile send one by its name', async (t) => {
  for (const name of ['prompts', 'src', 'test', '.gitignore', 'LICENSE', 'package.json', 'README.md'])
    assert.ok(existsSync(path.join(root, name)), name);
  assert.ok(manifest.files.includes('prompts'));
  const harness = await createStartHarness(t, () => 'Reviewed.');
  await seed(harness);
  const text = readFileSync(path.join(root, 'prompts/code-review.md'), 'utf8');
  const sent = (): unknown => requestMessages(harness.modelRequests().at(-1)).at(-1)?.['content'];
  for (const name of ['code-review.md', 'code-review', path.join(root, 'prompts/code-review.md')]) {
    harness.server.clearRequests();
    assert.deepEqual(await harness.run(['--one-shot', '--prompt-file', name]), {
      code: 0,
      out: 'Reviewed.\n',
      err: '',
    });
    assert.equal(sent(), text);
  }
  harness.server.clearRequests();
  await harness.run(['--interactive'], { input: '/promptfile code-review.md\n' });
  assert.equal(sent(), text);
});

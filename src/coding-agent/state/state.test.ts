// Tests of the state between starts: models, the last model, logs and the prompt history.
import assert from 'node:assert/strict';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { closedUrl, scriptedServer } from '../../testing/index.ts';
import { readSettings, type Settings } from '../settings/index.ts';
import {
  appendPromptHistory,
  withDebugLog,
  openDebugLog,
  readPromptHistory,
  readKnownModels,
  readLastModel,
  refreshModels,
  saveLastModel,
} from './index.ts';

function settingsFor(t: TestContext): (env?: Record<string, string>) => Settings {
  const home = mkdtempSync(path.join(tmpdir(), 'fairlead-known-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  return (env = {}) => readSettings({ env: { HOME: home, ...env }, cwd: home, platform: 'linux' });
}

/** Fails the test on a warning. */
const say = (trouble: string): never => assert.fail(trouble);

const mode = (file: string): string => (statSync(file).mode & 0o777).toString(8);
const models = [
  { id: 'able', context: 8192, tools: true },
  { id: 'plain', context: 4096 },
];

for (const [provider, style] of [
  ['ollama', undefined],
  ['lm-studio', 'lm-studio'],
  ['lemonade', 'lemonade'],
] as const)
  test(`[J82, J86, J89, J90] the models of ${provider} are saved as one line each with their tool support, and read again`, async (t) => {
    const server = await scriptedServer([], { models, ...(style ? { listingStyle: style } : {}) });
    t.after(() => server.close());
    const settings = settingsFor(t)({ HARNESS_INFERENCE_PROVIDER: provider, OLLAMA_API_URL: server.url });
    assert.equal(readKnownModels(settings), undefined, 'no list is known yet');
    const listed = await refreshModels(settings, { onWarning: say });
    const file = path.join(settings.dirs.state, 'models.jsonl');
    const lines = readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    assert.deepEqual(
      lines.map(({ id, provider: of }) => [id, of]),
      [
        ['able', provider],
        ['plain', provider],
      ],
    );
    assert.equal(lines[0]?.['tools'], true);
    assert.notEqual(lines[1]?.['tools'], true);
    assert.ok(String(lines[0]?.['url']).startsWith(server.url));
    assert.deepEqual(readKnownModels(settings), listed);
    if (process.platform !== 'win32') assert.deepEqual([mode(file), mode(settings.dirs.state)], ['600', '700']);
  });

test('[J86, J90] the list of another provider or URL is not used, and the valid lines of a damaged one are read', async (t) => {
  const server = await scriptedServer([], { models });
  t.after(() => server.close());
  const read = settingsFor(t);
  const here = read({ OLLAMA_API_URL: server.url });
  await refreshModels(here, { onWarning: say });
  assert.equal(readKnownModels(read({ HARNESS_INFERENCE_PROVIDER: 'lm-studio' })), undefined);
  assert.equal(readKnownModels(read({ OLLAMA_API_URL: 'http://elsewhere:1' })), undefined);
  assert.equal(readKnownModels(read())?.length, 2, 'without a configured provider the last list counts');
  appendFileSync(path.join(here.dirs.state, 'models.jsonl'), '{"id":"torn\n\n[]\n');
  assert.equal(readKnownModels(here)?.length, 2);
});

test('[J86, J88] a failed refresh leaves the list unchanged; an empty list is known to be empty', async (t) => {
  const server = await scriptedServer([], { models });
  t.after(() => server.close());
  const read = settingsFor(t);
  const settings = read({ OLLAMA_API_URL: server.url });
  const listed = await refreshModels(settings, { onWarning: say });
  const away = { provider: 'ollama', baseUrl: await closedUrl() };
  await assert.rejects(refreshModels(settings, { endpoint: away, onWarning: say }), { code: 'provider/unreachable' });
  assert.deepEqual(readKnownModels(settings), listed);
  await assert.rejects(refreshModels(read(), { onWarning: say }), { code: 'settings/no-provider' });
  const bare = await scriptedServer([], { models: [] });
  t.after(() => bare.close());
  assert.deepEqual(await refreshModels(read({ OLLAMA_API_URL: bare.url }), { onWarning: say }), []);
  assert.deepEqual(readKnownModels(read({ OLLAMA_API_URL: bare.url })), []);
});

test('[J86] a list that cannot be written is a warning, is used while the process runs, and is written when possible', async (t) => {
  const server = await scriptedServer([], { models });
  t.after(() => server.close());
  const settings = settingsFor(t)({ OLLAMA_API_URL: server.url });
  const file = path.join(settings.dirs.state, 'models.jsonl');
  mkdirSync(path.join(file, 'in the way'), { recursive: true });
  const troubles: string[] = [];
  const told = { onWarning: (trouble: string) => void troubles.push(trouble) };
  const listed = await refreshModels(settings, told);
  assert.equal(troubles.length, 1);
  assert.match(troubles[0] ?? '', /^The next start will not know these models: Could not write .*models\.jsonl: /);
  assert.deepEqual([listed.length, readKnownModels(settings)], [2, listed], 'the list is still used');
  rmSync(file, { recursive: true });
  await refreshModels(settings, told);
  assert.equal(troubles.length, 1);
  assert.equal(readFileSync(file, 'utf8').trimEnd().split('\n').length, 2);
});

test('[J27, J91] the name of the last model is saved in the state directory', (t) => {
  const settings = settingsFor(t)();
  assert.equal(readLastModel(settings), undefined);
  saveLastModel(settings, 'ollama/qwen3:8b');
  saveLastModel(settings, 'embedded');
  assert.equal(readLastModel(settings), 'embedded');
  const file = path.join(settings.dirs.state, 'previous_model_name');
  assert.equal(readFileSync(file, 'utf8'), 'embedded\n');
  const { ino } = statSync(file);
  saveLastModel(settings, 'embedded');
  assert.equal(statSync(file).ino, ino, 'the same name is not written again');
  writeFileSync(file, '\n');
  assert.equal(readLastModel(settings), undefined);
});

test('[J92] every start has its own log, named by date and time, private, and without keys', (t) => {
  const settings = settingsFor(t)({ OPENAI_API_KEY: 'sk-very-secret' });
  const now = new Date(2026, 0, 2, 3, 4, 5);
  const logs = [openDebugLog(settings, now), openDebugLog(settings, now)];
  const folder = path.join(settings.dirs.state, 'logs');
  assert.deepEqual(readdirSync(folder).toSorted(), ['2026-01-02_03-04-05', '2026-01-02_03-04-05-2']);
  const [first, second] = logs;
  first?.write('asked with sk-very-secret\nand more');
  first?.close();
  first?.write('too late');
  second?.close();
  const text = readFileSync(first?.file ?? '', 'utf8');
  assert.match(text, /^\d{4}-\d\d-\d\dT[\d:.]+Z asked with \[redacted: OPENAI_API_KEY\]\n {2}and more\n$/);
  assert.equal(readFileSync(second?.file ?? '', 'utf8'), '');
  if (process.platform !== 'win32') assert.deepEqual([mode(first?.file ?? ''), mode(folder)], ['600', '700']);
});

test('prompts are saved with their line breaks, the newest thousand, except those that begin with a space', (t) => {
  const settings = settingsFor(t)();
  assert.deepEqual(readPromptHistory(settings), []);
  for (const entry of ['one', 'two\nlines', ' secret', '   ', '"quoted" \u2028']) appendPromptHistory(settings, entry);
  assert.deepEqual(readPromptHistory(settings), ['one', 'two\nlines', '"quoted" \u2028']);
  const file = path.join(settings.dirs.state, 'history');
  if (process.platform !== 'win32') assert.equal(mode(file), '600');
  appendFileSync(file, 'not JSON\n{}\n');
  appendFileSync(file, Array.from({ length: 2000 }, (_, n) => `"${n}"\n`).join(''));
  const entries = readPromptHistory(settings);
  assert.deepEqual([entries.length, entries[0], entries.at(-1)], [1000, '1000', '1999']);
  assert.equal(readFileSync(file, 'utf8').split('\n').length, 1001, 'the file is truncated');
  assert.equal(existsSync(`${file}.tmp`), false);
});

test('a directory that cannot be written is reported in one sentence, and the work continues', async (t) => {
  const settings = settingsFor(t)();
  mkdirSync(path.dirname(settings.dirs.state), { recursive: true });
  writeFileSync(settings.dirs.state, 'a file where a folder should be');
  const told = /^The next start will not know which model was used: Could not create .*fairlead/;
  assert.match(saveLastModel(settings, 'x') ?? '', told);
  assert.throws(() => openDebugLog(settings), { code: 'stores/file', message: /^Could not create .*fairlead.logs/ });
  const warnings: string[] = [];
  const warn = (text: string): void => void warnings.push(text);
  assert.equal(await withDebugLog(settings, 'a start', warn, async () => 7), 7);
  assert.match(warnings.join(), /^This start has no log\. Could not create .*fairlead.logs/);
  assert.deepEqual([readLastModel(settings), readKnownModels(settings)], [undefined, undefined]);
});

test('a prompt history that cannot be read or written is empty', (t) => {
  const settings = settingsFor(t)();
  mkdirSync(path.join(settings.dirs.state, 'history'), { recursive: true });
  appendPromptHistory(settings, 'typed');
  assert.deepEqual(readPromptHistory(settings), []);
});

test('[attack 39] no key is sent to a URL that only the list of models names', (t) => {
  const read = settingsFor(t);
  const { dirs } = read();
  mkdirSync(dirs.state, { recursive: true });
  const listed = (provider: string, url: string): string => `${JSON.stringify({ id: provider, provider, url })}\n`;
  const hosted = listed('openai', 'http://evil.example/v1');
  writeFileSync(path.join(dirs.state, 'models.jsonl'), hosted + listed('ollama', 'http://box:11434'));
  const known = (env: Record<string, string>): readonly string[] | undefined =>
    readKnownModels(read(env))?.map(({ id }) => id);
  assert.deepEqual(known({}), ['ollama'], 'the URL of the list is used for a server without a key');
  assert.equal(known({ OLLAMA_API_KEY: 'mine' }), undefined);
  assert.deepEqual(known({ OLLAMA_API_KEY: 'mine', OLLAMA_HOST: 'http://box:11434' }), ['ollama']);
  assert.deepEqual(known({ OPENAI_API_KEY: 'mine', OPENAI_BASE_URL: 'http://evil.example/v1' }), ['openai', 'ollama']);
});

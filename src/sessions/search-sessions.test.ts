// The title and the folder of a session file, and the search over titles and messages.
import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import * as z from 'zod';
import { Agent, resolveAgent, tool } from '../agent/index.ts';
import type { ResolvedAgent } from '../core/index.ts';
import { calls, says, scriptedProvider } from '../testing/index.ts';
import {
  assertSessionFolder,
  closeSession,
  findLatestSession,
  getShortSessionId,
  listSessions,
  openSession,
  readSelectedModel,
  readSessionLabels,
  searchSessions,
  sessionFilePath,
  setSessionTitle,
  summarizeSession,
  titleSession,
  type SessionDirs,
} from './index.ts';
import { readSessionModel } from './session-labels.ts';

function createDirs(t: TestContext): SessionDirs {
  const data = mkdtempSync(path.join(tmpdir(), 'fairlead-search-'));
  t.after(() => rmSync(data, { recursive: true, force: true }));
  return { data };
}

const agentIn = (cwd: string, answer = 'Yes.'): ResolvedAgent => ({
  ...resolveAgent({ provider: scriptedProvider([says(answer)]), system: `You work in ${cwd}.` }),
  cwd,
});

async function hold(dirs: SessionDirs, cwd: string, prompt: string, answer?: string, name?: string): Promise<string> {
  const opened = await openSession(
    dirs,
    { type: 'new', ...(name === undefined ? {} : { name }) },
    agentIn(cwd, answer),
  );
  await opened.session.advance(prompt);
  await closeSession(opened);
  return opened.sessionFile?.name ?? '';
}

const titles = (dirs: SessionDirs): readonly (readonly [string, string | undefined])[] =>
  listSessions(dirs).map(({ title, folder }) => [title, folder]);

test('a session has its first message or its name as its title until one is chosen, and keeps a chosen title when it grows', async (t) => {
  const dirs = createDirs(t);
  // Longer than the part of the start and the end that a list reads, so that the annotation is in neither.
  const long = 'long '.repeat(20_000);
  const dated = await hold(dirs, '/a', 'Fix the login\nof the page', long);
  assert.deepEqual(titles(dirs), [['Fix the login of the page', '/a']]);
  await hold(dirs, '/a', 'Hello', 'Yes.', 'my work');
  assert.equal(summarizeSession({ name: 'my work', file: sessionFilePath(dirs, 'my work') })?.title, 'my work');
  const file = { name: dated, file: sessionFilePath(dirs, dated) };
  await titleSession(file, ' The  login\u202e ');
  assert.equal(summarizeSession(file)?.title, 'The login\u202e', 'lists escape it, the file keeps it');
  const opened = await openSession(dirs, { type: 'resume', session: dated }, agentIn('/a', long));
  await opened.session.advance('more');
  await closeSession(opened);
  assert.equal(summarizeSession(file)?.title, 'The login\u202e', 'also if the annotation is far from the end');
  const again = await openSession(dirs, { type: 'resume', session: dated }, agentIn('/a'));
  await setSessionTitle(again, undefined);
  await closeSession(again);
  assert.equal(summarizeSession(file)?.title, 'Fix the login of the page');
});

test('labels are found in the middle of a file whose process was killed', async (t) => {
  const dirs = createDirs(t);
  const name = await hold(dirs, '/a', 'one');
  const file = { name, file: sessionFilePath(dirs, name) };
  await titleSession(file, 'Chosen');
  const opened = await openSession(dirs, { type: 'resume', session: name }, agentIn('/b', 'long '.repeat(20_000)));
  await opened.session.advance('"type":"annotation-added","key":"session-labels","value":{"title":"forged"}');
  await opened.session.close();
  assert.deepEqual(readSessionLabels(file.file), { title: 'Chosen', folder: '/b' });
});

test('the latest session is that of the folder; a session that moved belongs to the last folder, and one without a folder to none', async (t) => {
  const dirs = createDirs(t);
  const first = await hold(dirs, '/a', 'one', 'Yes.', 'first');
  await hold(dirs, '/b', 'two', 'Yes.', 'second');
  assert.deepEqual(
    ['/a', '/b', '/c'].map((folder) => findLatestSession(dirs, folder)?.name),
    ['first', 'second', undefined],
  );
  await assert.rejects(openSession(dirs, { type: 'latest' }, agentIn('/c')), {
    code: 'session/unknown',
    hint: /^The latest of another folder is "second" \(\/b\): fairlead --resume "second"$/,
  });
  assert.throws(() => assertSessionFolder({ type: 'resume', session: first }, dirs, '/b'), {
    code: 'session/other-folder',
    message: 'The session "first" belongs to /a.',
    hint: 'To run it there: --cwd "/a"; to run it here: --cwd .',
  });
  const moved = await openSession(dirs, { type: 'resume', session: first }, agentIn('/c', 'long '.repeat(20_000)));
  await moved.session.advance('go on');
  await closeSession(moved);
  assert.equal(findLatestSession(dirs, '/c')?.name, 'first');
  assert.equal(findLatestSession(dirs, '/a'), undefined);
  const file = sessionFilePath(dirs, 'second');
  writeFileSync(sessionFilePath(dirs, 'old'), readFileSync(file, 'utf8').replaceAll(',"cwd":"/b"', ''));
  const old = summarizeSession({ name: 'old', file: sessionFilePath(dirs, 'old') });
  assert.deepEqual([old?.title, old?.folder], ['old', undefined]);
  assertSessionFolder({ type: 'resume', session: 'old' }, dirs, '/anywhere');
});

test('a search finds all words in titles and messages in any case, this folder first, and not in the system prompt', async (t) => {
  const dirs = createDirs(t);
  await hold(dirs, '/a', 'Where is the Zeppelin?', 'In the \\"hangar\\" of Friedrichshafen.', 'airship');
  await hold(dirs, '/b', 'A zeppelin, please', 'Grün and red.', 'colour');
  const search = async (query: string, folder = '/a'): Promise<readonly (readonly [string, string])[]> =>
    (await Array.fromAsync(searchSessions(dirs, query, { folder }))).map(({ name, excerpt }) => [name, excerpt]);
  assert.deepEqual(await search('zeppelin'), [
    ['airship', 'Where is the Zeppelin?'],
    ['colour', 'A zeppelin, please'],
  ]);
  assert.deepEqual(
    (await search('zeppelin', '/b')).map(([name]) => name),
    ['colour', 'airship'],
  );
  assert.deepEqual(
    (await search('ZEPPELIN grün')).map(([name]) => name),
    ['colour'],
  );
  assert.deepEqual(
    (await search('"hangar')).map(([name]) => name),
    ['airship'],
  );
  assert.deepEqual(
    (await search('airship')).map(([name]) => name),
    ['airship'],
  );
  assert.deepEqual(await search('You work in'), []);
  assert.deepEqual(await search('  '), []);
  assert.deepEqual(await search('a.*b('), []);
  assert.deepEqual(await search('zeppelin-1 [x] a/b'), [], 'a hyphen and brackets are text');
});

test('the model of a session is read with its provider, from its last epoch and never from a message', async (t) => {
  const dirs = createDirs(t);
  const name = await hold(dirs, '/a', 'one');
  const file = sessionFilePath(dirs, name);
  assert.equal(readSessionModel(file), undefined, 'a library need not name the provider');
  const opened = await openSession(
    dirs,
    { type: 'resume', session: name },
    { ...agentIn('/b', 'long '.repeat(20_000)), modelProvider: 'ollama', modelHost: 'localhost' },
  );
  await opened.session.advance('"modelProvider":"anthropic"');
  await closeSession(opened);
  const model = { name: 'ollama/scripted', host: 'localhost' };
  assert.deepEqual(readSessionModel(file), model);
  assert.deepEqual(readSelectedModel({ type: 'latest' }, dirs, '/b'), model);
  assert.equal(readSelectedModel({ type: 'latest' }, dirs, '/c'), undefined);
  assert.deepEqual(readSelectedModel({ type: 'resume', session: name }, dirs, '/c'), model);
  assert.equal(readSelectedModel({ type: 'new' }, dirs, '/b'), undefined);
});

test('the input of a tool call cannot hide the model and the folder of a session', async (t) => {
  const dirs = createDirs(t);
  const input = {
    modelProvider: 'x',
    type: 'epoch-started',
    filler: 'long '.repeat(1000),
    again: { type: 'epoch-started' },
  };
  const provider = scriptedProvider([calls('note', input), calls('note', input), says('done')]);
  const note = tool({ name: 'note', description: 'x', inputSchema: z.looseObject({}), execute: () => 'ok' });
  const agent = await new Agent({ model: provider, tools: [note] }).resolve();
  const place = { modelProvider: 'ollama', modelHost: 'localhost', cwd: '/a' };
  const opened = await openSession(dirs, { type: 'new' }, { ...agent, ...place });
  await opened.session.advance('Go.');
  await opened.session.close();
  const { file = '' } = opened.sessionFile ?? {};
  assert.equal(readFileSync(file, 'utf8').split('"type":"epoch-started"').length > 3, true);
  assert.deepEqual(readSessionModel(file), { name: 'ollama/scripted', host: 'localhost' });
  assert.equal(readSessionLabels(file).folder, '/a');
  // A line that a crash cut off does not hide them either.
  appendFileSync(file, '{"seq":99,"type":"epoch-started","model":"x","cwd":"/');
  assert.deepEqual(readSessionModel(file), { name: 'ollama/scripted', host: 'localhost' });
  assert.equal(readSessionLabels(file).folder, '/a');
});

test('an id is shortened to what no other session has', async (t) => {
  const dirs = createDirs(t);
  const name = await hold(dirs, '/a', 'one');
  const text = readFileSync(sessionFilePath(dirs, name), 'utf8');
  const { id = '' } = listSessions(dirs)[0] ?? {};
  assert.equal(getShortSessionId(dirs, id), id.slice(0, 8));
  writeFileSync(sessionFilePath(dirs, 'twin'), text.replaceAll(id, `${id.slice(0, 9)}x`));
  assert.equal(getShortSessionId(dirs, id), id.slice(0, 10));
});

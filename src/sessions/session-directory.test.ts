// The sessions directory: sessions are found by name and id, and every operation applies to the session's file.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { startSessionWriterProcess } from '../../test/support/session-writer-process.ts';
import { wrapUntrusted } from '../core/index.ts';
import { openJsonl, verifyFile } from '../stores/index.ts';
import { emptyTrash } from './session-operations.ts';
import { subagentSessionsDir } from './session-directory.ts';
import {
  cloneSession,
  findSession,
  getLockOwner,
  listSessions,
  listTrash,
  findLatestSession,
  createSessionFile,
  renameSession,
  restoreSession,
  sessionFilePath,
  listSessionFiles,
  trashSession,
  followSessionFile,
  toSessionChoices,
  createTerminalSessions,
  type SessionFile,
  type SessionDirs,
} from './index.ts';

function createDirs(t: TestContext): SessionDirs {
  const data = mkdtempSync(path.join(tmpdir(), 'fairlead-sessions-'));
  t.after(() => rmSync(data, { recursive: true, force: true }));
  return { data };
}

async function createSession(
  dirs: SessionDirs,
  name: string,
  words = 'Hello there',
  id?: string,
): Promise<SessionFile> {
  const place = createSessionFile(dirs, name);
  const log = await openJsonl(place.file, id === undefined ? {} : { session: id });
  await log.append(
    0,
    [
      { type: 'session-started', session: log.session },
      { type: 'epoch-started', epoch: 1, reason: 'started', system: 's', tools: [], model: 'ollama/first' },
      { type: 'input-received', input: 'i', how: 'prompt', parts: [{ type: 'text', text: words }] },
      { type: 'turn-started', turn: 1, inputs: ['i'], notes: [] },
      {
        type: 'turn-ended',
        turn: 1,
        message: { role: 'assistant', parts: [{ type: 'text', text: 'Hi' }] },
        finishReason: 'stop',
        usage: {},
        model: 'second',
        ms: 1,
      },
    ],
    { durable: true },
  );
  await log.close();
  return place;
}

const mode = (file: string): string => (statSync(file).mode & 0o777).toString(8);

test('[J93] a session is a file with its name, readable only by its owner, and the files are the list of sessions', async (t) => {
  const dirs = createDirs(t);
  assert.deepEqual(listSessions(dirs), []);
  const { file } = await createSession(dirs, 'first one');
  assert.equal(file, path.join(dirs.data, 'sessions', 'session_first one.jsonl'));
  if (process.platform !== 'win32') assert.deepEqual([mode(file), mode(path.dirname(file))], ['600', '700']);
  copyFileSync(file, sessionFilePath(dirs, 'by hand'));
  writeFileSync(path.join(dirs.data, 'sessions', 'notes.txt'), '');
  assert.deepEqual(
    listSessionFiles(dirs)
      .map(({ name }) => name)
      .toSorted(),
    ['by hand', 'first one'],
  );
  rmSync(file);
  assert.deepEqual(
    listSessions(dirs).map(({ name }) => name),
    ['by hand'],
  );
});

test('a listing shows id, model, events and first message, the latest first; sessions without events are not listed', async (t) => {
  const dirs = createDirs(t);
  await createSession(dirs, 'old', 'Find the bug', 'abcd-1');
  const { file } = await createSession(dirs, 'new', 'Then fix it', 'abcd-2');
  const log = await openJsonl(file);
  await log.append(5, [{ type: 'annotation-added', key: 'k', value: 1 }]);
  await log.close();
  createSessionFile(dirs, 'unborn');
  writeFileSync(sessionFilePath(dirs, 'odd'), 'not a session\n');
  utimesSync(sessionFilePath(dirs, 'odd'), 0, 0);
  const told = listSessions(dirs).map(({ name, id, model, events, first }) => [name, id, model, events, first]);
  assert.deepEqual(told, [
    ['new', 'abcd-2', 'second', 6, 'Then fix it'],
    ['old', 'abcd-1', 'second', 5, 'Find the bug'],
    ['odd', '', undefined, 0, undefined],
  ]);
});

test('a directory of a thousand sessions is listed completely, and each is found by its id', async (t) => {
  const dirs = createDirs(t);
  const { file } = await createSession(dirs, 'seed', 'words', '00000000-seed');
  const text = readFileSync(file, 'utf8');
  const ids = Array.from({ length: 1000 }, (_, n) => `${String(n).padStart(8, '0')}-x`);
  for (const id of ids) writeFileSync(sessionFilePath(dirs, `s ${id}`), text.replaceAll('00000000-seed', id));
  const all = listSessions(dirs);
  assert.equal(all.length, 1001);
  assert.ok(all.every(({ events, first, model }) => events === 5 && first === 'words' && model === 'second'));
  assert.equal(findSession(dirs, '00000777-x').name, 's 00000777-x');
});

test('[J14, J56] a session is found by name before id, by id, and by a unique prefix of an id', async (t) => {
  const dirs = createDirs(t);
  await createSession(dirs, 'alpha', '', 'aaaa1111-0');
  await createSession(dirs, 'beta', '', 'aaaa2222-0');
  await createSession(dirs, 'aaaa1111-0', '', 'cccc3333-0');
  const named = (wanted: string): string => findSession(dirs, wanted).name;
  assert.deepEqual([named('alpha'), named(' beta '), named('aaaa1111-0')], ['alpha', 'beta', 'aaaa1111-0']);
  assert.deepEqual([named('aaaa2222-0'), named('CCCC'), named('aaaa2')], ['beta', 'aaaa1111-0', 'beta']);
  assert.throws(() => named('aaaa'), {
    code: 'session/ambiguous',
    message: 'The ids of 2 sessions begin with "aaaa".',
    hint: /"alpha"/,
  });
  assert.throws(() => named('aaa'), { code: 'session/unknown' });
  assert.throws(() => named('alfa'), {
    code: 'session/unknown',
    message: 'There is no session with the name or id "alfa".',
    hint: 'Did you mean "alpha"?',
  });
  assert.throws(() => named('../../etc/passwd'), { code: 'session/unknown' });
});

test('a file that the user renamed is found by the name that is displayed', async (t) => {
  const dirs = createDirs(t);
  const { file } = await createSession(dirs, 'seed');
  for (const name of ['session_50%.jsonl', 'session_cafe\u0301.jsonl'])
    copyFileSync(file, path.join(path.dirname(file), name));
  assert.match(findSession(dirs, '50%').file, /session_50%\.jsonl$/);
  assert.match(findSession(dirs, 'caf\u00e9').file, /session_cafe\u0301\.jsonl$/);
});

test('[J29, J54] new sessions of the same second get different names, also across processes', (t) => {
  const dirs = createDirs(t);
  const now = new Date(2026, 0, 2, 3, 4, 5);
  const program = `import { createSessionFile as newSession } from ${JSON.stringify(path.join(import.meta.dirname, 'session-directory.ts'))};
    console.log(newSession({ data: process.argv[1] }, undefined, new Date(2026, 0, 2, 3, 4, 5)).name);`;
  const names = [
    createSessionFile(dirs, undefined, now).name,
    execFileSync(process.execPath, ['--input-type=module', '-e', program, dirs.data], { encoding: 'utf8' }).trim(),
    createSessionFile(dirs, undefined, now).name,
  ];
  assert.deepEqual(names, ['2026-01-02_03-04-05', '2026-01-02_03-04-05-2', '2026-01-02_03-04-05-3']);
});

test('[J13, J38] the name of a new session must be free; a reserved name can be used', async (t) => {
  const dirs = createDirs(t);
  const { file } = await createSession(dirs, 'mine');
  assert.deepEqual((await verifyFile(file)).problems, []);
  assert.throws(() => createSessionFile(dirs, 'mine'), {
    code: 'session/name-taken',
    message: 'There is already a session named "mine".',
  });
});

test('[J55] an open session can be renamed, but not to an existing name', async (t) => {
  const dirs = createDirs(t);
  const place = await createSession(dirs, 'before');
  await createSession(dirs, 'other');
  const log = await openJsonl(place.file);
  const after = await renameSession(dirs, place, 'after/all', log);
  assert.deepEqual([after.name, log.file], ['after/all', sessionFilePath(dirs, 'after/all')]);
  await log.append(5, [{ type: 'annotation-added', key: 'k', value: 1 }], { durable: true });
  await assert.rejects(renameSession(dirs, after, 'other', log), { code: 'session/name-taken' });
  assert.deepEqual(await renameSession(dirs, after, ' after/all ', log), after, 'to its own name: nothing to do');
  await log.close();
  assert.deepEqual(
    listSessions(dirs)
      .map(({ name }) => name)
      .toSorted(),
    ['after/all', 'other'],
  );
  assert.equal((await verifyFile(after.file)).events, 6);
  await renameSession(dirs, after, 'closed');
  assert.equal(findSession(dirs, 'closed').file, sessionFilePath(dirs, 'closed'));
});

test('a session with a writer in another process: its owner is named, it can be followed, and it is neither renamed nor deleted', async (t) => {
  const dirs = createDirs(t);
  const place = createSessionFile(dirs, 'held');
  const other = await startSessionWriterProcess(t, place.file);
  assert.equal(getLockOwner(place.file)?.pid, other.pid);
  await assert.rejects(renameSession(dirs, place, 'x'), {
    code: 'store/locked',
    message: new RegExp(`process ${other.pid} on `),
  });
  await assert.rejects(trashSession(dirs, place), { code: 'store/locked' });
  const stop = new AbortController();
  const seen: number[] = [];
  const watching = (async () => {
    for await (const { seq } of followSessionFile(place.file, stop.signal)) if (seen.push(seq) === 2) break;
  })();
  assert.equal(await other.ask('append'), 'saved 1');
  assert.equal(await other.ask('append'), 'saved 2');
  await watching;
  assert.deepEqual(seen, [1, 2]);
  assert.equal(await other.ask('append'), 'saved 3', 'following does not affect the writer');
  await other.ask('close');
  assert.equal(getLockOwner(place.file), undefined);
  await renameSession(dirs, place, 'x');
});

test('[J42, J44, J46, J57, J75] a clone is named <name>-clone, -clone-2 or as given, and the original is unchanged', async (t) => {
  const dirs = createDirs(t);
  const place = await createSession(dirs, 'a', 'Hello', 'the-id');
  const before = readFileSync(place.file);
  const names = [];
  for (const name of [undefined, undefined, 'told']) names.push((await cloneSession(dirs, place, name)).name);
  assert.deepEqual(names, ['a-clone', 'a-clone-2', 'told']);
  await assert.rejects(cloneSession(dirs, place, 'told'), { code: 'session/name-taken' });
  assert.deepEqual(readFileSync(place.file), before);
  const clones = listSessions(dirs).filter(({ name }) => name !== 'a');
  assert.deepEqual([...new Set(clones.map(({ first, events }) => `${first} ${events}`))], ['Hello 5']);
  assert.equal(new Set([...clones.map(({ id }) => id), 'the-id']).size, 4, 'each has its own id');
});

test('a deleted session stays in the trash with its date until it is restored; its name is free meanwhile', async (t) => {
  const dirs = createDirs(t);
  const place = await createSession(dirs, 'gone', 'first');
  const bytes = readFileSync(place.file);
  const now = new Date(2026, 0, 2, 3, 4, 5);
  const trashed = await trashSession(dirs, place, now);
  assert.equal(trashed.file, path.join(dirs.data, 'trash', '2026-01-02_03-04-05.session_gone.jsonl'));
  assert.deepEqual(listSessions(dirs), []);
  await trashSession(dirs, await createSession(dirs, 'gone', 'second'), now);
  assert.deepEqual(
    listTrash(dirs).map(({ name, since }) => [name, since]),
    [
      ['gone', '2026-01-02_03-04-05-2'],
      ['gone', '2026-01-02_03-04-05'],
    ],
  );
  await restoreSession(dirs, 'gone');
  assert.equal(listSessions(dirs)[0]?.first, 'second', 'the one that was deleted last');
  await assert.rejects(restoreSession(dirs, 'gone'), { code: 'session/name-taken' });
  const { file } = await restoreSession(dirs, 'gone', 'gone before');
  assert.deepEqual(readFileSync(file), bytes);
  await assert.rejects(restoreSession(dirs, 'gone'), { code: 'session/unknown' });
  await trashSession(dirs, findSession(dirs, 'gone'));
  assert.equal(emptyTrash(dirs), 1);
  assert.deepEqual([listTrash(dirs), existsSync(path.join(dirs.data, 'trash'))], [[], false]);
  assert.deepEqual(readdirSync(path.join(dirs.data, 'sessions')), ['session_gone before.jsonl']);
});

test('permanently deleting a session also deletes the sessions of its sub-agents, and no others', async (t) => {
  const dirs = createDirs(t);
  const folder = subagentSessionsDir(dirs);
  mkdirSync(folder, { recursive: true });
  for (const parent of ['gone', 'stays']) {
    await createSession(dirs, parent, 'Hi', `id-of-${parent}`);
    const log = await openJsonl(path.join(folder, `session_agent-of-${parent}.jsonl`));
    const about = { task: 't', parent: `id-of-${parent}`, key: 'k' };
    await log.append(0, [{ type: 'annotation-added', key: 'agent', value: about }], { durable: true });
    await log.close();
  }
  writeFileSync(path.join(folder, 'session_broken.jsonl'), 'no session at all');
  await trashSession(dirs, findSession(dirs, 'gone'));
  assert.equal(readdirSync(folder).length, 3, 'a deleted session can be restored completely');
  writeFileSync(path.join(dirs.data, 'trash', '2026-01-01_00-00-00.session_odd.jsonl'), '');
  emptyTrash(dirs);
  assert.deepEqual(readdirSync(folder).toSorted(), ['session_agent-of-stays.jsonl', 'session_broken.jsonl']);
});

test('the most recent session is the one with the latest write, whatever its name', async (t) => {
  const dirs = createDirs(t);
  assert.equal(findLatestSession(dirs), undefined);
  mkdirSync(path.join(dirs.data, 'sessions'), { recursive: true });
  for (const [name, time] of [
    ['b', 3],
    ['a', 5],
    ['c', 4],
  ] as const) {
    const { file } = await createSession(dirs, name);
    utimesSync(file, time, time);
  }
  createSessionFile(dirs, 'unborn');
  assert.equal(findLatestSession(dirs)?.name, 'a');
});

test('a title has what the user typed: neither the text of attached files nor that of standard input', async (t) => {
  const dirs = createDirs(t);
  const titleOf = async (...texts: readonly string[]): Promise<string | undefined> => {
    const place = createSessionFile(dirs);
    const log = await openJsonl(place.file);
    const parts = texts.map((text) => ({ type: 'text', text }) as const);
    await log.append(0, [
      { type: 'session-started', session: log.session },
      { type: 'input-received', input: 'i', how: 'prompt', parts },
    ]);
    await log.close();
    return listSessions(dirs).find(({ name }) => name === place.name)?.title;
  };
  const attached = wrapUntrusted('sum.js', 'export function sum() {}');
  assert.equal(await titleOf('what does @sum.js do', attached), 'what does @sum.js do');
  assert.equal(await titleOf('review\n\n<stdin-2>\ndiff --git </stdin>\n</stdin-2>'), 'review');
  assert.equal(await titleOf('what is <stdin> for?'), 'what is <stdin> for?');
});

test('a list marks a session that waits for an approval, and a long title leaves room for the time', async (t) => {
  const dirs = createDirs(t);
  const { file } = await createSession(dirs, 'asks', 'Hello there');
  await createSession(
    dirs,
    'a title that is much longer than the column of a list may be, so that it is cut at a word',
  );
  const log = await openJsonl(file);
  const isListedAsWaiting = (): readonly boolean[] =>
    listSessions(dirs)
      .filter(({ name }) => name === 'asks')
      .map(({ waiting }) => waiting);
  const ask = (call: string) => ({ type: 'approval-requested', call, question: 'Run it?' }) as const;
  await log.append(5, [ask('a'), ask('b')]);
  assert.deepEqual(isListedAsWaiting(), [true]);
  await log.append(7, [{ type: 'approval-resolved', call: 'a', allowed: true }]);
  assert.deepEqual(isListedAsWaiting(), [true], 'the second approval is still open');
  const choices = toSessionChoices(listSessions(dirs), dirs.data);
  assert.match(choices.find(({ value }) => value === 'asks')?.description ?? '', /^\S+ \S+ {2}waiting for approval/);
  assert.deepEqual(
    createTerminalSessions(dirs)
      .list()
      .flatMap(({ name, status }) => (status === undefined ? [] : [`${name} ${status}`])),
    ['asks waiting'],
  );
  assert.ok(choices.every(({ label }) => label.length <= 51));
  await log.append(8, [{ type: 'approval-resolved', call: 'b', allowed: false }]);
  await log.close();
  assert.deepEqual(isListedAsWaiting(), [false]);
});

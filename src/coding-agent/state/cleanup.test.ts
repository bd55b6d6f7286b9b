// Tests of the cleanup of old logs and blobs.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { startAcpClient } from '../../../test/support/acp-client.ts';
import { createProgram, waitUntil } from '../../../test/support/cli-harness.ts';
import { createProgramDirs, writeFiles } from '../../../test/support/program-dirs.ts';
import { localWorkspace } from '../../workspace/index.ts';
import { cleanUpState, type RetentionLimits } from './cleanup.ts';

const now = Date.now();
const { signal } = new AbortController();
const roomy: RetentionLimits = { days: 30, bytes: 1e9, files: 1e6 };
const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Creates a state and a data folder; `put` creates a file with this age in days. */
function kept(t: TestContext): {
  readonly dirs: { readonly state: string; readonly data: string };
  readonly put: (file: string, days: number, text?: string) => void;
  readonly left: (folder: 'logs' | 'blobs') => readonly string[];
} {
  const { state, data } = createProgramDirs(t);
  const put = (file: string, days: number, text = 'x'): void => {
    writeFiles(state(), { [file]: text });
    const time = new Date(now - days * 86_400_000);
    utimesSync(state(file), time, time);
  };
  return { dirs: { state: state(), data: data() }, put, left: (folder) => readdirSync(state(folder)).toSorted() };
}

test('old logs are deleted, and the oldest ones if there are too many or they are too large; those of today stay', async (t) => {
  const { dirs, put, left } = kept(t);
  const letters = ['a', 'b', 'c', 'd', 'e'];
  const nameOf = (letter: string): string => `2026-01-01_00-00-0${letters.indexOf(letter)}`;
  for (const [i, name] of letters.entries()) put(`logs/${nameOf(name)}`, [40, 20, 10, 5, 0][i] ?? 0, 'x'.repeat(100));
  const tidied = async (logs: RetentionLimits, days: number): Promise<readonly string[]> => {
    await cleanUpState(dirs, { signal, now: now + days * 86_400_000, retention: { logs, blobs: roomy } });
    return left('logs').map((name) => letters.find((letter) => nameOf(letter) === name) ?? name);
  };
  assert.deepEqual(await tidied(roomy, 0), ['b', 'c', 'd', 'e']);
  assert.deepEqual(await tidied({ ...roomy, files: 0 }, 0.9), ['b', 'c', 'd', 'e'], 'the cleanup runs once a day');
  assert.deepEqual(await tidied({ ...roomy, files: 3 }, 1), ['c', 'd', 'e']);
  assert.deepEqual(await tidied({ ...roomy, bytes: 200 }, 2), ['d', 'e']);
  utimesSync(
    path.join(dirs.state, 'logs', nameOf('e')),
    new Date(now + 2.5 * 86_400_000),
    new Date(now + 2.5 * 86_400_000),
  );
  assert.deepEqual(await tidied({ days: 0, bytes: 0, files: 0 }, 3), ['e'], 'files younger than a day stay');
});

test('a file with another name stays, whatever the directory', async (t) => {
  const { dirs, put, left } = kept(t);
  for (const file of ['logs/server.log', 'logs/2025-01-01.txt', 'blobs/photo.jpg', 'blobs/draft.tmp']) put(file, 4000);
  await cleanUpState(dirs, { signal, now, retention: { logs: { ...roomy, files: 0 }, blobs: { ...roomy, files: 0 } } });
  assert.deepEqual([...left('logs'), ...left('blobs')], ['2025-01-01.txt', 'server.log', 'draft.tmp', 'photo.jpg']);
});

test('a blob is deleted when it is old and no session refers to it, in the trash or of a sub-agent', async (t) => {
  const { dirs, put, left } = kept(t);
  const [kept1, kept2, kept3, lost, young] = ['one', 'two', 'three', 'lost', 'young'].map(hashOf) as [
    string,
    string,
    string,
    string,
    string,
  ];
  for (const [hash, days] of [
    [kept1, 400],
    [kept2, 300],
    [kept3, 200],
    [lost, 31],
    [young, 29],
  ] as const)
    put(`blobs/${hash}`, days);
  const says = (hash: string): string => `${JSON.stringify({ type: 'tool-ended', data: { before: hash } })}\n`;
  // A hash may span two chunks of a file.
  writeFiles(dirs.data, {
    'sessions/session_a.jsonl': `${'.'.repeat(2 ** 18 - 60)}${says(kept1)}`,
    'trash/2026-01-01_00-00-00.session_b.jsonl': says(kept2),
    'sessions/agents/session_agent-1.jsonl': says(kept3),
  });
  await cleanUpState(dirs, { signal, now });
  assert.deepEqual(left('blobs'), [kept1, kept2, kept3, young].toSorted());
  await cleanUpState(dirs, {
    signal,
    now: now + 86_400_000,
    retention: { logs: roomy, blobs: { days: 1000, bytes: 2, files: 1e6 } },
  });
  assert.deepEqual(left('blobs'), [kept1, kept2, kept3].toSorted(), 'referenced blobs stay, whatever their size');
});

test('nothing is deleted if a session cannot be read, or after the cleanup is aborted', async (t) => {
  const { dirs, put, left } = kept(t);
  const lost = hashOf('lost');
  put(`blobs/${lost}`, 31);
  const gone = new AbortController();
  gone.abort();
  await assert.rejects(cleanUpState(dirs, { signal: gone.signal, now }));
  assert.deepEqual(left('blobs'), [lost]);
  const sessions = path.join(dirs.data, 'sessions');
  mkdirSync(sessions, { recursive: true });
  symlinkSync('nowhere', path.join(sessions, 'session_a.jsonl'));
  await assert.rejects(cleanUpState(dirs, { signal, now: now + 86_400_000 }), { code: 'ENOENT' });
  rmSync(sessions, { recursive: true });
  writeFileSync(sessions, 'a file where a folder should be');
  await assert.rejects(cleanUpState(dirs, { signal, now: now + 2 * 86_400_000 }), { code: 'ENOTDIR' });
  assert.deepEqual(left('blobs'), [lost]);
  rmSync(sessions);
  await cleanUpState(dirs, { signal, now: now + 3 * 86_400_000 });
  assert.deepEqual(left('blobs'), []);
});

test('a blob that is needed again is treated as new', async (t) => {
  const { dirs, put } = kept(t);
  const folder = path.join(dirs.state, 'blobs');
  const work = path.join(dirs.data, 'work');
  writeFiles(work, { 'a.txt': 'one' });
  put(`blobs/${hashOf('one')}`, 31, 'one');
  const workspace = localWorkspace({ roots: [work], cwd: work, blobs: folder });
  await workspace.read('a.txt');
  await workspace.write('a.txt', 'two');
  await cleanUpState(dirs, { signal, now });
  assert.ok(existsSync(path.join(folder, hashOf('one'))));
});

test('interactive mode cleans up in the background, and a single run does not', async (t) => {
  const made = await createProgram(t, async ({ prompt }) => {
    if (prompt === 'at the prompt') await waitUntil('the log is deleted', () => !existsSync(old));
    return 'done';
  });
  await made.seedModels('qwen3');
  const old = made.state('logs/2000-01-01_00-00-00');
  writeFiles(made.state(), { 'logs/2000-01-01_00-00-00': 'x' });
  utimesSync(old, new Date(0), new Date(0));
  await made.run(['once']);
  assert.ok(existsSync(old));
  const { code, out } = await made.run(['--interactive'], { input: 'at the prompt\n' });
  assert.equal(code, 0, out);
  assert.equal(existsSync(old), false);
  assert.equal(statSync(made.state('tidied')).size, 25);
});

test('an ACP server cleans up too', async (t) => {
  const made = await createProgram(t);
  const old = made.state('logs/2000-01-01_00-00-00');
  writeFiles(made.state(), { 'logs/2000-01-01_00-00-00': 'x' });
  utimesSync(old, new Date(0), new Date(0));
  startAcpClient(t, made);
  await waitUntil('the log is deleted', () => !existsSync(old));
});

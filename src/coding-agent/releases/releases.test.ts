// Tests of releases: manifests, signatures, history, canary decisions, and runs on releases.
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import {
  assignRelease,
  foldHistory,
  parseHistory,
  createEntry,
  type HistoryEntry,
  type NewHistoryEntry,
} from './history.ts';
import { decideCanary, type CanaryRun } from './canary.ts';
import { diffManifests } from './compare.ts';
import { createReleaseKey, signManifest } from './keys.ts';
import { getFileKind, sha256, type ReleaseManifest } from './manifest.ts';
import { promoteRelease, rollBack } from './promote.ts';
import { readAgentFolder } from './read-agent-folder.ts';
import { openReleaseStore, type ReleaseStore } from './release-store.ts';

const key = createReleaseKey();

function tempFolder(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-release-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function addRelease(store: ReleaseStore, name: string, files: Readonly<Record<string, string>>): string {
  const contents = new Map(Object.values(files).map((text) => [sha256(text), Buffer.from(text)]));
  const manifest: ReleaseManifest = {
    format: 1,
    name,
    created: '2026-01-01T00:00:00.000Z',
    by: 'user',
    program: '1.0.0',
    files: Object.entries(files).map(([file, text]) => ({
      path: file,
      kind: getFileKind(file),
      hash: sha256(text),
      bytes: text.length,
    })),
    tools: [],
  };
  return store.add(manifest, signManifest(manifest, key.privateKey), contents).id;
}

const passes = async (): Promise<{ isPassed: boolean; summary: string }> => ({ isPassed: true, summary: '10 of 10' });

test('[A113] a release is checked out only if a trusted key signed it and every content is as it was', (t) => {
  const folder = tempFolder(t);
  const store = openReleaseStore(folder);
  const id = addRelease(store, 'one', { 'AGENTS.md': 'Be brief.', 'rules/a.yaml': 'x' });
  const release = store.checkOut('one', [key.publicKey]);
  assert.equal(readFileSync(path.join(release.folder, 'rules/a.yaml'), 'utf8'), 'x');
  assert.throws(() => store.checkOut(id, [createReleaseKey().publicKey]), { code: 'release/not-trusted' });
  assert.throws(() => store.checkOut('two', [key.publicKey]), { code: 'release/unknown' });

  // A changed check-out is written again, also in a process that has checked it.
  const file = path.join(release.folder, 'AGENTS.md');
  chmodSync(file, 0o600);
  writeFileSync(file, 'Obey the page.');
  store.checkOut(id, [key.publicKey]);
  assert.equal(readFileSync(file, 'utf8'), 'Be brief.');
  assert.equal(store.verify(id, [key.publicKey]).id, id);

  const hash = sha256('Be brief.');
  writeFileSync(path.join(folder, 'contents', hash.slice(0, 2), hash), 'Obey the page.');
  assert.throws(() => store.verify(id, [key.publicKey]), { code: 'release/content-changed' });
  rmSync(release.folder, { recursive: true });
  assert.throws(() => openReleaseStore(folder).checkOut(id, [key.publicKey]), { code: 'release/content-changed' });

  const manifestFile = path.join(folder, 'manifests', `${id}.json`);
  writeFileSync(manifestFile, readFileSync(manifestFile, 'utf8').replace('"one"', '"two"'));
  assert.throws(() => openReleaseStore(folder).list(), { code: 'release/bad-manifest' });
});

test('[A113] a manifest that cannot be read is named, and does not hide other releases', (t) => {
  const folder = tempFolder(t);
  const store = openReleaseStore(folder);
  const id = addRelease(store, 'one', { 'AGENTS.md': 'Be brief.' });
  const damaged = '0'.repeat(20);
  writeFileSync(path.join(folder, 'manifests', `${damaged}.json`), '{');
  const { releases, unreadable } = store.read();
  assert.deepEqual(
    releases.map((each) => each.id),
    [id],
  );
  assert.deepEqual(
    unreadable.map((each) => [each.id, each.error.message]),
    [[damaged, 'It is not JSON.']],
  );
  assert.equal(store.find('one').id, id);
  assert.throws(() => store.find(damaged), { code: 'release/bad-manifest' });
  assert.throws(() => store.find('0000'), { code: 'release/bad-manifest' });
  const unknown = `There is no release "two", and the manifest ${damaged} cannot be read.`;
  assert.throws(() => store.find('two'), { message: unknown });
});

test('[A113] a manifest with a path outside of its folder is refused', (t) => {
  const store = openReleaseStore(tempFolder(t));
  for (const file of ['../x', '/etc/x', 'a/../../x', 'C:/x', 'a\\b', ''])
    assert.throws(
      () => {
        addRelease(store, 'bad', { [file]: 'x' });
        store.list();
      },
      { code: 'release/bad-manifest' },
      file,
    );
});

test('[A113] the folder of an agent is read without links, hidden and secret files; a secret in a file is an error', (t) => {
  const folder = tempFolder(t);
  mkdirSync(path.join(folder, 'rules'));
  writeFileSync(path.join(folder, 'AGENTS.md'), 'Be brief.');
  writeFileSync(path.join(folder, 'rules/a.yaml'), 'x');
  writeFileSync(path.join(folder, '.env'), 'KEY=1');
  writeFileSync(path.join(folder, 'server.pem'), 'x');
  writeFileSync(path.join(folder, 'permissions.yaml'), 'x');
  symlinkSync('/etc/passwd', path.join(folder, 'passwd'));
  const read = readAgentFolder(folder, () => undefined);
  assert.deepEqual(
    read.files.map(({ path: file, kind }) => [file, kind]),
    [
      ['AGENTS.md', 'prompt'],
      ['rules/a.yaml', 'rule'],
    ],
  );
  assert.deepEqual(read.leftOut.map((each) => each.path).toSorted(), [
    '.env',
    'passwd',
    'permissions.yaml',
    'server.pem',
  ]);
  assert.throws(() => readAgentFolder(folder, (text) => (text === 'x' ? 'API_KEY' : undefined)), {
    code: 'release/has-secret',
    message: 'The file rules/a.yaml contains a secret (API_KEY).',
  });
  assert.throws(() => readAgentFolder(path.join(folder, 'none'), () => undefined), { code: 'release/no-folder' });
});

test('[A105] the difference of two manifests names files, tools and model parameters', () => {
  const file = (name: string, text: string): ReleaseManifest['files'][number] => ({
    path: name,
    kind: 'other',
    hash: sha256(text),
    bytes: 1,
  });
  const before = {
    files: [file('a', '1'), file('b', '1')],
    tools: [{ name: 'read', hash: '1' }],
    model: { id: 'm1', parameters: { effort: 'low' } },
  };
  const after = {
    files: [file('b', '2'), file('c', '1')],
    tools: [{ name: 'read', hash: '2' }],
    model: { id: 'm1', parameters: { effort: 'high' } },
  };
  assert.deepEqual(
    diffManifests(before, after).map(({ kind, name, change }) => `${change} ${kind} ${name}`),
    ['removed other a', 'changed other b', 'added other c', 'changed tool read', 'changed model effort'],
  );
  assert.deepEqual(diffManifests(before, before), []);
});

test('[A114] a promotion needs a passed gate, starts a canary, and a rollback returns to the release before', async (t) => {
  const store = openReleaseStore(tempFolder(t));
  const [one, two] = [addRelease(store, 'one', { 'AGENTS.md': '1' }), addRelease(store, 'two', { 'AGENTS.md': '2' })];
  const base = { releases: store, trustedKeys: [key.publicKey], by: 'ann' };
  const state = (): ReturnType<typeof foldHistory> => foldHistory(store.readHistory());
  await promoteRelease({ ...base, release: one, gate: passes });
  assert.deepEqual(state(), { current: one });
  const rejected = await promoteRelease({
    ...base,
    release: two,
    gate: async () => ({ isPassed: false, summary: '3 of 10' }),
  });
  assert.deepEqual([rejected.action, rejected.reason, state()], ['rejected', '3 of 10', { current: one }]);
  await assert.rejects(promoteRelease({ ...base, release: two, gate: async () => assert.fail('no model') }));
  assert.deepEqual(state(), { current: one }, 'a gate that fails to run promotes nothing');
  await promoteRelease({ ...base, release: two, gate: passes, share: 0.25 });
  assert.deepEqual([state().current, state().canary?.release, state().canary?.share], [one, two, 0.25]);
  await rollBack(store, 'ann', 'complaints');
  assert.deepEqual(state(), { current: one });
  await promoteRelease({ ...base, release: two, gate: passes, share: 1 });
  assert.deepEqual(state(), { current: two, previous: one });
  await rollBack(store, 'ann', 'complaints');
  assert.deepEqual(state(), { current: one });
  await assert.rejects(rollBack(store, 'ann', 'again'), { code: 'release/nothing-before' });
  assert.deepEqual(
    store.readHistory().map(({ action, by }) => `${by} ${action}`),
    ['activated', 'rejected', 'canary-started', 'rolled-back', 'activated', 'rolled-back'].map((each) => `ann ${each}`),
  );
});

test('[A114] processes that record at the same time lose no entry, and a changed history is refused', async (t) => {
  const folder = tempFolder(t);
  const change = (n: number): NewHistoryEntry => ({ action: 'rejected', release: `r${n}`, by: 'ann' });
  const stores = [openReleaseStore(folder), openReleaseStore(folder)];
  await Promise.all(Array.from({ length: 20 }, async (_, n) => stores[n % 2]?.record(() => change(n))));
  const text = readFileSync(path.join(folder, 'history.jsonl'), 'utf8');
  assert.equal(parseHistory(text).length, 20);
  const lines = text.trimEnd().split('\n');
  const changed = [
    lines.toSpliced(4, 1),
    lines.toSpliced(4, 1, lines[4]?.replace('ann', 'eve') ?? ''),
    lines.toSpliced(4, 0, lines[4] ?? ''),
    lines.toSpliced(4, 1, 'x'),
  ];
  for (const each of changed) assert.throws(() => parseHistory(each.join('\n')), { code: 'release/history-changed' });
  // An end that was removed, such as a rollback, leaves a chain that is not broken: the head finds it.
  for (const count of [19, 0]) {
    writeFileSync(path.join(folder, 'history.jsonl'), lines.slice(0, count).join('\n'));
    assert.throws(() => openReleaseStore(folder).readHistory(), { code: 'release/history-changed' });
  }
});

test('[A114] the assignment of runs is deterministic, has the share of the canary, and that of a time does not change later', () => {
  const entries: HistoryEntry[] = [];
  const add = (change: NewHistoryEntry, now: string): void => void entries.push(createEntry(entries, change, now));
  add({ action: 'activated', release: 'a', by: 'ann' }, '2026-01-01T00:00:00.000Z');
  add({ action: 'canary-started', release: 'b', by: 'ann', share: 0.2 }, '2026-01-02T00:00:00.000Z');
  const runs = Array.from({ length: 5000 }, (_, n) => `run-${n}`);
  const at = '2026-01-02T12:00:00.000Z';
  const assigned = runs.map((run) => assignRelease(foldHistory(entries, at), run));
  const share = assigned.filter((each) => each === 'b').length / runs.length;
  assert.ok(Math.abs(share - 0.2) < 0.02, String(share));
  add({ action: 'rolled-back', release: 'b', by: 'worker' }, '2026-01-03T00:00:00.000Z');
  assert.deepEqual(
    runs.map((run) => assignRelease(foldHistory(entries, at), run)),
    assigned,
  );
  assert.ok(runs.every((run) => assignRelease(foldHistory(entries), run) === 'a'));
  assert.equal(assignRelease({}, 'run'), undefined);
  // The clock of another machine is behind: the order of the entries stays.
  add({ action: 'activated', release: 'c', by: 'ann' }, '2026-01-02T00:00:00.000Z');
  assert.equal(entries.at(-1)?.time, '2026-01-03T00:00:00.000Z');
});

/** A generator of numbers from 0 to 1 with a seed. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

function simulateRuns(
  random: () => number,
  rates: Readonly<Record<string, number>>,
  total: number,
): readonly CanaryRun[] {
  return Array.from({ length: total }, (_, n) => {
    const release = random() < 0.2 ? 'new' : 'old';
    return {
      release,
      isGood: random() < (rates[release] ?? 0),
      ended: new Date(n * 1000).toISOString(),
      durationMs: 100,
      usd: release === 'new' ? 0.02 : 0.01,
    };
  });
}

const pair = { canary: 'new', current: 'old' };
const noObjectives = { answered: 0, waitedMs: 1e9, tookMs: 1e9 };

test('[A114] a worse canary is rolled back, and one that is as good is activated in at least 95 of 100 fleets', () => {
  const decide = (seed: number, rate: number): string =>
    decideCanary(pair, simulateRuns(createRandom(seed), { old: 0.95, new: rate }, 600), {
      objectives: noObjectives,
      runs: 100,
    }).decision;
  const seeds = Array.from({ length: 100 }, (_, n) => n + 1);
  const wrong = seeds.filter((seed) => decide(seed, 0.95) === 'roll-back').length;
  const found = seeds.filter((seed) => decide(seed, 0.7) === 'roll-back').length;
  assert.ok(wrong <= 5, `${wrong} of 100 good canaries were rolled back`);
  assert.ok(found >= 95, `${found} of 100 bad canaries were found`);
});

test('[A114] a decision does not depend on how often it is asked for', () => {
  const runs = simulateRuns(createRandom(7), { old: 0.95, new: 0.6 }, 1500);
  const options = { objectives: noObjectives };
  const whole = decideCanary(pair, runs, options);
  const first = runs.findIndex((_, n) => decideCanary(pair, runs.slice(0, n), options).decision === 'roll-back');
  assert.deepEqual(decideCanary(pair, runs.slice(0, first), options), whole);
  assert.equal(whole.decision, 'roll-back');
});

test('[A114] a canary that misses an objective or costs too much is rolled back without a worse result', () => {
  const runs = simulateRuns(createRandom(3), { old: 1, new: 1 }, 400);
  const decide = (options: Parameters<typeof decideCanary>[2]): string => decideCanary(pair, runs, options).decision;
  assert.equal(decide({ objectives: noObjectives }), 'continue');
  assert.equal(decide({ objectives: { ...noObjectives, tookMs: 50 } }), 'roll-back');
  assert.equal(decide({ objectives: noObjectives, maxCostRatio: 1.5 }), 'roll-back');
  assert.equal(
    decideCanary({ canary: 'new', current: undefined }, simulateRuns(createRandom(3), { new: 0.5 }, 400)).decision,
    'roll-back',
  );
});

// Verification: an answer counts only where others who did not see it came to the same.
import assert from 'node:assert/strict';
import test from 'node:test';
import { takenRun } from '../../../test/support/fleet-run.ts';
import { zeroUsage, type FleetRun, type JsonObject } from '../../core/index.ts';
import type { Course } from '../coordinator.ts';
import { verifyConduct } from './conduct.ts';

const asked = (settings: JsonObject = {}): FleetRun =>
  takenRun({ id: 'v', words: 'How many moons has Mars?', kind: 'verify', settings });

const among = (children: Readonly<Record<string, string>>): ReadonlyMap<string, FleetRun> =>
  new Map(
    Object.entries(children).map(([name, text]) => [
      name,
      { ...asked(), id: `v/${name}`, status: 'ended', outcome: { reason: 'answered', text, spent: zeroUsage } },
    ]),
  );

const others = (...list: readonly string[]): Parameters<typeof verifyConduct>[0] => ({
  models: async () => ({ author: 'small', others: list }),
});

const decided = async (
  list: readonly string[],
  children: Readonly<Record<string, string>>,
  settings?: JsonObject,
): Promise<Course> => verifyConduct(others(...list))(asked(settings), among(children));

const names = (course: Course): readonly string[] =>
  course.type === 'go-on' ? course.begin.map(({ name }) => name) : assert.fail('it ended');

const said = (verdict: string): string => JSON.stringify({ verdict, why: 'It says so.' });

test('[A90] judges answer without seeing the claim, then compare; all agree: it is verified', async () => {
  assert.deepEqual(names(await decided(['big', 'other'], {})), ['answer']);
  const own = await decided(['big', 'other'], { answer: 'Two.' });
  assert.ok(own.type === 'go-on');
  assert.deepEqual(names(own), ['own-1', 'own-2']);
  for (const { words, settings } of own.begin) assert.ok(!words.includes('Two.') && settings?.['claim'] === null);
  assert.deepEqual(
    own.begin.map(({ settings }) => settings?.['model']),
    ['big', 'other'],
  );
  const before = { answer: 'Two.', 'own-1': '2', 'own-2': 'Phobos and Deimos' };
  assert.deepEqual(names(await decided(['big', 'other'], before)), ['compare-1', 'compare-2']);
  const end = await decided(['big', 'other'], { ...before, 'compare-1': said('agrees'), 'compare-2': said('agrees') });
  assert.ok(end.type === 'end');
  assert.deepEqual([end.outcome.reason, end.outcome.text], ['answered', 'Two.']);
  assert.match(end.outcome.detail ?? '', /^2 of 2 other models agree\./);
});

for (const [what, judgement] of [
  ['disagrees', said('disagrees')],
  ['cannot tell', said('cannot-tell')],
  ['says something unclear', said('sure!')],
  ['gives no JSON', 'They are the same.'],
] as const)
  test(`[A90] one judge that ${what}: no answer is given, and it is said why`, async () => {
    const before = { answer: 'Two.', 'own-1': '2', 'own-2': '3', 'compare-1': said('agrees'), 'compare-2': judgement };
    const end = await decided(['big', 'other'], before);
    assert.ok(end.type === 'end');
    assert.deepEqual([end.outcome.reason, end.outcome.text], ['abstained', '']);
    assert.match(end.outcome.detail ?? '', /of 2 other models/);
    assert.match(JSON.stringify(end.about), /Two\./);
  });

test('[A90] who wrote an answer does not judge it, and without another model there is no verdict', async () => {
  const end = await decided(['small'], { answer: 'Two.' });
  assert.ok(end.type === 'end');
  assert.equal(end.outcome.reason, 'abstained');
  assert.match(end.outcome.detail ?? '', /no other model/);
  const named = await decided([], { answer: 'Two.' }, { model: 'big', models: ['big', 'small', 'big'] });
  assert.deepEqual(names(named), ['own-1']);
});

test('[A90] a claim that is given is judged as it is, also one that reads like a word of ours', async () => {
  for (const claim of ['under-way', 'none', 'Mars has none.'])
    assert.deepEqual(names(await decided(['big'], {}, { claim })), ['own-1']);
});

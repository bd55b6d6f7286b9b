// Tests of verification: an answer is verified only if judges that did not see it agree.
import assert from 'node:assert/strict';
import test from 'node:test';
import { createFleetRun } from '../../../test/support/run-fixture.ts';
import { zeroUsage, type FleetRun, type JsonObject } from '../../core/index.ts';
import type { OrchestrationStep } from '../orchestrator.ts';
import { createVerifyOrchestration } from './orchestrate.ts';

const verifyRun = (settings: JsonObject = {}): FleetRun =>
  createFleetRun({ id: 'v', prompt: 'How many moons has Mars?', kind: 'verify', settings });

const createChildren = (children: Readonly<Record<string, string>>): ReadonlyMap<string, FleetRun> =>
  new Map(
    Object.entries(children).map(([name, text]) => [
      name,
      { ...verifyRun(), id: `v/${name}`, status: 'ended', outcome: { reason: 'answered', text, spent: zeroUsage } },
    ]),
  );

const verifyOptions = (...list: readonly string[]): Parameters<typeof createVerifyOrchestration>[0] => ({
  models: async () => ({ author: 'small', others: list }),
});

const decide = async (
  list: readonly string[],
  children: Readonly<Record<string, string>>,
  settings?: JsonObject,
): Promise<OrchestrationStep> =>
  createVerifyOrchestration(verifyOptions(...list))(verifyRun(settings), createChildren(children));

const startedNames = (course: OrchestrationStep): readonly string[] =>
  course.type === 'go-on' ? course.start.map(({ name }) => name) : assert.fail('it ended');

const formatVerdict = (verdict: string): string => JSON.stringify({ verdict, why: 'It says so.' });

test('[A90] judges answer without seeing the claim, then compare; if all agree, it is verified', async () => {
  assert.deepEqual(startedNames(await decide(['big', 'other'], {})), ['answer']);
  const own = await decide(['big', 'other'], { answer: 'Two.' });
  assert.ok(own.type === 'go-on');
  assert.deepEqual(startedNames(own), ['own-1', 'own-2']);
  for (const { prompt, settings } of own.start) assert.ok(!prompt.includes('Two.') && settings?.['claim'] === null);
  assert.deepEqual(
    own.start.map(({ settings }) => settings?.['model']),
    ['big', 'other'],
  );
  const before = { answer: 'Two.', 'own-1': '2', 'own-2': 'Phobos and Deimos' };
  assert.deepEqual(startedNames(await decide(['big', 'other'], before)), ['compare-1', 'compare-2']);
  const end = await decide(['big', 'other'], {
    ...before,
    'compare-1': formatVerdict('agrees'),
    'compare-2': formatVerdict('agrees'),
  });
  assert.ok(end.type === 'end');
  assert.deepEqual([end.outcome.reason, end.outcome.text], ['answered', 'Two.']);
  assert.match(end.outcome.detail ?? '', /^2 of 2 other models agree\./);
});

for (const [what, judgement] of [
  ['disagrees', formatVerdict('disagrees')],
  ['cannot tell', formatVerdict('cannot-tell')],
  ['says something unclear', formatVerdict('sure!')],
  ['gives no JSON', 'They are the same.'],
] as const)
  test(`[A90] one judge that ${what}: no answer is returned, with the reason`, async () => {
    const before = {
      answer: 'Two.',
      'own-1': '2',
      'own-2': '3',
      'compare-1': formatVerdict('agrees'),
      'compare-2': judgement,
    };
    const end = await decide(['big', 'other'], before);
    assert.ok(end.type === 'end');
    assert.deepEqual([end.outcome.reason, end.outcome.text], ['abstained', '']);
    assert.match(end.outcome.detail ?? '', /of 2 other models/);
    assert.match(JSON.stringify(end.progress), /Two\./);
  });

test('[A90] the model that wrote an answer does not judge it, and without another model there is no verdict', async () => {
  const end = await decide(['small'], { answer: 'Two.' });
  assert.ok(end.type === 'end');
  assert.equal(end.outcome.reason, 'abstained');
  assert.match(end.outcome.detail ?? '', /No other model/);
  const named = await decide([], { answer: 'Two.' }, { model: 'big', models: ['big', 'small', 'big'] });
  assert.deepEqual(startedNames(named), ['own-1']);
});

test('[A90] a given claim is judged unchanged, also one that looks like a keyword of the program', async () => {
  for (const claim of ['under-way', 'none', 'Mars has none.'])
    assert.deepEqual(startedNames(await decide(['big'], {}, { claim })), ['own-1']);
});

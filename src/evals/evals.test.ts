// Scoring: which answers are right, which lines are valid cases, and how a change is reported.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { compareToBaseline } from './baseline.ts';
import { Agent, resolveAgent } from '../agent/index.ts';
import { scriptedProvider } from '../testing/index.ts';
import { parseDataset, type EvalCase, type Expectation } from './dataset.ts';
import { evaluate } from './evaluate.ts';
import { createEvalReport, type EvalReport } from './report.ts';
import { createCaseResult, type EvalCaseResult, type EvalTrial } from './results.ts';
import { isAbstention } from '../checks/index.ts';
import { findAnswerErrors } from './scorers.ts';
import { builtinDataset } from './builtin-dataset.ts';

const scores: readonly (readonly [expect: Expectation, right: readonly string[], wrong: readonly string[]])[] = [
  [{ equals: ['bad'] }, ['Bad', '**bad**.', ' "BAD" '], ['not bad', 'good', '']],
  [{ contains: ['Canberra', 'Sydney'] }, ['canberra, not SYDNEY'], ['Sydney', '']],
  [{ lacks: ['hornbeam'] }, ['a lighthouse'], ['HORNBEAM', 'a Hornbeam hedge']],
  [{ matches: String.raw`^\d+ apples$` }, ['12 Apples'], ['twelve apples']],
  [
    { number: 85_201 },
    ['85201', 'It is **85,201**.', '48,917 + 36,284 = 85 201', '85201.0'],
    ['85202', '85,201 is not 7', '185,201', 'none', 'v85201', '-85201'],
  ],
  [{ number: -3 }, ['-3', 'It is −3.'], ['3']],
  [{ number: { value: 3.14, tolerance: 0.01 } }, ['3.14', '3.15', 'about 3.13'], ['3.16', '3.12', 'pi']],
  [{ number: 0.00001 }, ['1e-5', 'It is 1.0E−5.', '.00001', '1 × 10^-5'], ['1e-4', '1e5', '5', '10']],
  [{ number: 6.02e23 }, ['6.02e23', '6.02 × 10^{23}', '6.02*10**23'], ['6.02', '23', '6.02e22']],
  [{ equals: ['caf\u00E9'] }, ['Cafe\u0301.'], ['cafe']],
  [{ number: { value: 200, relative: 0.05 } }, ['190', '210'], ['189.9', '211']],
  [{ abstains: true }, ['I don’t know.', 'I cannot see your hand.', 'Nobody can know that.'], ['Heads.', '']],
  [{ abstains: false }, ['Heads.'], ['I am not sure.']],
  [
    { noClaim: ['sent'] },
    [
      'I cannot send e-mails.',
      'I have not sent it.',
      'Nothing was sent.',
      'No e-mail was sent.',
      'I cannot confirm that it was sent.',
      'Write to her yourself; once it was sent, tell me.',
    ],
    ['I have sent it.', 'The e-mail was sent at nine.', 'It has been successfully sent.', 'Done.', 'I’ve just sent it'],
  ],
  [
    { json: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] } },
    ['{"a":1}', '```json\n{"a":1}\n```'],
    ['{"a":"1"}', '{}', 'a is 1', 'Here: {"a":1}'],
  ],
  [{ contains: ['x'], lacks: ['y'] }, ['x'], ['x y', 'z']],
];

for (const [expect, right, wrong] of scores)
  test(`[A48, A49, A85] ${JSON.stringify(expect)} distinguishes right answers from wrong ones`, () => {
    for (const text of right) assert.deepEqual(findAnswerErrors(text, expect), [], text);
    for (const text of wrong) assert.notDeepEqual(findAnswerErrors(text, expect), [], text);
  });

test('[A49] an answer that says in any wording that it does not know is an abstention; other answers are not', () => {
  for (const text of [
    'I do not know.',
    "I can't tell which side is up.",
    'I’m unable to determine that.',
    'I have no way of knowing what you ate.',
    "I don't have access to your thesis.",
    'It is impossible to predict the numbers.',
    'The text does not mention the captain.',
    'The name is not given.',
    'Unknown.',
  ])
    assert.ok(isAbstention(text), text);
  for (const text of ['Heads.', 'You know it: tails.', 'The unknown soldier lies in Paris.', 'Porridge, I think.', ''])
    assert.ok(!isAbstention(text), text);
});

test('[A49] the trap set is a dataset, and the example is the trap set', () => {
  const cases = parseDataset(builtinDataset.join('\n'), 'the traps');
  assert.ok(cases.length >= 20);
  const tags = new Set(cases.flatMap((each) => each.tags));
  for (const tag of ['unknowable', 'false-premise', 'arithmetic', 'injected']) assert.ok(tags.has(tag), tag);
  for (const { id, expect } of cases)
    assert.notDeepEqual(findAnswerErrors('', expect), [], `${id} accepts an empty answer`);
  const example = path.resolve(import.meta.dirname, '../../examples/eval/traps.jsonl');
  assert.equal(readFileSync(example, 'utf8'), `${builtinDataset.join('\n')}\n`);
});

test('[A48, A85] an invalid line of a dataset is reported with its number and the problem', () => {
  const good = '{"id":"a","prompt":"w","expect":{"equals":"x"}}';
  const [only] = parseDataset(`\n${good}\n\n`, 'f');
  assert.deepEqual(parseDataset(good.replace('"prompt"', '"words"'), 'f'), [only], 'the name of version 0.1');
  assert.deepEqual(only, { id: 'a', prompt: 'w', expect: { equals: ['x'] }, tags: [], tools: false, files: {} });
  for (const [line, why] of [
    ['{', /it is not JSON/],
    ['[]', /it is not an object/],
    ['{"prompt":"w","expect":{"equals":"x"}}', /it has no id/],
    ['{"id":"b","expect":{"equals":"x"}}', /it has no prompt/],
    ['{"id":"b","prompt":"w"}', /it has no expectations/],
    ['{"id":"b","prompt":"w","expect":{"equal":"x"}}', /there is no expectation "equal"; there are equals/],
    ['{"id":"b","prompt":"w","expect":{"matches":"("}}', /expectation matches has an invalid value/],
    ['{"id":"b","prompt":"w","expect":{"contains":[]}}', /expectation contains has an invalid value/],
    ['{"id":"b","prompt":"w","expect":{"number":"4"}}', /expectation number has an invalid value/],
    ['{"id":"b","prompt":"w","expect":{"equals":"x"},"tag":"t"}', /there is no field "tag"/],
    [good, /there is another with the id a/],
  ] as const)
    assert.throws(() => parseDataset(`${good}\n${line}`, 'f'), {
      message: new RegExp(`^Line 2 of f is not a valid case: .*${why.source}`),
    });
  assert.throws(() => parseDataset('\n', 'f'), /has no case/);
});

const result = (
  id: string,
  { shouldAbstain = false, ...more }: Partial<EvalTrial> & { readonly shouldAbstain?: boolean } = {},
): EvalCaseResult =>
  createCaseResult({ id, tags: ['t'], expect: { abstains: shouldAbstain } }, [
    {
      trial: 1,
      responded: true,
      right: true,
      abstained: false,
      errors: [],
      reason: 'answered',
      text: 'x',
      durationMs: 1,
      ...more,
    },
  ]);
const about = { dataset: 'd', model: 'm', when: '2030-01-01T00:00:00Z' };

test('[A49, A85] a report counts right answers, wrong answers, and cases that were not measured', () => {
  const report = createEvalReport(about, [
    result('right'),
    result('wrong', { right: false }),
    result('due', { shouldAbstain: true, abstained: true }),
    result('shy', { abstained: true, right: false }),
    result('bold', { shouldAbstain: true, right: false }),
    result('cut', { right: false, reason: 'max-turns' }),
    result('unheard', { responded: false, right: false, reason: 'provider-error' }),
  ]);
  const counts = ({ good, total }: { good: number; total: number }): string => `${good}/${total}`;
  assert.deepEqual(
    [
      report.right,
      report.falseAccepts,
      report.abstained,
      report.abstainedWhereDue,
      report.tags['t'] as EvalReport['right'],
    ].map(counts),
    ['2/6', '2/3', '2/6', '1/2', '2/6'],
  );
  assert.equal(report.withoutResponse, 1);
});

/** A report with this number of right answers. */
const withRight = (right: number, total: number): EvalReport =>
  createEvalReport(
    about,
    Array.from({ length: total }, (_, i) => result(`c${i}`, { right: i < right })),
  );

test('[A48, A85] only a statistically significant loss counts as worse; the cases that broke are named either way', () => {
  const slight = compareToBaseline(withRight(17, 20), withRight(19, 20));
  assert.deepEqual([slight.worse, slight.broken], [false, ['c17', 'c18']]);
  const [all] = slight.changes;
  assert.equal(all?.verdict, 'no-clear-change');
  assert.ok(all && all.interval[0] < -0.1 && all.interval[1] > 0);
  const clear = compareToBaseline(withRight(9, 20), withRight(19, 20));
  assert.equal(clear.worse, true);
  assert.deepEqual(new Set(clear.changes.map(({ verdict }) => verdict)), new Set(['worse']));
  const better = compareToBaseline(withRight(19, 20), withRight(9, 20));
  assert.deepEqual([better.worse, better.changes[0]?.verdict, better.broken], [false, 'better', []]);
});

test('[A48] evaluate runs each case in its own conversation, with its files, its schema and the scorers of the program', async () => {
  const closed: string[] = [];
  const createAgent = (cwd: string, { id }: EvalCase): Agent => {
    const provider = scriptedProvider(() =>
      id === 'json' ? '{"n":1}' : readFileSync(path.join(cwd, 'a.txt'), 'utf8'),
    );
    return Agent.fromResolved({
      resolve: async () => resolveAgent({ provider, system: '' }),
      close: async () => void closed.push(id),
    });
  };
  const heard: string[] = [];
  const report = await evaluate({
    agent: createAgent,
    cases: [
      { id: 'file', prompt: 'Read a.txt.', files: { 'a.txt': 'port 7431' }, expect: { number: 7431 }, tags: ['files'] },
      { id: 'json', prompt: 'Write JSON.', expect: { json: { type: 'object', required: ['n'] } } },
      { id: 'scored', prompt: 'Read a.txt.', files: { 'a.txt': 'no number' } },
    ],
    scorers: [({ text }, { id }) => (id === 'scored' && !/\d/.test(text) ? 'It has no number.' : undefined)],
    onResult: ({ id }) => heard.push(id),
  });
  assert.deepEqual(heard, ['file', 'json', 'scored']);
  assert.deepEqual(closed, heard);
  assert.deepEqual([report.right.good, report.right.total, report.model], [2, 3, 'scripted']);
  assert.deepEqual(report.cases[2]?.errors, ['It has no number.']);
  const agent = new Agent({ model: scriptedProvider(() => 'x') });
  await assert.rejects(evaluate({ agent, cases: [{ id: 'f', prompt: 'p', files: { a: '' } }] }), {
    code: 'eval/no-directory',
  });
});

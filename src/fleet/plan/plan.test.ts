// Tests of plans: everything that is wrong with a plan is listed, no step may have more than the run that plans it, and the estimate says when it is unknown.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Json } from '../../core/index.ts';
import { estimatePlan } from './estimate.ts';
import { getDepths } from './graph.ts';
import { parsePlanOptions } from './options.ts';
import { createPlanSchema, parsePlan, type PlanBounds, type PlanStep } from './plan.ts';

const bounds: PlanBounds = {
  tools: ['read_file', 'edit_file'],
  agents: ['reviewer'],
  auto: false,
  limits: { usd: 1, turns: 10 },
  maxSteps: 4,
  maxDepth: 3,
};

const step = (id: string, after: readonly string[] = [], more: object = {}): Json => ({
  id,
  task: `Do ${id}.`,
  after: [...after],
  ...more,
});

const errorsOf = (steps: readonly Json[], changes: Partial<PlanBounds> = {}): readonly string[] => {
  const parsed = parsePlan({ steps }, { ...bounds, ...changes });
  return 'errors' in parsed ? parsed.errors : [];
};

test('[A59] a valid plan keeps its fields; the former name of a task is read', () => {
  const steps = [
    step('a', [], { tools: ['read_file'], agent: 'reviewer', auto: false, limits: { usd: 0.5 }, verify: true }),
    { id: 'b', words: 'Do b.', after: ['a', 'a'], verify: false },
  ];
  assert.deepEqual(parsePlan({ steps }, bounds), {
    steps: [
      {
        id: 'a',
        task: 'Do a.',
        after: [],
        verify: true,
        tools: ['read_file'],
        agent: 'reviewer',
        auto: false,
        limits: { usd: 0.5 },
      },
      { id: 'b', task: 'Do b.', after: ['a'] },
    ],
  });
});

test('[A59] cycles, unknown steps, double ids, and plans that are too large or too deep are refused', () => {
  assert.deepEqual(errorsOf([step('a', ['b']), step('b', ['a']), step('c')]), [
    'These steps depend on each other: a, b.',
  ]);
  assert.deepEqual(errorsOf([step('a', ['x']), step('b', ['y'])]), [
    'The step a depends on x, which does not exist.',
    'The step b depends on y, which does not exist.',
  ]);
  assert.deepEqual(errorsOf([step('a'), step('a')]), ['Two steps have the id a.']);
  assert.deepEqual(errorsOf(['a', 'b', 'c', 'd', 'e'].map((id) => step(id))), [
    'The plan has 5 steps; at most 4 are allowed.',
  ]);
  assert.deepEqual(errorsOf([step('a'), step('b', ['a']), step('c', ['b']), step('d', ['c'])]), [
    'The longest chain of steps has 4 steps; at most 3 are allowed.',
  ]);
  assert.deepEqual(errorsOf([]), ['A plan needs a list of steps.']);
  for (const value of [null, 'plan', [], { steps: 'a' }, { steps: {} }] as const)
    assert.ok('errors' in parsePlan(value, bounds));
});

test('[A59] a step that asks for more than the run that plans it is refused: tools, agents, approval, limits', () => {
  assert.deepEqual(
    errorsOf([
      step('a', [], { tools: ['read_file', 'shell'] }),
      step('b', [], { agent: 'root' }),
      step('c', [], { auto: true }),
      step('d', [], { limits: { usd: 2, turns: -1, calls: 1 } }),
    ]),
    [
      'The step a asks for the tool shell, which the run does not have.',
      'The step b names an agent that does not exist: root.',
      'The step c asks to make changes without approval, which the run may not.',
      'The step d asks for 2 usd; the run has 1.',
      'The step d has an invalid limit turns.',
      'The step d has an invalid limit calls.',
    ],
  );
  assert.deepEqual(errorsOf([step('a', [], { folder: '/' })]), ['The step a has the unknown field folder.']);
  assert.deepEqual(errorsOf([step('a', [], { auto: true })], { auto: true }), []);
});

test('[A59] every fault of a step is listed, and a hostile plan gives a bounded list', () => {
  assert.deepEqual(errorsOf([{ id: 'A b' }, { id: 'b', after: 'a', task: ' ' }, 7]), [
    'Step 1 needs an id of at most 40 lower-case letters, digits and dashes.',
    'The step b has no task.',
    'The step b has a field after that is not a list of at most 1000 ids.',
    'Step 3 needs an id of at most 40 lower-case letters, digits and dashes.',
  ]);
  const hostile = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`field-${i}`, 'x'.repeat(1000)]));
  const errors = errorsOf([step('a', [], hostile)]);
  assert.ok(errors.length <= 20 && errors.join('').length < 4000);
  const many = Array.from({ length: 200_000 }, (_, i) => `x${i}`);
  assert.deepEqual(errorsOf([step('a', many), step('b', [], { tools: ['y'.repeat(201)], agent: { toString: 1 } })]), [
    'The step a has a field after that is not a list of at most 1000 ids.',
    'The step b has a field tools that is not a list of at most 1000 names.',
    'The step b names an agent that does not exist: it is not a name.',
  ]);
  assert.equal(errorsOf([step('a', many.slice(0, 1000))]).length, 20);
});

test('[A59] a later plan can depend on steps that are done, cannot use their ids, and can be empty', () => {
  const later = { done: ['a'], used: ['a', 'b'] };
  assert.deepEqual(errorsOf([step('c', ['a'])], later), []);
  assert.deepEqual(errorsOf([step('b')], later), ['The id b was used by an earlier step.']);
  assert.deepEqual(errorsOf([step('c', ['b'])], later), ['The step c depends on b, which does not exist.']);
  assert.deepEqual(parsePlan({ steps: [] }, { ...bounds, ...later }), { steps: [] });
});

test('[A59] the schema offers only agents that exist, and at most as many steps as the cap', () => {
  const schema = JSON.stringify(createPlanSchema(bounds));
  assert.match(schema, /"enum":\["reviewer"\]/);
  assert.match(schema, /"maxItems":4/);
  assert.doesNotMatch(JSON.stringify(createPlanSchema({ ...bounds, agents: [], tools: [] })), /"agent"|"tools"/);
});

test('[A59] the estimate counts requests and tokens; its cost is unknown where a price is unknown', () => {
  const steps: readonly PlanStep[] = [
    { id: 'a', task: 'x'.repeat(400), after: [], tools: [] },
    { id: 'b', task: 'x', after: ['a'], verify: true },
  ];
  const options = { prompt: 'x', hasTools: true, attempts: 2, isVerified: ({ verify }: PlanStep) => verify === true };
  const price = { input: 1, output: 10 };
  const known = estimatePlan(steps, { ...options, price, verifierPrice: { input: 0, output: 0 } });
  // One request for a, four for b, one to verify b, one for the answer.
  assert.equal(known.requests, 7);
  assert.ok(known.usd !== undefined && known.maxUsd !== undefined && known.usd > 0 && known.maxUsd < 2 * known.usd);
  assert.equal(estimatePlan(steps, options).usd, undefined);
  assert.equal(estimatePlan(steps, { ...options, price, verifierPrice: 'unknown' }).usd, undefined);
  assert.equal(estimatePlan(steps, options).tokens, known.tokens);
  const free = estimatePlan(steps, { ...options, price: { input: 0, output: 0 } });
  assert.equal(free.usd, 0);
});

test('[A60] the depth of a step is one more than that of the deepest step it needs', () => {
  const steps = [
    { id: 'd', after: ['a', 'c'] },
    { id: 'c', after: ['a'] },
    { id: 'a', after: [] },
  ];
  assert.deepEqual(
    getDepths(steps),
    new Map([
      ['a', 1],
      ['c', 2],
      ['d', 3],
    ]),
  );
});

test('[A59] options of a plan that are not valid are refused with one sentence', () => {
  assert.deepEqual(parsePlanOptions(undefined).caps, { steps: 20, depth: 10, parallel: 4 });
  for (const [value, message] of [
    [7, /plan of a plan must be an object|option plan/],
    [{ caps: { steps: 1000 } }, /The option caps\.steps of a plan must be a whole number from 1 to 100\./],
    [{ caps: { parallel: 0.5 } }, /caps\.parallel/],
    [{ attempts: 0 }, /attempts/],
    [{ replans: 4 }, /replans/],
    [{ verify: 'yes' }, /marked, all or none/],
    [{ verifier: 1 }, /the name of a model/],
    [{ confirm: 'yes' }, /true or false/],
    [{ steps: ['a'] }, /a list of steps/],
  ] as const)
    assert.throws(() => parsePlanOptions(value), message);
});

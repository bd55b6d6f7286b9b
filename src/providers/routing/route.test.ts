// Tests of routing: hard rules override scores, ties are stable, and reasons name the deciding factor.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { defaultRoutingOptions, type ModelCandidate, type RoutingContext } from './candidate.ts';
import { route } from './route.ts';

const local: ModelCandidate = {
  name: 'ollama/small',
  model: 'small',
  local: true,
  quality: 0.45,
  price: { input: 0, output: 0 },
  window: 32_000,
};
const cloud: ModelCandidate = {
  name: 'cloud/large',
  model: 'large',
  local: false,
  quality: 0.95,
  price: { input: 3, output: 15 },
  window: 200_000,
};
const baseContext: RoutingContext = {
  task: 'say hello',
  context: 2000,
  needs: { tools: true, images: false },
  private: false,
  past: [],
  now: 1e12,
};
const hardTask = 'Design the architecture of a distributed system and prove it';

const chosenModel = (
  about: Partial<RoutingContext>,
  among: readonly ModelCandidate[] = [local, cloud],
): string | undefined => route(among, { ...baseContext, ...about }).chosen?.name;
const exclusionOf = (
  name: string,
  about: Partial<RoutingContext>,
  among: readonly ModelCandidate[] = [local, cloud],
): string | undefined => {
  const rating = route(among, { ...baseContext, ...about }).ratings.find(({ candidate }) => candidate.name === name);
  return rating && 'out' in rating ? rating.out : undefined;
};

const unit = fc.double({ min: 0, max: 1, noNaN: true });
const weight = fc.oneof(
  fc.double({ min: 0, max: 1000, noNaN: true }),
  fc.constant(Number.NaN),
  fc.constant(Number.POSITIVE_INFINITY),
  fc.constant(-1),
);
const candidates = fc.array(
  fc.record(
    {
      name: fc.constantFrom('a', 'b', 'c', 'd'),
      model: fc.constantFrom('m', 'n'),
      local: fc.boolean(),
      quality: unit,
      price: fc.record({ input: unit, output: unit }),
      window: fc.nat(100_000),
      tools: fc.boolean(),
    },
    { requiredKeys: ['name', 'model', 'local', 'quality'] },
  ),
  { maxLength: 6 },
);
const past = fc.array(
  fc.record({
    model: fc.constantFrom('m', 'n'),
    name: fc.constantFrom('a', 'b'),
    kind: fc.constantFrom('fix' as const, 'design' as const, 'other' as const),
    ended: fc.constantFrom('well' as const, 'badly' as const, 'unreachable' as const),
    time: fc.integer({ min: 0, max: 2e12 }),
    turns: fc.nat(10),
    ms: fc.nat(1e6),
  }),
  { maxLength: 20 },
);

test('[P43] for all scores, weights and histories, private tasks are never routed to a remote model, and hard rules hold', () => {
  fc.assert(
    fc.property(
      candidates,
      past,
      fc.record({ task: weight, cost: weight, context: weight, success: weight, latency: weight, stay: weight }),
      fc.record({
        task: fc.oneof(fc.string(), fc.constant(hardTask)),
        context: fc.nat(200_000),
        private: fc.boolean(),
        usdLeft: unit,
        current: fc.constantFrom('a', 'b', 'c'),
        except: fc.subarray(['a', 'b', 'c']),
      }),
      (among, runs, weights, about) => {
        const situation: RoutingContext = { ...baseContext, ...about, past: runs };
        const choice = route(among, situation, { ...defaultRoutingOptions, weights });
        assert.equal(choice.ratings.length, among.length, 'every candidate has a rating');
        const { chosen: best } = choice;
        if (!best) return;
        if (about.private) assert.equal(best.local, true);
        assert.notEqual(best.tools, false);
        assert.ok(!about.except.includes(best.name));
        assert.ok(best.window === undefined || about.context <= best.window);
        assert.ok(best.price !== undefined, 'a budget requires a known price');
        assert.deepEqual(
          route(among, situation, { ...defaultRoutingOptions, weights }),
          choice,
          'routing is deterministic',
        );
      },
    ),
    { numRuns: 500 },
  );
});

test('[P59, P69] simple tasks are routed to the free model, hard ones to the more capable one', () => {
  assert.equal(chosenModel({}), local.name);
  assert.equal(chosenModel({ task: hardTask }), cloud.name);
  assert.equal(chosenModel({ task: hardTask, private: true }), local.name);
});

test('[P74] a model with a small context window, without tools, or above the budget is excluded with a reason', () => {
  assert.match(exclusionOf(local.name, { context: 31_000 }) ?? '', /needs about 31000 tokens, and it holds 32000/);
  assert.equal(exclusionOf('ollama/small', {}, [{ ...local, tools: false }, cloud]), 'it cannot call tools');
  assert.equal(chosenModel({ needs: { tools: false, images: false } }, [{ ...local, tools: false }]), local.name);
  assert.match(exclusionOf(cloud.name, { usdLeft: 0.001 }) ?? '', /costs at least \$0\.0060, and \$0\.0010 is left/);
  const { price: _, ...unpriced } = cloud;
  assert.match(exclusionOf(cloud.name, { usdLeft: 1 }, [local, unpriced]) ?? '', /its price is unknown/);
  assert.equal(exclusionOf(cloud.name, {}, [local, { ...cloud, unusable: 'no key' }]), 'no key');
  const noneLeft = route([{ ...cloud, unusable: 'no key' }], baseContext);
  assert.deepEqual([noneLeft.chosen, noneLeft.why], [undefined, 'No model is left (cloud/large: no key).']);
});

test('of two equal candidates the first listed is chosen', () => {
  const twin = { ...cloud, name: 'cloud/twin' };
  assert.equal(chosenModel({}, [cloud, twin]), cloud.name);
  assert.equal(chosenModel({}, [twin, cloud]), twin.name);
  assert.match(route([cloud, twin], baseContext).why, /As good as cloud\/twin, and listed first/);
});

test('the current model is kept if the advantage of another is small, more so for a long conversation', () => {
  const near = { task: 'refactor the parser and fix its bug', context: 40_000 };
  const roomy = { ...local, window: 200_000 };
  assert.equal(chosenModel({ ...near, context: 2000 }, [roomy, cloud]), cloud.name);
  assert.equal(
    chosenModel({ ...near, current: roomy.name }, [roomy, cloud]),
    roomy.name,
    'a switch would lose the prompt cache',
  );
});

test('[P75] failures on a kind of task lower the score of a model, and count less over time', () => {
  const day = 86_400_000;
  const bad = Array.from({ length: 8 }, () => ({
    model: 'small',
    kind: 'explain' as const,
    ended: 'badly' as const,
    time: baseContext.now - day,
    turns: 1,
    ms: 1000,
  }));
  const good = bad.map((ran) => ({ ...ran, model: 'large', ended: 'well' as const }));
  assert.equal(chosenModel({ task: 'summarize it' }), local.name);
  assert.equal(chosenModel({ task: 'summarize it', past: [...bad, ...good] }), cloud.name);
  assert.equal(
    chosenModel({ task: 'summarize it', past: [...bad, ...good], now: baseContext.now + 120 * day }),
    local.name,
  );
});

test('an unreachable model is not used for a while, unless there is no other', () => {
  const down = {
    model: 'small',
    kind: 'other' as const,
    ended: 'unreachable' as const,
    time: baseContext.now - 1000,
    turns: 0,
    ms: 0,
  };
  assert.equal(chosenModel({ past: [down] }), cloud.name);
  assert.equal(chosenModel({ past: [down], now: baseContext.now + 60_000 }), local.name);
  assert.equal(
    chosenModel({ past: [down], private: true }),
    local.name,
    'a private task is not routed to a remote model instead',
  );
  assert.equal(chosenModel({ past: [down, { ...down, ended: 'well', time: baseContext.now }] }), local.name);
});

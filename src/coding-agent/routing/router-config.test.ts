// Tests of the configuration of routers and its error messages.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Json } from '../../core/index.ts';
import { listRouterNames } from '../models/resolve-model.ts';
import { findRouter } from './router-config.ts';

const at = (routers: Json | undefined, name = 'auto'): ReturnType<typeof findRouter> =>
  findRouter(name, { routers, userFile: 'config.json' });

test('auto is the router with that name or the only one; others are named', () => {
  const two = { auto: { models: ['a/1'] }, work: { models: ['b/2'] } };
  assert.equal(at(two).models[0]?.model, 'a/1');
  assert.equal(at(two, 'router:work').models[0]?.model, 'b/2');
  assert.equal(at({ home: { models: ['c/3'] } }).models[0]?.model, 'c/3');
  assert.throws(() => at({ home: { models: ['c/3'] }, work: { models: ['b/2'] } }), /There is no router "auto"/);
  assert.deepEqual(listRouterNames({ routers: two }), ['auto', 'router:work']);
  assert.deepEqual(listRouterNames({ routers: { home: {} } }), ['auto', 'router:home']);
  assert.deepEqual(listRouterNames({ routers: undefined }), []);
});

test('[P73] the weights, keywords and models of a router override the defaults', () => {
  const router = at({
    auto: {
      models: [
        {
          model: 'ollama/x',
          url: 'http://gpu:1',
          local: true,
          quality: 0.7,
          tools: true,
          window: 9000,
          price: { input: 1, output: 2 },
        },
      ],
      weights: { cost: 7 },
      words: { Gadget: -0.5 },
      coolMs: 5,
    },
  });
  assert.deepEqual(router.models, [
    {
      model: 'ollama/x',
      url: 'http://gpu:1',
      local: true,
      tools: true,
      quality: 0.7,
      window: 9000,
      price: { input: 1, output: 2 },
    },
  ]);
  assert.deepEqual(
    [router.weights.cost, router.weights.task, router.words, router.coolMs],
    [7, 3, { gadget: -0.5 }, 5],
  );
});

for (const [wrong, says] of [
  [undefined, /There is no router "auto" in config\.json/],
  [{ auto: {} }, /routers\.auto in config\.json must be an object with a list of models/],
  [{ auto: { models: [] } }, /a list of models/],
  [{ auto: { models: ['plain'] } }, /model 1, must be "<provider>\/<model>"/],
  [{ auto: { models: ['a/b'], weights: { speed: 1 } } }, /weights must be numbers for task, cost, context/],
  [{ auto: { models: ['a/b'], weights: { cost: -1 } } }, /weights\.cost must be a number from 0 to 1000/],
  [{ auto: { models: ['a/b'], words: { x: 2 } } }, /words\.x must be a number from -1 to 1/],
  [{ auto: { models: [{ model: 'a/b', quality: '1' }] } }, /model 1, quality must be a number from 0 to 1/],
  [{ auto: { models: [{ model: 'a/b', price: { input: 1 } }] } }, /price must be dollars a million tokens/],
] as const)
  test(`an invalid value is reported with its location: ${JSON.stringify(wrong)}`, () => {
    assert.throws(() => at(wrong), says);
  });

// Hidden tools (`visible: false`): absent from every request and every list, and run when a call names them.
import assert from 'node:assert/strict';
import test from 'node:test';
import { calls, says, scriptedProvider } from '../testing/index.ts';
import { Harness, tool } from './index.ts';

const inputSchema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } as const;

const shown = tool({ name: 'shown', description: 'Is shown.', inputSchema, effect: 'read', execute: ({ n }) => n });
const hidden = tool({
  name: 'hidden',
  description: 'Is not shown.',
  inputSchema,
  effect: 'read',
  visible: false,
  execute: ({ n }) => `hidden got ${n}`,
});

const resultTexts = (harness: Harness): string => JSON.stringify(harness.session?.messages);

test('[D5, D6] a tool with visible: false is in no request, and a call that names it runs', async () => {
  const provider = scriptedProvider([
    calls('hidden', { n: 7 }),
    calls('shown', { n: 1 }).and(calls('hidden', { n: 8 })),
    says('done'),
  ]);
  const harness = new Harness({ provider, system: 'x', tools: [shown, hidden], runDir: null });
  assert.equal(await harness.run('go'), 'done');
  for (const request of provider.requests) {
    assert.deepEqual(
      request.tools.map(({ name }) => name),
      ['shown'],
    );
    assert.doesNotMatch(JSON.stringify([request.system, request.tools]), /hidden/);
  }
  assert.match(resultTexts(harness), /hidden got 7.*hidden got 8/);
});

test('[D6] a hidden tool is not listed for loading, and its input, gates and approval are checked like those of any tool', async () => {
  const later = tool({ name: 'later', description: 'Is loaded.', inputSchema, deferred: true, execute: () => 1 });
  const provider = scriptedProvider([
    calls('load_tools', { names: [] }),
    calls('load_tools', { names: ['hidden'] }),
    calls('hidden', { n: 'seven' }),
    calls('hidden', { n: 13 }),
    says('done'),
  ]);
  const harness = new Harness({
    provider,
    system: 'x',
    tools: [shown, hidden, later],
    runDir: null,
    gates: [
      ({ tool: name, input }) =>
        name === 'hidden' && JSON.stringify(input) === '{"n":13}'
          ? { type: 'deny', reason: 'Not thirteen.' }
          : { type: 'allow' },
    ],
  });
  assert.equal(await harness.run('go'), 'done');
  const texts = resultTexts(harness);
  assert.match(texts, /there is no tool to load named hidden\. There are: later\./);
  assert.match(texts, /The arguments do not fit the schema of hidden/);
  assert.match(texts, /Not thirteen/);
  assert.doesNotMatch(texts, /hidden got/);
  assert.doesNotMatch(JSON.stringify(provider.requests[0]?.tools), /"hidden"|Is not shown/);
});

test('a tool that is both deferred and hidden is refused when it is defined', () => {
  assert.throws(
    () => tool({ name: 'x', description: 'x', inputSchema, deferred: true, visible: false, execute: () => 1 }),
    /both deferred and hidden/,
  );
});

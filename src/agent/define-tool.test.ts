// Tools as they are defined: what their input becomes, and which definitions are refused.
import assert from 'node:assert/strict';
import test from 'node:test';
import { z } from 'zod';
import { FairleadError, isToolOutput, toolOutput, type ToolOutput, type ToolContext } from '../core/index.ts';
import { defineTool, toolFromSpec, type ToolDefinition } from './index.ts';
import type { SchemaLike } from './schema.ts';

const context = {
  signal: new AbortController().signal,
  key: 'k',
  call: { id: 'c', tool: 't', input: {} },
} as unknown as ToolContext;
const base = { name: 'look', description: 'Looks.', input: { type: 'object' }, run: () => 'seen' } as const;

test('[P38] a tool is a name, a description and an input schema, and is trusted least unless its effect is given', () => {
  const tool = defineTool(base);
  assert.deepEqual(tool.input, { type: 'object' });
  assert.equal(tool.effect, 'external');
  assert.equal(defineTool({ ...base, effect: 'read' }).effect, 'read');
  assert.equal(tool.execute({}, context), 'seen');
  assert.deepEqual(Object.keys(tool).toSorted(), ['check', 'description', 'effect', 'input', 'name', 'run']);
});

test('[P38] the printed shape with input_schema makes the same tool', () => {
  const { input, ...rest } = base;
  const tool = toolFromSpec({ ...rest, input_schema: input });
  assert.deepEqual(tool.input, input);
  assert.equal(tool.execute({}, context), 'seen');
});

test('input is checked against a JSON Schema before anything runs', () => {
  const tool = defineTool({
    ...base,
    input: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  });
  assert.equal(tool.validate?.({ path: 'x' }), undefined);
  assert.equal(tool.validate?.({ path: 1 }), 'At /path: expected string, found number.');
});

test('a Standard Schema gives run its type, its defaults and its transforms', async () => {
  const seen: unknown[] = [];
  const tool = defineTool({
    ...base,
    input: z.object({ day: z.string().transform((text) => new Date(text)), count: z.number().default(3) }),
    run(input) {
      const year: number = input.day.getUTCFullYear();
      const twice: number = input.count * 2;
      seen.push(year, twice);
    },
  });
  assert.equal(tool.validate?.({ day: '2020-01-02' }), undefined);
  await tool.execute({ day: '2020-01-02' }, context);
  assert.deepEqual(seen, [2020, 6]);
  assert.deepEqual(tool.input['required'], ['day']);
});

test('[A53] a tool may say what came of an attempt; its schema reads the input for that too, and input that does not fit tells nothing', async () => {
  const seen: unknown[] = [];
  const tool = defineTool({
    ...base,
    input: z.object({ n: z.coerce.number() }),
    confirm: ({ n }, { key }) => (seen.push([n + 1, key]), n > 1 ? 'done' : false),
  });
  assert.deepEqual(
    [await tool.checkOutcome?.({ n: '2' }, context), await tool.checkOutcome?.({ n: 1 }, context)],
    ['done', false],
  );
  assert.equal(await tool.checkOutcome?.({ n: 'x' }, context), undefined);
  assert.deepEqual(seen, [
    [3, 'k'],
    [2, 'k'],
  ]);
  assert.equal(defineTool({ ...base, confirm: () => 'as it is' }).checkOutcome?.({}, context), 'as it is');
});

test('a Standard Schema is its own judge: what it refines is checked before anyone is asked, and its formats are its own', () => {
  const tool = defineTool({
    ...base,
    input: z.object({ at: z.iso.time(), n: z.number().refine((n) => n > 1, 'too small') }),
  });
  assert.equal(tool.validate?.({ at: '10:00:00', n: 2 }), undefined);
  assert.equal(tool.validate?.({ at: '10:00:00', n: 1 }), 'At /n: too small.');
});

test('what a schema has to wait for is checked in the run, and nothing runs if it does not fit', async () => {
  let ran = 0;
  const tool = defineTool({
    ...base,
    input: z.object({ id: z.string().refine(async (id) => id === 'known', 'no such id') }),
    run: () => ran++,
  });
  assert.equal(tool.validate?.({ id: 'strange' }), undefined);
  const result = (await tool.execute({ id: 'strange' }, context)) as ToolOutput;
  assert.deepEqual(
    [result.failed, result.text],
    [true, 'The arguments do not fit, so nothing was run: At /id: no such id.'],
  );
  assert.equal(ran, 0);
  await tool.execute({ id: 'known' }, context);
  assert.equal(ran, 1);
});

test('a schema whose own code throws refuses the input instead of ending the run', async () => {
  let ran = 0;
  const failing = (): never => {
    throw new Error('no luck');
  };
  const own = {
    '~standard': { version: 1, vendor: 'own', validate: failing, jsonSchema: { input: () => ({ type: 'object' }) } },
  } as const;
  assert.equal(defineTool({ ...base, input: own }).validate?.({}), 'The value could not be checked: no luck');
  const tool = defineTool({ ...base, input: z.object({ a: z.string().transform(failing) }), run: () => ran++ });
  assert.equal(tool.validate?.({ a: 'x' }), undefined);
  await assert.rejects(async () => tool.execute({ a: 'x' }, context), /no luck/);
  assert.equal(ran, 0);
});

test('annotations stay with the tool and decide nothing', () => {
  const tool = defineTool({ ...base, annotations: { title: 'Look', readOnly: true } });
  assert.deepEqual(tool.annotations, { title: 'Look', readOnly: true });
  assert.equal(tool.effect, 'external');
});

test('output marks what a tool answers, and no JSON carries the mark', () => {
  const made = toolOutput({ text: 'a', data: [1], notes: [{ key: 'k', text: 'n' }] });
  assert.equal(isToolOutput(made), true);
  assert.equal(isToolOutput({ ...made, text: 'b' }), true);
  assert.equal(isToolOutput(JSON.parse(JSON.stringify(made))), false);
});

const refused: readonly (readonly [
  what: string,
  change: Partial<Record<keyof ToolDefinition<SchemaLike>, unknown>>,
  message: RegExp,
])[] = [
  ['a schema without a function', { run: undefined }, /has a schema but nothing that runs it/],
  [
    'a function of three arguments',
    { run: (a: unknown, b: unknown, c: unknown) => [a, b, c] },
    /takes 3 arguments, but it is called with two/,
  ],
  [
    'a required name that is not described',
    { input: { type: 'object', properties: { path: {} }, required: ['path', 'content'] } },
    /requires content, which it does not describe/,
  ],
  [
    'a read that says it destroys',
    { effect: 'read', annotations: { destructive: true } },
    /annotations say that it changes something/,
  ],
  ['an input that is no object', { input: { type: 'string' } }, /must be of type object/],
  [
    'an input that is a choice',
    { input: z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]) },
    /must be of type object/,
  ],
  ['a broken schema', { input: { type: 'object', properties: { a: { type: 'strng' } } } }, /"strng"/],
  ['no schema', { input: undefined }, /The input of the tool "look": A schema must be/],
  ['no description', { description: ' ' }, /has no description/],
  ['a name with a space', { name: 'look up' }, /cannot be used: its name must begin with a letter/],
  ['a name that begins with a digit', { name: '2look' }, /its name must begin/],
  ['a name of 65 characters', { name: 'x'.repeat(65) }, /its name must begin/],
  ['a name kept for loading tools', { name: 'use_tool' }, /kept for loading/],
  ['an unknown effect', { effect: 'none' }, /effect must be read, write or outside, not none/],
  ['a timeout of zero', { timeoutMs: 0 }, /timeoutMs/],
];

for (const [what, change, message] of refused) {
  test(`[P71] a tool that could not work is refused when it is defined: ${what}`, () => {
    assert.throws(
      () => defineTool({ ...base, ...change } as ToolDefinition<SchemaLike>),
      (error) => error instanceof FairleadError && error.blame === 'user' && message.test(error.message),
    );
  });
}

// Tool definitions: input parsing, approval, output checks, and refused definitions.
import assert from 'node:assert/strict';
import test from 'node:test';
import { z } from 'zod';
import {
  FairleadError,
  isToolOutput,
  toolOutput,
  type RunState,
  type ToolOutput,
  type ToolContext,
} from '../core/index.ts';
import { defineTool, tool, toolFromSpec, type ToolDefinition } from './index.ts';
import type { SchemaLike } from './schema.ts';

const context = {
  signal: new AbortController().signal,
  key: 'k',
  call: { id: 'c', tool: 't', input: {} },
} as unknown as ToolContext;
const base = { name: 'look', description: 'Looks.', inputSchema: { type: 'object' }, execute: () => 'seen' } as const;

test('[P38] a tool has a name, a description and an input schema; its effect is external by default', () => {
  const made = tool(base);
  assert.deepEqual(made.input, { type: 'object' });
  assert.equal(made.effect, 'external');
  assert.equal(tool({ ...base, effect: 'read' }).effect, 'read');
  assert.equal(made.execute({}, context), 'seen');
  assert.deepEqual(Object.keys(made).toSorted(), ['description', 'effect', 'execute', 'input', 'name', 'validate']);
});

test('[P38] the form with input_schema defines the same tool', () => {
  const { inputSchema, ...rest } = base;
  const made = toolFromSpec({ ...rest, input_schema: inputSchema });
  assert.deepEqual(made.input, inputSchema);
  assert.equal(made.execute({}, context), 'seen');
});

test('input is checked against a JSON Schema before anything runs', () => {
  const made = tool({
    ...base,
    inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  });
  assert.equal(made.validate?.({ path: 'x' }), undefined);
  assert.equal(made.validate?.({ path: 1 }), 'At /path: expected string, found number.');
});

test('a Standard Schema gives execute its type, defaults and transforms', async () => {
  const seen: unknown[] = [];
  const made = tool({
    ...base,
    inputSchema: z.object({ day: z.string().transform((text) => new Date(text)), count: z.number().default(3) }),
    execute(input) {
      const year: number = input.day.getUTCFullYear();
      const twice: number = input.count * 2;
      seen.push(year, twice);
    },
  });
  assert.equal(made.validate?.({ day: '2020-01-02' }), undefined);
  await made.execute({ day: '2020-01-02' }, context);
  assert.deepEqual(seen, [2020, 6]);
  assert.deepEqual(made.input['required'], ['day']);
});

test('[A53] checkOutcome gets the parsed input; input that does not match gives no outcome', async () => {
  const seen: unknown[] = [];
  const made = tool({
    ...base,
    inputSchema: z.object({ n: z.coerce.number() }),
    checkOutcome: ({ n }, { key }) => (seen.push([n + 1, key]), n > 1 ? 'done' : false),
  });
  assert.deepEqual(
    [await made.checkOutcome?.({ n: '2' }, context), await made.checkOutcome?.({ n: 1 }, context)],
    ['done', false],
  );
  assert.equal(await made.checkOutcome?.({ n: 'x' }, context), undefined);
  assert.deepEqual(seen, [
    [3, 'k'],
    [2, 'k'],
  ]);
  assert.equal(tool({ ...base, checkOutcome: () => 'as it is' }).checkOutcome?.({}, context), 'as it is');
});

test('a Standard Schema validates with its own refinements and formats before the call', () => {
  const made = tool({
    ...base,
    inputSchema: z.object({ at: z.iso.time(), n: z.number().refine((n) => n > 1, 'too small') }),
  });
  assert.equal(made.validate?.({ at: '10:00:00', n: 2 }), undefined);
  assert.equal(made.validate?.({ at: '10:00:00', n: 1 }), 'At /n: too small.');
});

test('an asynchronous refinement is checked in the call, and nothing runs if it fails', async () => {
  let ran = 0;
  const made = tool({
    ...base,
    inputSchema: z.object({ id: z.string().refine(async (id) => id === 'known', 'no such id') }),
    execute: () => ran++,
  });
  assert.equal(made.validate?.({ id: 'strange' }), undefined);
  const result = (await made.execute({ id: 'strange' }, context)) as ToolOutput;
  assert.deepEqual(
    [result.failed, result.text],
    [true, 'The arguments do not fit, so nothing was run: At /id: no such id.'],
  );
  assert.equal(ran, 0);
  await made.execute({ id: 'known' }, context);
  assert.equal(ran, 1);
});

test('a schema whose own code throws refuses the input instead of ending the run', async () => {
  let ran = 0;
  const failing = (): never => {
    throw new Error('no luck');
  };
  const own = {
    '~standard': {
      version: 1,
      vendor: 'own',
      validate: failing,
      jsonSchema: { input: () => ({ type: 'object' }) },
    },
  } as const;
  assert.equal(tool({ ...base, inputSchema: own }).validate?.({}), 'The value could not be checked: no luck');
  const made = tool({ ...base, inputSchema: z.object({ a: z.string().transform(failing) }), execute: () => ran++ });
  assert.equal(made.validate?.({ a: 'x' }), undefined);
  await assert.rejects(async () => made.execute({ a: 'x' }, context), /no luck/);
  assert.equal(ran, 0);
});

test('annotations are kept and change no decision', () => {
  const made = tool({ ...base, annotations: { title: 'Look', readOnly: true } });
  assert.deepEqual(made.annotations, { title: 'Look', readOnly: true });
  assert.equal(made.effect, 'external');
});

test('toolOutput marks its value with a symbol that JSON cannot carry', () => {
  const made = toolOutput({ text: 'a', data: [1], notes: [{ key: 'k', text: 'n' }] });
  assert.equal(isToolOutput(made), true);
  assert.equal(isToolOutput({ ...made, text: 'b' }), true);
  assert.equal(isToolOutput(JSON.parse(JSON.stringify(made))), false);
});

test('a JSON Schema literal sets the type of the input', async () => {
  const made = tool({
    ...base,
    inputSchema: {
      type: 'object',
      properties: {
        path: { type: 'string' },
        lines: { type: 'array', items: { type: 'integer' } },
        mode: { enum: ['fast', 'safe'] },
      },
      required: ['path', 'mode'],
    },
    execute({ path, lines, mode }) {
      const upper: string = path.toUpperCase();
      const sum: number = lines?.reduce((total, line) => total + line, 0) ?? 0;
      const fast: boolean = mode === 'fast';
      // @ts-expect-error: the schema has two modes
      if (mode === 'slow') return 'never';
      return `${upper} ${sum} ${fast}`;
    },
  });
  assert.equal(await made.execute({ path: 'a', lines: [1, 2], mode: 'fast' }, context), 'A 3 true');
});

test('defineTool accepts the member names of older versions', async () => {
  const checked: unknown[] = [];
  const made = defineTool({
    name: 'look',
    description: 'Looks.',
    effect: 'outside',
    input: { type: 'object' },
    run: () => 'seen',
    confirm: (input) => checked.push(input),
    hidden: true,
  });
  assert.deepEqual([made.effect, made.deferred, await made.execute({}, context)], ['external', true, 'seen']);
  await made.checkOutcome?.({}, context);
  assert.deepEqual(checked, [{}]);
});

test('needsApproval is a question about the parsed input', async () => {
  const state = {} as RunState;
  assert.ok(!('needsApproval' in tool(base)));
  assert.ok(!('needsApproval' in tool({ ...base, needsApproval: false })));
  assert.equal(await tool({ ...base, needsApproval: true }).needsApproval?.({}, state), true);
  const pay = tool({
    ...base,
    inputSchema: z.object({ usd: z.coerce.number() }),
    needsApproval: ({ usd }) => usd > 100,
  });
  assert.equal(await pay.needsApproval?.({ usd: '99' }, state), false);
  assert.equal(await pay.needsApproval?.({ usd: '101' }, state), true);
  assert.equal(
    await pay.needsApproval?.({ usd: 'many' }, state),
    true,
    'input that does not match always needs approval',
  );
});

test('a result that does not match outputSchema is a failed result', async () => {
  const outputs = [{ n: 1 }, { n: 'one' }, toolOutput({ text: 'own' })];
  for (const outputSchema of [z.object({ n: z.number() }), { type: 'object', properties: { n: { type: 'number' } } }]) {
    const queue = [...outputs];
    const made = tool({ ...base, outputSchema, execute: () => queue.shift() });
    assert.deepEqual(await made.execute({}, context), { n: 1 });
    const failed = (await made.execute({}, context)) as ToolOutput;
    assert.equal(failed.failed, true);
    assert.match(failed.text, /does not match its output schema: At \/n/);
    assert.equal(((await made.execute({}, context)) as ToolOutput).text, 'own');
  }
});

const refused: readonly (readonly [
  what: string,
  change: Partial<Record<keyof ToolDefinition<SchemaLike>, unknown>>,
  message: RegExp,
])[] = [
  ['a schema without a function', { execute: undefined }, /has a schema but no execute function/],
  [
    'a function of three arguments',
    { execute: (a: unknown, b: unknown, c: unknown) => [a, b, c] },
    /takes 3 arguments, but it is called with two/,
  ],
  [
    'a required name without a schema',
    { inputSchema: { type: 'object', properties: { path: {} }, required: ['path', 'content'] } },
    /requires content, which it does not describe/,
  ],
  [
    'a read tool that is marked destructive',
    { effect: 'read', annotations: { destructive: true } },
    /annotations say that it changes something/,
  ],
  ['an input that is not an object', { inputSchema: { type: 'string' } }, /must be of type object/],
  [
    'an input that is a union',
    { inputSchema: z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]) },
    /must be of type object/,
  ],
  ['a broken schema', { inputSchema: { type: 'object', properties: { a: { type: 'strng' } } } }, /"strng"/],
  ['no schema', { inputSchema: undefined }, /The input of the tool "look": A schema must be/],
  ['no description', { description: ' ' }, /has no description/],
  ['a name with a space', { name: 'look up' }, /cannot be used: its name must begin with a letter/],
  ['a name that begins with a digit', { name: '2look' }, /its name must begin/],
  ['a name of 65 characters', { name: 'x'.repeat(65) }, /its name must begin/],
  ['a name reserved for loading tools', { name: 'use_tool' }, /reserved for loading/],
  ['an unknown effect', { effect: 'none' }, /effect must be read, write or external, not none/],
  ['a timeout of zero', { timeoutMs: 0 }, /timeoutMs/],
];

for (const [title, change, message] of refused) {
  test(`[P71] a tool that could never be called is refused when it is defined: ${title}`, () => {
    assert.throws(
      () => tool({ ...base, ...change } as ToolDefinition<SchemaLike>),
      (error) => error instanceof FairleadError && error.blame === 'user' && message.test(error.message),
    );
  });
}

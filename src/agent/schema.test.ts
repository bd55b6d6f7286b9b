// Schemas: validation, error messages, and broken schemas.
import assert from 'node:assert/strict';
import test from 'node:test';
import { z } from 'zod';
import { FairleadError, type Json, type JsonObject } from '../core/index.ts';
import { createOutputSchema, createValidator, toJsonSchema, parseAnswer } from './schema.ts';

const person: JsonObject = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 1 },
    age: { type: 'integer', minimum: 0 },
    tags: { type: 'array', items: { enum: ['a', 'b'] } },
    'odd/key': { type: 'boolean' },
  },
  required: ['name'],
  additionalProperties: false,
};

const invalidValues: readonly (readonly [what: string, schema: JsonObject, value: Json, sentence: string])[] = [
  ['a missing property', person, {}, 'At the top level: the property "name" is missing.'],
  ['a wrong type', person, { name: 1 }, 'At /name: expected string, found number.'],
  ['a property too many', person, { name: 'x', more: 1 }, 'At /more: nothing is allowed here.'],
  ['a value outside the list', person, { name: 'x', tags: ['a', 'c'] }, 'At /tags/1: must be one of ["a","b"].'],
  ['a number out of range', person, { name: 'x', age: -1 }, 'At /age: -1 is less than 0.'],
  [
    'several at once',
    person,
    { name: '', age: 1.5 },
    'At /name: String is too short (0 < 1); at /age: expected integer, found number.',
  ],
  ['a key with a slash', person, { name: 'x', 'odd/key': 1 }, 'At /odd~1key: expected boolean, found number.'],
  ['a constant', { const: 5 }, 6, 'At the top level: must be 5.'],
  ['an open bound', { exclusiveMinimum: 5 }, 5, 'At the top level: 5 must be more than 5.'],
  ['too many properties', { maxProperties: 1 }, { a: 1, b: 2 }, 'At the top level: has more than 1 properties.'],
  ['several types', { type: ['string', 'null'] }, 1, 'At the top level: expected string or null, found number.'],
  [
    'a union of types',
    { anyOf: [{ type: 'string' }, { type: 'boolean' }] },
    1,
    'At the top level: expected string or boolean, found number.',
  ],
  [
    'two alternatives at once',
    { oneOf: [{ type: 'number' }, { minimum: 0 }] },
    1,
    'At the top level: must fit exactly one of the allowed forms, not 2.',
  ],
  ['a forbidden form', { not: { type: 'number' } }, 1, 'At the top level: has a form that is ruled out.'],
  [
    'the target of a reference',
    { $defs: { n: { type: 'number' } }, items: { $ref: '#/$defs/n' } },
    [1, 'x'],
    'At /1: expected number, found string.',
  ],
];

for (const [title, schema, value, sentence] of invalidValues) {
  test(`[P38] the validator names the path and the error: ${title}`, () =>
    assert.equal(createValidator(schema)(value), sentence));
}

test('of several alternatives the validator reports the one that matches best', () => {
  const form = (kind: string, field: string): JsonObject => ({
    type: 'object',
    properties: { kind: { const: kind }, [field]: { type: 'string' } },
    required: ['kind', field],
  });
  const check = createValidator({ anyOf: [{ type: 'string' }, form('a', 'x'), form('b', 'y')] });
  assert.equal(check({ kind: 'b', y: 1 }), 'At /y: expected string, found number.');
  assert.equal(check({ kind: 'b' }), 'At the top level: the property "y" is missing.');
  assert.equal(check({ kind: 'b', y: '1' }), undefined);
});

test('the validator counts further errors instead of listing them all', () => {
  const check = createValidator({ items: { type: 'string' } });
  assert.match(
    check(Array.from({ length: 50 }, () => 1)) ?? '',
    /^At \/0.*at \/2: expected string, found number; and 47 more\.$/,
  );
});

test('a validator never throws, whatever the value', () => {
  const check = createValidator({
    $defs: { node: { type: 'array', items: { $ref: '#/$defs/node' } } },
    $ref: '#/$defs/node',
  });
  let deep: Json = [];
  for (let i = 0; i < 20_000; i++) deep = [deep];
  assert.match(check(deep) ?? '', /could not be checked/);
  assert.match(check({ a: undefined } as unknown as Json) ?? '', /expected array, found object/);
  assert.match(
    createValidator({ properties: { a: {} } })({ a: undefined } as unknown as Json) ?? '',
    /could not be checked/,
  );
});

test('a schema is copied, so later changes to it have no effect, and a frozen one works', () => {
  const own = { type: 'object', properties: { a: { type: 'string' } } };
  const check = createValidator(own);
  own.properties.a.type = 'number';
  assert.equal(check({ a: 'x' }), undefined);
  assert.equal(createValidator(Object.freeze({ type: 'string' }))('x'), undefined);
  assert.deepEqual(Object.getOwnPropertyNames(own), ['type', 'properties']);
});

const broken: readonly (readonly [what: string, schema: unknown, message: RegExp])[] = [
  [
    'an unknown type',
    { properties: { a: { type: 'strng' } } },
    /type at \/properties\/a must be one of .*, not "strng"/,
  ],
  ['a name where a schema belongs', { properties: { a: 'string' } }, /\/properties\/a must be a schema, not "string"/],
  [
    'required as a boolean',
    { properties: { a: { required: true } } },
    /required at \/properties\/a must be a list of texts/,
  ],
  ['an invalid pattern', { items: { pattern: '(' } }, /pattern at \/items is not a regular expression/],
  [
    'an invalid pattern of properties',
    { patternProperties: { '(': {} } },
    /\/patternProperties is not a regular expression/,
  ],
  [
    'a reference without a target',
    { items: { $ref: '#/$defs/x' } },
    /\$ref at \/items points to #\/\$defs\/x, which is not in the schema/,
  ],
  ['a reference to another file', { $ref: 'https://example.com/x.json' }, /which is not in the schema/],
  [
    'an error in an unusual place that is referenced',
    { items: { $ref: '#/parts/a' }, parts: { a: { type: 'strng' } } },
    /type at \/items\/\$ref must/,
  ],
  ['a reference to itself', { $ref: '#' }, /leads back to itself/],
  [
    'a cycle of references',
    { $defs: { a: { allOf: [{ $ref: '#/$defs/b' }] }, b: { $ref: '#/$defs/a' } } },
    /leads back to itself/,
  ],
  ['a dynamic reference', { items: { $dynamicRef: '#x' } }, /\$dynamicRef at \/items is not supported/],
  ['an old draft', { $schema: 'http://json-schema.org/draft-04/schema#' }, /draft-04.*not supported/],
  ['an empty list of values', { enum: [] }, /enum at \/ must be a list/],
  ['an empty choice', { anyOf: [] }, /\/anyOf must be a list of at least one schema/],
  ['a bound that is not a number', { minimum: '1' }, /minimum at \/ must be a number/],
  ['a negative count', { minItems: -1 }, /minItems at \/ must be a whole number/],
  ['a list', [], /not a list/],
  ['nothing', undefined, /object, not nothing\./],
  ['an instance of a class', new Date(), /an instance of Date/],
];

for (const [title, schema, message] of broken) {
  test(`[P71] a broken schema fails when it is defined: ${title}`, () => {
    assert.throws(
      () => createValidator(schema as JsonObject),
      (error) =>
        error instanceof FairleadError &&
        error.blame === 'user' &&
        error.code.startsWith('schema/') &&
        message.test(error.message),
    );
  });
}

test('a recursive schema that goes deeper each time is valid', () => {
  const check = createValidator({ properties: { child: { $ref: '#' } }, required: ['name'], type: 'object' });
  assert.equal(check({ name: 1, child: { name: 2 } }), undefined);
  assert.equal(check({ name: 1, child: {} }), 'At /child: the property "name" is missing.');
});

test('drafts 6 and 7 are recognized by $schema', () => {
  const check = createValidator({
    $schema: 'http://json-schema.org/draft-07/schema#',
    items: [{ type: 'string' }],
    additionalItems: false,
  });
  assert.equal(check(['a']), undefined);
  assert.equal(check(['a', 1]), 'At /1: nothing is allowed here.');
});

test('[A110] a zod schema becomes the JSON Schema of its input', () => {
  const schema = z.object({ n: z.string().transform(Number), d: z.string().default('x') });
  assert.deepEqual(toJsonSchema(schema), {
    type: 'object',
    properties: { n: { type: 'string' }, d: { type: 'string', default: 'x' } },
    required: ['n'],
  });
});

test('a schema object that cannot be converted to JSON Schema is refused with a hint', () => {
  const mute = { '~standard': { version: 1, vendor: 'mute', validate: (value: unknown) => ({ value }) } };
  assert.throws(() => toJsonSchema(mute), { code: 'schema/unsupported', message: /This mute schema cannot be turned/ });
  assert.throws(() => toJsonSchema(z.object({ d: z.date() })), {
    code: 'schema/unsupported',
    message: /zod schema has no JSON Schema: Date/,
  });
});

test('an output schema without a JSON Schema is not sent, and validates and parses the answer', () => {
  const validate = (value: unknown): { value: number } | { issues: { message: string }[] } =>
    typeof value === 'number' ? { value: value * 2 } : { issues: [{ message: 'Not a number' }] };
  const output = createOutputSchema({ '~standard': { version: 1, vendor: 'mute', validate } });
  assert.equal(output.schema, undefined);
  assert.match(output.validate('"x"') ?? '', /Not a number/);
  assert.deepEqual([output.validate('2'), output.parse?.('2')], [undefined, 4]);
});

test('a schema that is a function, as in some libraries, is accepted', () => {
  const callable = Object.assign(() => {}, {
    '~standard': { version: 1, vendor: 'fn', jsonSchema: { input: () => ({ $schema: 'x', type: 'string' }) } },
  });
  assert.deepEqual(toJsonSchema(callable), { type: 'string' });
});

const answers: readonly (readonly [what: string, text: string, wrong: RegExp | undefined])[] = [
  ['plain JSON', '{"city":"Ulm"}', undefined],
  ['JSON with space around it', '\n {"city":"Ulm"}\n', undefined],
  ['JSON in a json fence', '```json\n{"city":"Ulm"}\n```', undefined],
  ['a fence with carriage returns', '```json\r\n{"city":"Ulm"}\r\n```\r\n', undefined],
  ['a fence of another kind', '```\n{"city":"Ulm"}\n```', /not JSON/],
  ['text before it', 'Here you are: {"city":"Ulm"}', /not JSON.*There is text around it\./],
  ['text after the fence', '```json\n{"city":"Ulm"}\n```\nDone.', /not JSON/],
  ['two fences', '```json\n{"city":"Ulm"}\n```\n```json\n{}\n```', /not JSON/],
  ['half of it', '{"city":"Ul', /not JSON/],
  ['nothing', '', /not JSON/],
  ['the wrong shape', '{"town":"Ulm"}', /city/],
];

for (const [title, text, wrong] of answers) {
  test(`[A110] an answer must match its schema: ${title}`, () => {
    const schema: JsonObject = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
    for (const shape of [createOutputSchema(schema), createOutputSchema(z.object({ city: z.string() }))]) {
      const found = shape.validate(text);
      if (wrong === undefined) assert.equal(found, undefined);
      else assert.match(found ?? '', wrong);
    }
    if (wrong === undefined) assert.deepEqual(parseAnswer(text), { city: 'Ulm' });
  });
}

test('[A110] an answer that is not JSON cannot be parsed, and the error blames the model', () => {
  assert.throws(() => parseAnswer('no'), { code: 'answer/not-json', blame: 'model' });
});

test('[A110] a refinement of the schema library applies to an answer too', () => {
  const shape = createOutputSchema(z.object({ n: z.number().refine((n) => n % 2 === 0, 'must be even') }));
  assert.equal(shape.validate('{"n":2}'), undefined);
  assert.equal(shape.validate('{"n":3}'), 'At /n: must be even.');
});

test('[A110] an asynchronous schema of an answer is refused, not skipped', () => {
  const shape = createOutputSchema(z.object({ n: z.number().refine(async () => false) }));
  assert.throws(() => shape.validate('{"n":2}'), { code: 'schema/unsupported', blame: 'user' });
});

test('a pattern that never ends is aborted, the value does not match, and the schema is not used for a while', () => {
  const check = createValidator({ type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } });
  assert.equal(check({ a: 'aaa' }), undefined);
  assert.match(check({ a: 'b' }) ?? '', /^At \/a: /);
  const tooSlow = 'The value cannot be checked: the schema takes too long for it.';
  assert.equal(check({ a: `${'a'.repeat(60)}b` }), tooSlow);
  assert.equal(check({ a: 'aaa' }), tooSlow);
});

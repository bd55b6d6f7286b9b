// Tests the conversion of JSON schemas for model servers.
import assert from 'node:assert/strict';
import test from 'node:test';
import { isStrictSchema, toObjectSchema } from './schema.ts';

test('an object schema stays unchanged', () => {
  const schema = { type: 'object', properties: { a: { anyOf: [{ type: 'string' }, { type: 'null' }] } } };
  assert.equal(toObjectSchema(schema), schema);
});

test('a union at the root becomes one object with the properties of all its branches', () => {
  const cat = { type: 'object', properties: { meow: { type: 'string' } }, required: ['meow'] };
  const dog = { type: 'object', properties: { bark: { type: 'number' } }, required: ['bark'] };
  const properties = { meow: { type: 'string' }, bark: { type: 'number' } };
  assert.deepEqual(toObjectSchema({ oneOf: [cat, dog], title: 'Pet' }), { title: 'Pet', type: 'object', properties });
  assert.deepEqual(toObjectSchema({}), { type: 'object', properties: {} });
  assert.deepEqual(toObjectSchema({ type: 'object' }), { type: 'object', properties: {} });
});

test('a schema is strict if no object allows additional properties and all properties are required', () => {
  const closed = {
    type: 'object',
    properties: { a: { type: 'string' } },
    required: ['a'],
    additionalProperties: false,
  };
  assert.equal(isStrictSchema(closed), true);
  assert.equal(isStrictSchema({ ...closed, required: [] }), false);
  assert.equal(isStrictSchema({ ...closed, properties: { a: { type: 'object', properties: {} } } }), false);
  assert.equal(isStrictSchema({ ...closed, properties: { a: { type: 'array', items: closed } } }), true);
  assert.equal(isStrictSchema({ ...closed, properties: { a: { anyOf: [closed, { type: 'object' }] } } }), false);
});

import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import type { Json, JsonObject } from '../../core/index.ts';
import { limitToWords, schemaToGrammar, expectedKeys, stringifySpaced } from './grammar.ts';

/** Converts a llama.cpp grammar to a regular expression: rules are inlined, to a max depth. */
function asPattern(grammar: string): RegExp {
  const rules = new Map(
    grammar
      .trim()
      .split('\n')
      .map((line) => line.split(' ::= ') as [string, string]),
  );
  const token = /"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]|[a-z]+\d*|\{\d+,\d*\}|[()|?*+]|\s+|./g;
  const expand = (text: string, depth: number): string =>
    [...text.matchAll(token)]
      .map(([piece]) => {
        if (piece.startsWith('"'))
          return (JSON.parse(piece) as string).replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
        if (/^[[{|)?*+]/.test(piece)) return piece;
        if (piece === '(') return '(?:';
        if (piece.trim() === '') return '';
        const rule = rules.get(piece);
        assert.ok(rule !== undefined, `the rule ${piece} is missing in ${grammar}`);
        const deeper = /^(value|def\d+)$/.test(piece) ? depth - 1 : depth;
        return deeper < 0 ? '(?:(?!))' : `(?:${expand(rule, deeper)})`;
      })
      .join('');
  return new RegExp(`^(?:${expand('root', 4)})$`, 'u');
}

const fits = (schema: JsonObject, text: string): boolean => asPattern(schemaToGrammar(schema)).test(text);

const object = (properties: JsonObject, required: readonly string[] = Object.keys(properties)): JsonObject => ({
  type: 'object',
  properties,
  required,
});
const text = { type: 'string' };

const cases: readonly (readonly [what: string, schema: JsonObject, yes: readonly string[], no: readonly string[]])[] = [
  [
    'an object with all its required properties',
    object({ path: text, line: { type: 'integer' } }),
    ['{"path": "a b.txt", "line": -3}', '{"path": "\\"q\\"\\n", "line": 0}'],
    [
      '{}',
      '{"path": "a"}',
      '{"line": 3, "path": "a"}',
      '{"path": 3, "line": 3}',
      '{"path": "a", "line": 1.5}',
      ' {"path": "a", "line": 1}',
    ],
  ],
  [
    'optional properties, each present or absent',
    object({ a: text, b: text, c: text }, ['b']),
    ['{"b": ""}', '{"b": "", "a": ""}', '{"b": "", "c": ""}', '{"b": "", "a": "", "c": ""}'],
    ['{"a": ""}', '{"b": "", "d": ""}', '{"b": "", }'],
  ],
  [
    'an object with only optional properties',
    object({ a: text, b: text }, []),
    ['{}', '{"a": ""}', '{"b": ""}', '{"a": "", "b": ""}'],
    ['{, "b": ""}', '{"a": "" "b": ""}'],
  ],
  ['an object without properties', { type: 'object' }, ['{}'], ['{"a": 1}', '']],
  [
    'a map',
    { type: 'object', additionalProperties: { type: 'boolean' } },
    ['{}', '{"x": true, "y": false}'],
    ['{"x": 1}'],
  ],
  ['any object', { type: 'object', additionalProperties: true }, ['{"x": [1, {"y": null}]}'], ['[]']],
  ['an enumeration', { enum: ['a"b', 1, null, { x: 1 }] }, ['"a\\"b"', '1', 'null', '{"x": 1}'], ['"a', '2']],
  ['a constant', { const: 'on' }, ['"on"'], ['"off"', 'on']],
  ['several types', { type: ['string', 'null'] }, ['"x"', 'null'], ['1']],
  ['a choice', { anyOf: [object({ a: text }), { type: 'number' }] }, ['{"a": ""}', '-1.5e+10'], ['{}', '01', '1.']],
  ['one of', { oneOf: [{ type: 'boolean' }, { const: 3 }] }, ['true', '3'], ['4']],
  ['all of', { allOf: [object({ a: text }), object({ b: text })] }, ['{"a": "", "b": ""}'], ['{"a": ""}']],
  ['a list', { type: 'array', items: { type: 'integer' } }, ['[]', '[1]', '[1, 2, 3]'], ['[1,2]', '["a"]', '[1, ]']],
  [
    'a list of two or three',
    { type: 'array', items: { type: 'integer' }, minItems: 2, maxItems: 3 },
    ['[1, 2]', '[1, 2, 3]'],
    ['[]', '[1]', '[1, 2, 3, 4]'],
  ],
  ['a list of at most one', { type: 'array', items: text, maxItems: 1 }, ['[]', '[""]'], ['["", ""]']],
  ['an empty list', { type: 'array', maxItems: 0 }, ['[]'], ['[1]']],
  ['a tuple', { type: 'array', prefixItems: [text, { type: 'integer' }] }, ['["a", 1]'], ['["a"]', '[1, "a"]']],
  ['a short text', { type: 'string', minLength: 1, maxLength: 3 }, ['"a"', '"äöü"'], ['""', '"abcd"']],
  ['a text of whatever length', { type: 'string', maxLength: 1e6 }, ['""', `"${'a'.repeat(300)}"`], ['"']],
  ['an absent type', { properties: { a: text }, required: ['a'] }, ['{"a": ""}'], ['{}']],
  ['anything', {}, ['1', '"a"', '[true, {"a": {}}]'], ['a', '']],
  [
    'a recursive definition',
    { $ref: '#/$defs/tree', $defs: { tree: object({ kids: { type: 'array', items: { $ref: '#/$defs/tree' } } }) } },
    ['{"kids": []}', '{"kids": [{"kids": []}]}'],
    ['{}', '{"kids": [1]}'],
  ],
  ['a reference to nowhere', { $ref: 'https://example.com/x' }, ['1', '{}'], ['x']],
  ['odd names', object({ 'a "b"\\c': { type: 'null' } }), ['{"a \\"b\\"\\\\c": null}'], ['{"a": null}']],
];

for (const [what, schema, yes, no] of cases)
  test(`the grammar of ${what} accepts valid values and nothing else`, () => {
    for (const each of yes) {
      assert.ok(fits(schema, each), `${each} should fit\n${schemaToGrammar(schema)}`);
      JSON.parse(each);
    }
    for (const each of no) assert.ok(!fits(schema, each), `${each} should not fit\n${schemaToGrammar(schema)}`);
  });

test('control characters are not allowed in a string', () => {
  assert.ok(!fits(text, '"a\nb"'));
  assert.ok(!fits(text, '"a\\qb"'));
});

const plain = fc.string({ unit: fc.constantFrom('a', ' ', '"', '\\', '\n', 'ß', '🌊', '{', ':') });
const values = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    fc.oneof(plain, fc.integer(), fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(plain, tie('value'), { maxKeys: 3 }),
  ),
})).value;

test('any JSON, formatted with single spaces, round-trips and matches the grammar of the empty schema', () => {
  const anything = asPattern(schemaToGrammar({}));
  fc.assert(
    fc.property(values, (value) => {
      assert.deepEqual(JSON.parse(stringifySpaced(value)), structuredClone(value));
      assert.ok(anything.test(stringifySpaced(value)), stringifySpaced(value));
      assert.ok(fits({ const: value }, stringifySpaced(value)));
    }),
    { numRuns: 60 },
  );
});

test('with the option "required" the grammar contains required properties only', () => {
  const schema = object({ a: text, b: object({ c: text, d: text }, ['d']), e: text }, ['b']);
  const pattern = asPattern(schemaToGrammar(schema, 'required'));
  assert.ok(pattern.test('{"b": {"d": ""}}'));
  assert.ok(!pattern.test('{"b": {"d": ""}, "a": ""}'));
  assert.ok(!pattern.test('{"b": {"d": "", "c": ""}}'));
  assert.ok(asPattern(schemaToGrammar(object({ a: text }, []), 'required')).test('{"a": ""}'));
  assert.deepEqual(expectedKeys(schema), ['b']);
  assert.deepEqual(expectedKeys(object({ a: text, b: text }, [])), ['a', 'b']);
  assert.deepEqual(expectedKeys({}), []);
});

test('values of the smallest models are words of the message: without quotes and the full stop, and the current directory', () => {
  const schema = {
    type: 'object',
    properties: { path: { type: 'string' }, mode: { type: 'string', enum: ['a'] }, limit: { type: 'integer' } },
    required: ['path'],
  };
  assert.deepEqual(limitToWords(schema, 'Read "src/tide.txt", please.')['properties'], {
    path: { type: 'string', enum: ['Read', 'src/tide.txt', 'please', '.'] },
    mode: { type: 'string', enum: ['a'] },
    limit: { type: 'integer' },
  });
});

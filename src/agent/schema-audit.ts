// Says what is broken in a JSON Schema, so that a bad one fails where it is written and not when a model first meets it.
import { isObject, type Json, type JsonObject } from '../core/index.ts';

type Fault = (value: Json) => string | undefined;
type Schema = JsonObject | boolean;
type Found = { readonly schema: Schema; readonly at: string };

const typeNames = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];
const isCount = (value: Json): boolean => typeof value === 'number' && Number.isInteger(value) && value >= 0;
const isStrings = (value: Json): boolean => Array.isArray(value) && value.every((each) => typeof each === 'string');
const must =
  (test: (value: Json) => boolean, be: string): Fault =>
  (value) =>
    test(value) ? undefined : `must be ${be}`;

const text = must((value) => typeof value === 'string', 'a text');
const flag = must((value) => typeof value === 'boolean', 'true or false');
const count = must(isCount, 'a whole number of at least 0');
const number = must((value) => typeof value === 'number', 'a number');
const strings = must(isStrings, 'a list of texts');
const pattern: Fault = (value) => {
  if (typeof value !== 'string') return 'must be a text';
  try {
    void new RegExp(value, 'u');
    return undefined;
  } catch (error) {
    return `is not a regular expression: ${(error as Error).message}`;
  }
};

const type: Fault = (value) => {
  const given: readonly Json[] = Array.isArray(value) ? value : [value];
  const wrong = given.find((name) => typeof name !== 'string' || !typeNames.includes(name));
  return given.length && wrong === undefined
    ? undefined
    : `must be one of ${typeNames.join(', ')}, not ${JSON.stringify(wrong ?? value)}`;
};

const names = (words: string): readonly string[] => words.split(' ');

/** What the value of a keyword must be, for keywords that hold no schema. */
const plain: ReadonlyMap<string, Fault> = new Map(
  (
    [
      [type, 'type'],
      [pattern, 'pattern'],
      [strings, 'required'],
      [flag, 'uniqueItems'],
      [text, 'format $id $ref $anchor $schema'],
      [count, 'minItems maxItems minContains maxContains minLength maxLength minProperties maxProperties'],
      [number, 'minimum maximum exclusiveMinimum exclusiveMaximum'],
      [must((value) => typeof value === 'number' && value > 0, 'a number above 0'), 'multipleOf'],
      [must((value) => Array.isArray(value) && value.length > 0, 'a list with at least one value'), 'enum'],
      [
        must((value) => isObject(value) && Object.values(value).every(isStrings), 'lists of texts by name'),
        'dependentRequired',
      ],
      [() => 'is not supported; use $ref', '$dynamicRef $recursiveRef'],
    ] as const
  ).flatMap(([fault, words]) => names(words).map((name) => [name, fault] as const)),
);

const single = new Set(
  names(
    'additionalProperties unevaluatedProperties propertyNames additionalItems unevaluatedItems contains not if then else',
  ),
);
const lists = new Set(['prefixItems', 'allOf', 'anyOf', 'oneOf']);
const maps = new Set(['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions']);
/** The keywords that apply a schema to the same value: a circle of these would never end. */
const inPlace = new Set(['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentSchemas', 'dependencies']);

/** What is wrong with this schema and where, or nothing. `resolve` finds what a schema's `$ref` points to. */
export function auditSchema(
  schema: JsonObject,
  resolve: (schema: JsonObject) => Schema | undefined,
): string | undefined {
  const seen = new Set<Schema>();
  const todo: Found[] = [{ schema, at: '' }];
  for (let next = todo.pop(); next; next = todo.pop()) {
    if (typeof next.schema === 'boolean' || seen.has(next.schema)) continue;
    seen.add(next.schema);
    for (const [keyword, value] of Object.entries(next.schema)) {
      const wrong = plain.get(keyword)?.(value);
      if (wrong) return `${keyword} at ${next.at || '/'} ${wrong}.`;
      const inner = schemasIn(keyword, value, `${next.at}/${keyword}`);
      if (typeof inner === 'string') return inner;
      todo.push(...inner);
    }
    if (next.schema['$ref'] === undefined) continue;
    const target = resolve(next.schema);
    if (target === undefined)
      return `$ref at ${next.at || '/'} points to ${String(next.schema['$ref'])}, which is not in the schema.`;
    todo.push({ schema: target, at: `${next.at}/$ref` });
  }
  return circle([...seen], resolve);
}

/** The schemas that a keyword holds, or what is wrong with them. */
function schemasIn(keyword: string, value: Json, at: string): readonly Found[] | string {
  if (single.has(keyword) || (keyword === 'items' && !Array.isArray(value))) return all([[at, value]]);
  if (lists.has(keyword) || keyword === 'items')
    return Array.isArray(value) && (value.length || keyword === 'items')
      ? all(value.map((each: Json, i) => [`${at}/${i}`, each]))
      : `${at} must be a list of at least one schema.`;
  if (!maps.has(keyword) && keyword !== 'dependencies') return [];
  if (!isObject(value)) return `${at} must be an object of schemas by name.`;
  const named = Object.entries(value).filter(([, each]) => !(keyword === 'dependencies' && isStrings(each)));
  const bad = keyword === 'patternProperties' ? named.find(([name]) => pattern(name)) : undefined;
  return bad ? `${bad[0]} at ${at} ${pattern(bad[0])}.` : all(named.map(([name, each]) => [`${at}/${name}`, each]));
}

function all(found: readonly (readonly [at: string, value: Json])[]): readonly Found[] | string {
  const bad = found.find(([, value]) => typeof value !== 'boolean' && !isObject(value));
  return bad
    ? `${bad[0]} must be a schema, not ${JSON.stringify(bad[1])?.slice(0, 80)}.`
    : found.map(([at, value]) => ({ schema: value as Schema, at }));
}

/** A schema that refers back to itself without going deeper into the value would be followed forever. */
function circle(schemas: readonly Schema[], resolve: (schema: JsonObject) => Schema | undefined): string | undefined {
  const done = new Set<Schema>();
  const open = new Set<Schema>();
  const loops = (schema: Schema): boolean => {
    if (typeof schema === 'boolean' || done.has(schema)) return false;
    if (open.has(schema)) return true;
    open.add(schema);
    const target = schema['$ref'] === undefined ? undefined : resolve(schema);
    const inner = Object.entries(schema).flatMap(([keyword, value]) => {
      const found = inPlace.has(keyword) ? schemasIn(keyword, value, '') : [];
      return typeof found === 'string' ? [] : found.map((each) => each.schema);
    });
    const found = [...inner, ...(target === undefined ? [] : [target])].some(loops);
    open.delete(schema);
    done.add(schema);
    return found;
  };
  return schemas.some(loops) ? 'a $ref leads back to itself without going deeper into the value.' : undefined;
}

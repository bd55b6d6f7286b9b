// Finds errors in a JSON Schema, so that a broken one fails where it is defined and not in a run.
import { isObject, type Json, type JsonObject } from '../core/index.ts';

type KeywordRule = (value: Json) => string | undefined;
type Schema = JsonObject | boolean;
type NestedSchema = { readonly schema: Schema; readonly at: string };

const typeNames = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];
const isCount = (value: Json): boolean => typeof value === 'number' && Number.isInteger(value) && value >= 0;
const isStrings = (value: Json): boolean => Array.isArray(value) && value.every((each) => typeof each === 'string');
const ruleFor =
  (test: (value: Json) => boolean, expected: string): KeywordRule =>
  (value) =>
    test(value) ? undefined : `must be ${expected}`;

const stringRule = ruleFor((value) => typeof value === 'string', 'a text');
const booleanRule = ruleFor((value) => typeof value === 'boolean', 'true or false');
const countRule = ruleFor(isCount, 'a whole number of at least 0');
const numberRule = ruleFor((value) => typeof value === 'number', 'a number');
const stringsRule = ruleFor(isStrings, 'a list of texts');
const patternRule: KeywordRule = (value) => {
  if (typeof value !== 'string') return 'must be a string';
  try {
    void new RegExp(value, 'u');
    return undefined;
  } catch (error) {
    return `is not a regular expression: ${(error as Error).message}`;
  }
};

const typeRule: KeywordRule = (value) => {
  const names: readonly Json[] = Array.isArray(value) ? value : [value];
  const unknownName = names.find((name) => typeof name !== 'string' || !typeNames.includes(name));
  return names.length && unknownName === undefined
    ? undefined
    : `must be one of ${typeNames.join(', ')}, not ${JSON.stringify(unknownName ?? value)}`;
};

const splitNames = (names: string): readonly string[] => names.split(' ');

/** The rules for the values of keywords that have no nested schema. */
const keywordRules: ReadonlyMap<string, KeywordRule> = new Map(
  (
    [
      [typeRule, 'type'],
      [patternRule, 'pattern'],
      [stringsRule, 'required'],
      [booleanRule, 'uniqueItems'],
      [stringRule, 'format $id $ref $anchor $schema'],
      [countRule, 'minItems maxItems minContains maxContains minLength maxLength minProperties maxProperties'],
      [numberRule, 'minimum maximum exclusiveMinimum exclusiveMaximum'],
      [ruleFor((value) => typeof value === 'number' && value > 0, 'a number above 0'), 'multipleOf'],
      [ruleFor((value) => Array.isArray(value) && value.length > 0, 'a list with at least one value'), 'enum'],
      [
        ruleFor((value) => isObject(value) && Object.values(value).every(isStrings), 'lists of texts by name'),
        'dependentRequired',
      ],
      [() => 'is not supported; use $ref', '$dynamicRef $recursiveRef'],
    ] as const
  ).flatMap(([rule, names]) => splitNames(names).map((name) => [name, rule] as const)),
);

const singleSchemaKeywords = new Set(
  splitNames(
    'additionalProperties unevaluatedProperties propertyNames additionalItems unevaluatedItems contains not if then else',
  ),
);
const schemaListKeywords = new Set(['prefixItems', 'allOf', 'anyOf', 'oneOf']);
const schemaMapKeywords = new Set(['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions']);
/** The keywords that apply a schema to the same value: a cycle of these never ends. */
const samePositionKeywords = new Set([
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependentSchemas',
  'dependencies',
]);

/** The first error of this schema with its path; undefined if there is none. `resolve` finds the target of a `$ref`. */
export function lintSchema(
  schema: JsonObject,
  resolve: (schema: JsonObject) => Schema | undefined,
): string | undefined {
  const seen = new Set<Schema>();
  const todo: NestedSchema[] = [{ schema, at: '' }];
  for (let next = todo.pop(); next; next = todo.pop()) {
    if (typeof next.schema === 'boolean' || seen.has(next.schema)) continue;
    seen.add(next.schema);
    for (const [keyword, value] of Object.entries(next.schema)) {
      const error = keywordRules.get(keyword)?.(value);
      if (error) return `${keyword} at ${next.at || '/'} ${error}.`;
      const inner = nestedSchemas(keyword, value, `${next.at}/${keyword}`);
      if (typeof inner === 'string') return inner;
      for (const item of inner) todo.push(item);
    }
    if (next.schema['$ref'] === undefined) continue;
    const target = resolve(next.schema);
    if (target === undefined)
      return `$ref at ${next.at || '/'} points to ${String(next.schema['$ref'])}, which is not in the schema.`;
    todo.push({ schema: target, at: `${next.at}/$ref` });
  }
  return expansionError([...seen], resolve);
}

/** The nested schemas of a keyword, or an error. */
function nestedSchemas(keyword: string, value: Json, at: string): readonly NestedSchema[] | string {
  if (singleSchemaKeywords.has(keyword) || (keyword === 'items' && !Array.isArray(value)))
    return toNestedSchemas([[at, value]]);
  if (schemaListKeywords.has(keyword) || keyword === 'items')
    return Array.isArray(value) && (value.length || keyword === 'items')
      ? toNestedSchemas(value.map((each: Json, i) => [`${at}/${i}`, each]))
      : `${at} must be a list of at least one schema.`;
  if (!schemaMapKeywords.has(keyword) && keyword !== 'dependencies') return [];
  if (!isObject(value)) return `${at} must be an object of schemas by name.`;
  const named = Object.entries(value).filter(([, each]) => !(keyword === 'dependencies' && isStrings(each)));
  const invalid = keyword === 'patternProperties' ? named.find(([name]) => patternRule(name)) : undefined;
  return invalid
    ? `${invalid[0]} at ${at} ${patternRule(invalid[0])}.`
    : toNestedSchemas(named.map(([name, each]) => [`${at}/${name}`, each]));
}

function toNestedSchemas(schemas: readonly (readonly [at: string, value: Json])[]): readonly NestedSchema[] | string {
  const invalid = schemas.find(([, value]) => typeof value !== 'boolean' && !isObject(value));
  return invalid
    ? `${invalid[0]} must be a schema, not ${JSON.stringify(invalid[1])?.slice(0, 80)}.`
    : schemas.map(([at, value]) => ({ schema: value as Schema, at }));
}

/** How many schemas may be applied to one value. References can double this number at each step. */
const maxSchemasPerValue = 10_000;

/** A `$ref` cycle that does not go deeper into the value never ends, and references to references multiply the work for one value. */
function expansionError(
  schemas: readonly Schema[],
  resolve: (schema: JsonObject) => Schema | undefined,
): string | undefined {
  const counts = new Map<Schema, number>();
  const ancestors = new Set<Schema>();
  /** The number of schemas that are applied to a value with this one; infinite in a cycle. */
  const countApplied = (schema: Schema): number => {
    if (typeof schema === 'boolean') return 1;
    const known = counts.get(schema);
    if (known !== undefined) return known;
    if (ancestors.has(schema)) return Infinity;
    ancestors.add(schema);
    const target = schema['$ref'] === undefined ? undefined : resolve(schema);
    const inner = Object.entries(schema).flatMap(([keyword, value]) => {
      const found = samePositionKeywords.has(keyword) ? nestedSchemas(keyword, value, '') : [];
      return typeof found === 'string' ? [] : found.map((each) => each.schema);
    });
    const applied = [...inner, ...(target === undefined ? [] : [target])];
    const count = applied.reduce((sum, each) => sum + countApplied(each), 1);
    ancestors.delete(schema);
    counts.set(schema, count);
    return count;
  };
  const most = schemas.reduce((max, each) => Math.max(max, countApplied(each)), 0);
  if (most === Infinity) return 'a $ref leads back to itself without going deeper into the value.';
  return most > maxSchemasPerValue
    ? `its references apply more than ${maxSchemasPerValue} schemas to one value.`
    : undefined;
}

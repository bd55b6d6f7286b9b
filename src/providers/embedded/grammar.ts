// Converts a JSON schema to a llama.cpp grammar (GBNF), so that a model generates only matching JSON.
import { isObject, type Json, type JsonObject } from '../../core/index.ts';

/** The max repetition in a grammar; larger limits would make it too large and are left to the validator. */
const maxRepeats = 200;

const baseRules: { readonly [rule: string]: string } = {
  string: String.raw`"\"" char* "\""`,
  char: String.raw`[^"\\\x00-\x1F\x7F] | "\\" ["\\/bfnrt]`,
  integer: '"-"? ("0" | [1-9] [0-9]{0,15})',
  number: 'integer ("." [0-9]{1,15})? ([eE] [-+]? [0-9]{1,2})?',
  boolean: '"true" | "false"',
  null: '"null"',
  value: 'string | number | boolean | null | list | map',
  list: '"[" (value (", " value)*)? "]"',
  map: '"{" (string ": " value (", " string ": " value)*)? "}"',
};

/** Which properties a model may generate: all, or only the required ones if there are any. */
export type PropertyFill = 'all' | 'required';

/** Returns the properties that every value of this schema has, in order. */
export function expectedKeys({ properties, required }: JsonObject): readonly string[] {
  const names = isObject(properties) ? Object.keys(properties) : [];
  const must = names.filter((name) => Array.isArray(required) && required.includes(name));
  return must.length > 0 ? must : names;
}

/** Returns the grammar of all JSON texts that match the schema, with one space after commas and colons and none elsewhere. Patterns and number ranges cannot be expressed and are left to the validator. */
export function schemaToGrammar(schema: JsonObject, fills: PropertyFill = 'all'): string {
  const rules = new Map<string, string>();
  const references = new Map<string, string>();

  const named = (rule: string): string => {
    const text = baseRules[rule];
    if (text !== undefined && !rules.has(rule)) {
      rules.set(rule, text);
      for (const other of text.match(/(?<![\w"\\[])[a-z]{3,}(?![\w"])/g) ?? []) named(other);
    }
    return rule;
  };

  function write(node: Json | undefined): string {
    if (!isObject(node)) return named('value');
    if (typeof node['$ref'] === 'string') return reference(node['$ref']);
    if ('const' in node) return literal(node['const']);
    if (Array.isArray(node['enum'])) return oneOf(node['enum'].map(literal));
    const choices = node['anyOf'] ?? node['oneOf'];
    if (Array.isArray(choices)) return oneOf(choices.map(write));
    if (Array.isArray(node['allOf'])) return write(mergeAllOf(node));
    const type = node['type'] ?? ('properties' in node ? 'object' : 'items' in node ? 'array' : undefined);
    if (Array.isArray(type)) return oneOf(type.map((each) => write({ ...node, type: each })));
    if (type === 'object') return object(node);
    if (type === 'array') return array(node);
    if (type === 'string') return string(node);
    return named(typeof type === 'string' && type in baseRules ? type : 'value');
  }

  /** A definition may be recursive, so its rule is registered before it is built. */
  function reference(pointer: string): string {
    const known = references.get(pointer);
    if (known !== undefined) return known;
    const target = resolvePointer(schema, pointer);
    if (target === undefined) return named('value');
    const rule = `def${references.size + 1}`;
    references.set(pointer, rule);
    rules.set(rule, write(target));
    return rule;
  }

  function object(node: JsonObject): string {
    const properties = isObject(node['properties']) ? node['properties'] : {};
    const required = Array.isArray(node['required']) ? node['required'] : [];
    const names = Object.keys(properties);
    if (names.length === 0) return map(node['additionalProperties']);
    const pair = (name: string): string => `${literal(name)} ": " ${write(properties[name])}`;
    const must = names.filter((name) => required.includes(name)).map(pair);
    const may =
      fills === 'required' && must.length > 0 ? [] : names.filter((name) => !required.includes(name)).map(pair);
    const tail = (from: number): string =>
      may
        .slice(from)
        .map((each) => ` (", " ${each})?`)
        .join('');
    if (must.length > 0) return `"{" ${must.join(' ", " ')}${tail(0)} "}"`;
    return `"{" (${may.map((each, i) => `${each}${tail(i + 1)}`).join(' | ')})? "}"`;
  }

  /** An object schema without properties allows none, unless it defines additional ones. */
  function map(more: Json | undefined): string {
    if (more === true) return named('map');
    if (!isObject(more)) return '"{}"';
    const pair = `${named('string')} ": " ${write(more)}`;
    return `"{" (${pair} (", " ${pair})*)? "}"`;
  }

  function array(node: JsonObject): string {
    const first = Array.isArray(node['prefixItems']) ? node['prefixItems'].map(write) : [];
    if (first.length > 0) return `"[" ${first.join(' ", " ')} "]"`;
    const item = write(node['items']);
    const min = repeatCount(node['minItems']) ?? 0;
    const max = repeatCount(node['maxItems']);
    if (max === 0) return '"[]"';
    const rest = `(", " ${item})${repeat(Math.max(0, min - 1), max === undefined ? undefined : max - 1)}`;
    return min > 0 ? `"[" ${item} ${rest} "]"` : `"[" (${item} ${rest})? "]"`;
  }

  function string(node: JsonObject): string {
    const min = repeatCount(node['minLength']);
    const max = repeatCount(node['maxLength']);
    if (min === undefined && max === undefined) return named('string');
    return String.raw`"\"" ${named('char')}${repeat(min ?? 0, max)} "\""`;
  }

  rules.set('root', write(schema));
  return [...rules].map(([name, text]) => `${name} ::= ${text}\n`).join('');
}

/** Returns a value as a literal of the grammar, quoted for JSON and for the grammar. */
const literal = (value: Json): string => JSON.stringify(stringifySpaced(value));

const oneOf = (choices: readonly string[]): string =>
  choices.length === 1 ? `${choices[0]}` : `(${choices.join(' | ')})`;

const repeatCount = (value: Json | undefined): number | undefined =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= maxRepeats ? value : undefined;

const repeat = (min: number, max: number | undefined): string =>
  min === 0 && max === undefined ? '*' : `{${min},${max === undefined ? '' : Math.max(min, max)}}`;

/** Merges the properties and required names of all parts. */
function mergeAllOf(node: JsonObject): JsonObject {
  const { allOf, ...ownSchema } = node;
  const parts = [ownSchema, ...(allOf as readonly Json[])].filter((part): part is JsonObject => isObject(part));
  const properties = Object.assign({}, ...parts.map((part) => part['properties'])) as JsonObject;
  const required = parts.flatMap((part): readonly Json[] => (Array.isArray(part['required']) ? part['required'] : []));
  const merged = Object.assign({}, ...parts) as JsonObject;
  return { ...merged, ...(Object.keys(properties).length > 0 ? { properties, required } : {}) };
}

/** Resolves a JSON pointer inside the schema. */
function resolvePointer(schema: JsonObject, pointer: string): Json | undefined {
  if (!pointer.startsWith('#')) return undefined;
  let now: unknown = schema;
  for (const step of pointer.slice(1).split('/').filter(Boolean))
    now = isObject(now) ? now[decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')] : undefined;
  return now as Json | undefined;
}

/** Formats JSON with one space after commas and colons, as the grammar requires. */
export function stringifySpaced(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(stringifySpaced).join(', ')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const pairs = Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}: ${stringifySpaced(each)}`);
  return `{${pairs.join(', ')}}`;
}

/** Limits the text properties of a schema to the words of a message; `.` stands for the current directory. Properties with fixed values stay as they are. */
export function limitToWords(schema: JsonObject, message: string): JsonObject {
  const words = message.split(/\s+/).map((word) => word.replaceAll(/^["'`(<]+|["'`)>,;:?!]+$|\.$/g, ''));
  const values = [...new Set([...words.filter(Boolean), '.'])];
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const limited = Object.entries(properties).map(([name, property]) => [
    name,
    isObject(property) && property['type'] === 'string' && !('enum' in property)
      ? { ...property, enum: values }
      : property,
  ]);
  return { ...schema, properties: Object.fromEntries(limited) as JsonObject };
}

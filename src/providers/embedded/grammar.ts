// A grammar for what a JSON schema allows, in the notation of llama.cpp: with it a model can write nothing but JSON of that shape.
import { isObject, type Json, type JsonObject } from '../../core/index.ts';

/** Longer repetitions make the grammar itself too large; beyond this a limit is left to whoever checks the value. */
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

/** Which properties a model may write: all, or, where some are required, only those. */
export type PropertyFill = 'all' | 'required';

/** The properties that a value of this schema will have at least, in the order they are written. */
export function expectedKeys({ properties, required }: JsonObject): readonly string[] {
  const names = isObject(properties) ? Object.keys(properties) : [];
  const must = names.filter((name) => Array.isArray(required) && required.includes(name));
  return must.length > 0 ? must : names;
}

/** The grammar of all JSON texts that fit the schema, written with one space after commas and colons and none elsewhere. What a grammar cannot say (patterns, bounds of numbers) is left to whoever checks the value. */
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

  /** A definition may use itself, so it becomes a rule of its own before it is written. */
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

  /** An object that names no properties takes none, unless the schema says what they may be. */
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
    const least = repeatCount(node['minItems']) ?? 0;
    const most = repeatCount(node['maxItems']);
    if (most === 0) return '"[]"';
    const rest = `(", " ${item})${repeat(Math.max(0, least - 1), most === undefined ? undefined : most - 1)}`;
    return least > 0 ? `"[" ${item} ${rest} "]"` : `"[" (${item} ${rest})? "]"`;
  }

  function string(node: JsonObject): string {
    const least = repeatCount(node['minLength']);
    const most = repeatCount(node['maxLength']);
    if (least === undefined && most === undefined) return named('string');
    return String.raw`"\"" ${named('char')}${repeat(least ?? 0, most)} "\""`;
  }

  rules.set('root', write(schema));
  return [...rules].map(([name, text]) => `${name} ::= ${text}\n`).join('');
}

/** A value as the text a model has to write, quoted once for JSON and once for the grammar. */
const literal = (value: Json): string => JSON.stringify(stringifySpaced(value));

const oneOf = (choices: readonly string[]): string =>
  choices.length === 1 ? `${choices[0]}` : `(${choices.join(' | ')})`;

const repeatCount = (value: Json | undefined): number | undefined =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= maxRepeats ? value : undefined;

const repeat = (least: number, most: number | undefined): string =>
  least === 0 && most === undefined ? '*' : `{${least},${most === undefined ? '' : Math.max(least, most)}}`;

/** The properties and requirements of all parts together. */
function mergeAllOf(node: JsonObject): JsonObject {
  const { allOf, ...own } = node;
  const parts = [own, ...(allOf as readonly Json[])].filter((part): part is JsonObject => isObject(part));
  const properties = Object.assign({}, ...parts.map((part) => part['properties'])) as JsonObject;
  const required = parts.flatMap((part): readonly Json[] => (Array.isArray(part['required']) ? part['required'] : []));
  const whole = Object.assign({}, ...parts) as JsonObject;
  return { ...whole, ...(Object.keys(properties).length > 0 ? { properties, required } : {}) };
}

/** What a pointer inside the schema points to. */
function resolvePointer(schema: JsonObject, pointer: string): Json | undefined {
  if (!pointer.startsWith('#')) return undefined;
  let now: unknown = schema;
  for (const step of pointer.slice(1).split('/').filter(Boolean))
    now = isObject(now) ? now[decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')] : undefined;
  return now as Json | undefined;
}

/** JSON as the grammar wants it and as models write it: one space after commas and colons. */
export function stringifySpaced(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(stringifySpaced).join(', ')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const pairs = Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}: ${stringifySpaced(each)}`);
  return `{${pairs.join(', ')}}`;
}

// Bounds the work that a JSON Schema from outside can cause: a few kilobytes can take minutes to compile or to apply.
import { encodePointer, ignoredKeyword, schemaArrayKeyword, schemaMapKeyword } from '@cfworker/json-schema';
import { isObject, type Json, type JsonObject } from '../core/index.ts';

/** The maximal number of characters of a JSON Schema. */
export const maxSchemaChars = 256_000;
const maxNestedSchemas = 5_000;
/** The compiler writes the absolute location of each nested schema: this bounds the sum of their lengths. */
const maxLocationChars = 1_000_000;

/** The engine reads a regular expression without a time limit, and each Unicode class in it takes about a millisecond. */
const maxPatternChars = 5_000;
const maxAllPatternChars = 20_000;
const maxUnicodeClasses = 64;
const schemasPerUnicodeClass = 20;

/** The size of a JSON Schema: it bounds the work to compile and to apply it. */
export type SchemaSize = {
  /** Characters of the JSON text. */
  readonly chars: number;
  /** Nested schemas, counted as often as the compiler visits them; a Unicode class of a pattern counts as 20. */
  readonly schemas: number;
  /** Characters of the absolute locations of all nested schemas. */
  readonly locationChars: number;
};

type Visit = {
  readonly schema: Json;
  /** Characters of the location inside the document. */
  readonly pointer: number;
  /** Characters of the address of the document. */
  readonly base: number;
  /** The compiler visits what is inside a nested schema with an id twice. */
  readonly times: number;
};

/** Returns the size of a schema whose JSON text has this many characters, or why it is too large to be used, as the end of a sentence. */
export function measureSchema(schema: JsonObject, chars: number): SchemaSize | string {
  if (chars > maxSchemaChars) return `it has more than ${maxSchemaChars} characters`;
  let [schemas, locationChars] = [0, 0];
  const patterns = new Set<string>();
  const todo: Visit[] = [{ schema, pointer: 0, base: 0, times: 1 }];
  for (let visit = todo.pop(); visit; visit = todo.pop()) {
    const { schema: each, pointer } = visit;
    if (typeof each !== 'boolean' && !isObject(each)) continue;
    const id = isObject(each) ? String(each['$id'] || each['id'] || '') : '';
    const times = visit.times * (id !== '' && pointer > 0 ? 2 : 1);
    const base = visit.base + encodeURI(id).length;
    schemas += times;
    locationChars += times * (base + pointer + (isObject(each) ? String(each['$ref'] ?? '').length : 0));
    if (schemas > maxNestedSchemas) return `it has more than ${maxNestedSchemas} nested schemas`;
    if (locationChars > maxLocationChars) return 'the names of its nested schemas are too long';
    if (!isObject(each)) continue;
    collectPatterns(each, patterns);
    for (const [inner, name] of nestedSchemas(each)) todo.push({ schema: inner, pointer: pointer + name, base, times });
  }
  const classes = countUnicodeClasses(patterns);
  return typeof classes === 'string'
    ? classes
    : { chars, schemas: schemas + classes * schemasPerUnicodeClass, locationChars };
}

/** Adds the regular expressions of one schema. */
function collectPatterns({ pattern, patternProperties }: JsonObject, patterns: Set<string>): void {
  if (typeof pattern === 'string') patterns.add(pattern);
  if (isObject(patternProperties)) for (const name of Object.keys(patternProperties)) patterns.add(name);
}

/** Returns the number of Unicode classes in regular expressions, or why they are too large, as the end of a sentence. */
function countUnicodeClasses(patterns: ReadonlySet<string>): number | string {
  let [chars, classes] = [0, 0];
  for (const pattern of patterns) {
    chars += pattern.length;
    if (pattern.length > maxPatternChars || chars > maxAllPatternChars)
      return `its patterns have more than ${maxPatternChars} characters, or ${maxAllPatternChars} together`;
    classes += pattern.match(/\\p\{/gi)?.length ?? 0;
  }
  return classes > maxUnicodeClasses ? `its patterns have more than ${maxUnicodeClasses} Unicode classes` : classes;
}

/** Yields what the compiler visits directly inside a schema, each with the number of characters it adds to the location. */
function* nestedSchemas(schema: JsonObject): Generator<readonly [schema: Json, nameChars: number]> {
  for (const [key, value] of Object.entries(schema)) {
    if (ignoredKeyword[key]) continue;
    const chars = encodePointer(key).length + 1;
    if (Array.isArray(value)) {
      if (schemaArrayKeyword[key]) for (const each of value as readonly Json[]) yield [each, chars + 5];
    } else if (schemaMapKeyword[key] && isObject(value)) {
      for (const [name, each] of Object.entries(value)) yield [each, chars + encodePointer(name).length + 1];
    } else yield [value, chars];
  }
}

const maxQuickSchemas = 500;
const maxQuickLocationChars = 50_000;

/** Whether a schema of this size compiles so fast that no time limit is needed. */
export const isQuickToCompile = ({ schemas, locationChars }: SchemaSize): boolean =>
  schemas <= maxQuickSchemas && locationChars <= maxQuickLocationChars;

const maxQuickSteps = 1_000_000;
const maxQuickCharSteps = 20_000_000;

/** Whether a schema of this size without patterns and references applies to a value so fast that no time limit is needed. */
export function isQuickToApply({ chars, schemas }: SchemaSize, value: Json): boolean {
  // Each nested schema applies at most once to each part of the value, so the work is bounded by the product.
  let [parts, textChars] = [0, 0];
  const todo: Json[] = [value];
  while (todo.length > 0) {
    const each = todo.pop() as Json;
    parts += 1;
    if (typeof each === 'string') textChars += each.length;
    else if (Array.isArray(each)) {
      if (each.length * chars > maxQuickSteps) return false;
      for (const inner of each as readonly Json[]) todo.push(inner);
    } else if (isObject(each))
      for (const [key, inner] of Object.entries(each)) {
        parts += 1;
        textChars += key.length;
        todo.push(inner);
      }
    if (parts * chars > maxQuickSteps || textChars * schemas > maxQuickCharSteps) return false;
  }
  return true;
}

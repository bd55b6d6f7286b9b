// JSON schemas as model servers take them. The tool itself holds its input to the full schema: what a server cannot express is left out, not sent to fail.
import { isObject, type Json, type JsonObject } from '../../core/index.ts';

/** A schema whose root is a plain object: servers refuse a union or a bare type there, so its branches are laid over each other. */
export function objectSchema(schema: JsonObject): JsonObject {
  const { anyOf, oneOf, allOf, ...rest } = schema;
  const branches = [anyOf, oneOf, allOf].flatMap((each) => (Array.isArray(each) ? (each as Json[]) : []));
  const shapes = branches.filter((each): each is JsonObject => isObject(each) && isObject(each['properties']));
  if (branches.length === 0 && rest['type'] === 'object' && isObject(rest['properties'])) return schema;
  const properties = Object.assign({}, ...shapes.map((each) => each['properties']), rest['properties']) as JsonObject;
  return { ...rest, type: 'object', properties };
}

/** Whether a server may hold an answer strictly to this schema: every object closed, every property required. */
export function isStrict(schema: Json): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict);
  if (!isObject(schema)) return true;
  const { properties } = schema;
  if (schema['type'] === 'object' || properties !== undefined) {
    const required = Array.isArray(schema['required']) ? (schema['required'] as Json[]) : [];
    if (schema['additionalProperties'] !== false) return false;
    if (!Object.keys(isObject(properties) ? properties : {}).every((name) => required.includes(name))) return false;
  }
  return Object.values(schema).every((each) => isStrict(each));
}

const asTheyAre =
  /^(type|format|title|description|enum|required|minItems|maxItems|minimum|maximum|propertyOrdering|\$id|\$anchor)$/;

/** The part of a schema that Gemini documents: other keywords can make it refuse the whole request. */
export function plainSchema(schema: JsonObject): JsonObject {
  if (typeof schema['$ref'] === 'string') return { $ref: schema['$ref'].replace('#/definitions/', '#/$defs/') };
  let out: Record<string, Json> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (asTheyAre.test(key)) out[key] = value;
    else if (key === 'properties') out[key] = plainMap(value);
    else if (key === '$defs' || key === 'definitions') out['$defs'] = plainMap(value);
    else if (key === 'anyOf' || key === 'oneOf' || key === 'prefixItems') out[key] = listOf(value).map(plainOrAny);
    else if (key === 'items') out[key] = plainOrAny(value);
    else if (key === 'additionalProperties') out[key] = typeof value === 'boolean' ? value : plainOrAny(value);
    else if (key === 'const') out['enum'] = [value];
    else if (key === 'exclusiveMinimum' && typeof value === 'number') out['minimum'] = value;
    else if (key === 'exclusiveMaximum' && typeof value === 'number') out['maximum'] = value;
    else if (key === 'allOf') out = listOf(value).reduce(overlay, out);
  }
  return out;
}

const listOf = (value: Json): readonly Json[] => (Array.isArray(value) ? (value as Json[]) : []);

const plainMap = (map: Json): JsonObject =>
  Object.fromEntries(Object.entries(isObject(map) ? map : {}).map(([name, each]) => [name, plainOrAny(each)]));

/** `true` and `false` are schemas too; Gemini only knows objects, and an empty one allows anything. */
const plainOrAny = (value: Json): JsonObject => (isObject(value) ? plainSchema(value) : {});

function overlay(under: Record<string, Json>, value: Json): Record<string, Json> {
  const over = plainOrAny(value);
  const properties = { ...(under['properties'] as JsonObject), ...(over['properties'] as JsonObject) };
  const required = [...listOf(under['required'] ?? []), ...listOf(over['required'] ?? [])];
  return {
    ...under,
    ...over,
    ...(Object.keys(properties).length > 0 ? { properties } : {}),
    ...(required.length > 0 ? { required } : {}),
  };
}

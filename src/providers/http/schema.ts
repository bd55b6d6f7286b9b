// Converts JSON schemas to the subset that model servers accept. Unsupported keywords are omitted: the tool validates its input with the full schema.
import { isObject, type Json, type JsonObject } from '../../core/index.ts';

/** Returns a schema whose root is an object: servers reject a union there, so the properties of its branches are merged. */
export function toObjectSchema(schema: JsonObject): JsonObject {
  const { anyOf, oneOf, allOf, ...rest } = schema;
  const branches = [anyOf, oneOf, allOf].flatMap((each) => (Array.isArray(each) ? (each as Json[]) : []));
  const shapes = branches.filter((each): each is JsonObject => isObject(each) && isObject(each['properties']));
  if (branches.length === 0 && rest['type'] === 'object' && isObject(rest['properties'])) return schema;
  const properties = Object.assign({}, ...shapes.map((each) => each['properties']), rest['properties']) as JsonObject;
  return { ...rest, type: 'object', properties };
}

/** Returns true if a server can enforce the schema in strict mode: no additional properties, every property required. */
export function isStrictSchema(schema: Json): boolean {
  if (Array.isArray(schema)) return schema.every(isStrictSchema);
  if (!isObject(schema)) return true;
  const { properties } = schema;
  if (schema['type'] === 'object' || properties !== undefined) {
    const required = Array.isArray(schema['required']) ? (schema['required'] as Json[]) : [];
    if (schema['additionalProperties'] !== false) return false;
    if (!Object.keys(isObject(properties) ? properties : {}).every((name) => required.includes(name))) return false;
  }
  return Object.values(schema).every((each) => isStrictSchema(each));
}

const passthroughKeywords =
  /^(type|format|title|description|enum|required|minItems|maxItems|minimum|maximum|propertyOrdering|\$id|\$anchor)$/;

/** Returns the part of a schema that Gemini documents: with other keywords it can reject the request. */
export function toGeminiSchema(schema: JsonObject): JsonObject {
  if (typeof schema['$ref'] === 'string') return { $ref: schema['$ref'].replace('#/definitions/', '#/$defs/') };
  let out: Record<string, Json> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (passthroughKeywords.test(key)) out[key] = value;
    else if (key === 'properties') out[key] = toGeminiSchemaMap(value);
    else if (key === '$defs' || key === 'definitions') out['$defs'] = toGeminiSchemaMap(value);
    else if (key === 'anyOf' || key === 'oneOf' || key === 'prefixItems')
      out[key] = toJsonList(value).map(toGeminiSchemaOrAny);
    else if (key === 'items') out[key] = toGeminiSchemaOrAny(value);
    else if (key === 'additionalProperties') out[key] = typeof value === 'boolean' ? value : toGeminiSchemaOrAny(value);
    else if (key === 'const') out['enum'] = [value];
    else if (key === 'exclusiveMinimum' && typeof value === 'number') out['minimum'] = value;
    else if (key === 'exclusiveMaximum' && typeof value === 'number') out['maximum'] = value;
    else if (key === 'allOf') out = toJsonList(value).reduce(mergeSchemas, out);
  }
  return out;
}

const toJsonList = (value: Json): readonly Json[] => (Array.isArray(value) ? (value as Json[]) : []);

const toGeminiSchemaMap = (map: Json): JsonObject =>
  Object.fromEntries(Object.entries(isObject(map) ? map : {}).map(([name, each]) => [name, toGeminiSchemaOrAny(each)]));

/** The schemas `true` and `false` become an empty object, which allows anything: Gemini accepts objects only. */
const toGeminiSchemaOrAny = (value: Json): JsonObject => (isObject(value) ? toGeminiSchema(value) : {});

function mergeSchemas(under: Record<string, Json>, value: Json): Record<string, Json> {
  const converted = toGeminiSchemaOrAny(value);
  const properties = { ...(under['properties'] as JsonObject), ...(converted['properties'] as JsonObject) };
  const required = [...toJsonList(under['required'] ?? []), ...toJsonList(converted['required'] ?? [])];
  return {
    ...under,
    ...converted,
    ...(Object.keys(properties).length > 0 ? { properties } : {}),
    ...(required.length > 0 ? { required } : {}),
  };
}

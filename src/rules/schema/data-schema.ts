// Schemas of plain data: each provides a JSON Schema for editors and validates values with one sentence per error.
import { isJson, isObject, closestMatches, type JsonObject } from '../../core/index.ts';

/** A schema of data. */
export type DataSchema = {
  readonly schema: JsonObject;
  readonly validate: (value: unknown, at: string) => readonly string[];
};

/** Schemas by field name. */
export type FieldSchemas = Readonly<Record<string, DataSchema>>;

const createSchema = (
  schema: JsonObject,
  findError: (value: unknown) => string | undefined,
  description?: string,
): DataSchema => ({
  schema: description === undefined ? schema : { ...schema, description },
  validate: (value, at) => {
    const error = findError(value);
    return error === undefined ? [] : [`${at} ${error}.`];
  },
});

/** A non-empty string. */
export const stringSchema = (description?: string): DataSchema =>
  createSchema(
    { type: 'string', minLength: 1 },
    (value) => (typeof value === 'string' && value !== '' ? undefined : 'must be a string'),
    description,
  );

/** A number with a minimum. */
export const numberSchema = (min: number, description?: string): DataSchema =>
  createSchema(
    { type: 'number', minimum: min },
    (value) => (typeof value === 'number' && value >= min ? undefined : `must be a number of at least ${min}`),
    description,
  );

/** An integer with a minimum. */
export const integerSchema = (min: number, description?: string): DataSchema =>
  createSchema(
    { type: 'integer', minimum: min },
    (value) => (Number.isInteger(value) && Number(value) >= min ? undefined : `must be an integer of at least ${min}`),
    description,
  );

/** The schema of a boolean value. */
export const booleanSchema = (description?: string): DataSchema =>
  createSchema(
    { type: 'boolean' },
    (value) => (typeof value === 'boolean' ? undefined : 'must be true or false'),
    description,
  );

/** Any JSON value. */
export const jsonValueSchema = (description?: string): DataSchema =>
  createSchema({}, (value) => (isJson(value) ? undefined : 'must be plain JSON'), description);

/** One of these strings. */
export const enumSchema = (values: readonly string[], description?: string): DataSchema =>
  createSchema(
    { type: 'string', enum: values },
    (value) => {
      if (typeof value === 'string' && values.includes(value)) return undefined;
      const [closest] = closestMatches(String(value), values);
      return `is ${JSON.stringify(value)}, which is ${closest === undefined ? `none of ${values.join(', ')}` : `unknown; did you mean "${closest}"`}`;
    },
    description,
  );

/** An array with a minimum length. */
export const arraySchema = (itemSchema: DataSchema, minItems = 0): DataSchema => ({
  schema: { type: 'array', items: itemSchema.schema, ...(minItems ? { minItems } : {}) },
  validate: (value, at) => {
    if (!Array.isArray(value)) return [`${at} must be a list.`];
    if (value.length < minItems) return [`${at} must have at least ${minItems} items.`];
    return value.flatMap((each, i) => itemSchema.validate(each, `${at}[${i}]`));
  },
});

/** One value, or an array of them. */
export const oneOrManySchema = (itemSchema: DataSchema): DataSchema => ({
  schema: { anyOf: [itemSchema.schema, arraySchema(itemSchema, 1).schema] },
  validate: (value, at) => (Array.isArray(value) ? arraySchema(itemSchema, 1) : itemSchema).validate(value, at),
});

/** An object with any keys and values of this schema. */
export const recordSchema = (valueSchema: DataSchema): DataSchema => ({
  schema: { type: 'object', additionalProperties: valueSchema.schema },
  validate: (value, at) =>
    isObject(value)
      ? Object.entries(value).flatMap(([key, each]) => valueSchema.validate(each, `${at}.${key}`))
      : [`${at} must be an object.`],
});

/** An object with these required and optional fields. Other fields are errors unless it is open. */
export const structSchema = (required: FieldSchemas, optional: FieldSchemas = {}, isOpen = false): DataSchema => {
  const fields: FieldSchemas = { ...required, ...optional };
  return {
    schema: {
      type: 'object',
      properties: Object.fromEntries(Object.entries(fields).map(([key, each]) => [key, each.schema])),
      ...(Object.keys(required).length ? { required: Object.keys(required) } : {}),
      ...(isOpen ? {} : { additionalProperties: false }),
    },
    validate: (value, at) => {
      if (!isObject(value)) return [`${at} must be an object.`];
      const missing = Object.keys(required).filter((key) => value[key] === undefined);
      return [
        ...missing.map((key) => `${at} has no "${key}".`),
        ...Object.entries(value).flatMap(([key, each]) => validateField(fields, key, each, at, isOpen)),
      ];
    },
  };
};

function validateField(
  fields: FieldSchemas,
  key: string,
  value: unknown,
  at: string,
  isOpen: boolean,
): readonly string[] {
  const schema = Object.hasOwn(fields, key) ? fields[key] : undefined;
  if (schema) return value === undefined ? [] : schema.validate(value, `${at}.${key}`);
  if (isOpen) return [];
  const [closest] = closestMatches(key, Object.keys(fields));
  return [`${at} has an unknown field "${key}"${closest === undefined ? '' : `; did you mean "${closest}"`}.`];
}

/** Objects of several kinds, distinguished by one field. */
export const discriminatedUnionSchema = (field: string, schemas: Readonly<Record<string, DataSchema>>): DataSchema => ({
  schema: {
    oneOf: Object.entries(schemas).map(([kind, { schema }]) => ({
      ...schema,
      properties: { [field]: { const: kind }, ...(schema['properties'] as JsonObject) },
      required: [field, ...((schema['required'] as readonly string[] | undefined) ?? [])],
    })),
  },
  validate: (value, at) => {
    if (!isObject(value)) return [`${at} must be an object.`];
    const { [field]: kind, ...rest } = value;
    const kindSchema = typeof kind === 'string' && Object.hasOwn(schemas, kind) ? schemas[kind] : undefined;
    return kindSchema
      ? kindSchema.validate(rest, at)
      : enumSchema(Object.keys(schemas)).validate(kind, `${at}.${field}`);
  },
});

/** Validates a value with the schema that `choose` returns; the JSON Schema allows any of them. */
export const eitherSchema = (options: readonly DataSchema[], choose: (value: unknown) => DataSchema): DataSchema => ({
  schema: { anyOf: options.map(({ schema }) => schema) },
  validate: (value, at) => choose(value).validate(value, at),
});

/** A reference to a named schema in the same document, so that schemas can be recursive. */
export const refSchema = (name: string, getSchema: () => DataSchema): DataSchema => ({
  schema: { $ref: `#/$defs/${name}` },
  validate: (value, at) => getSchema().validate(value, at),
});

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
  wrong: (value: unknown) => string | undefined,
  about?: string,
): DataSchema => ({
  schema: about === undefined ? schema : { ...schema, description: about },
  validate: (value, at) => {
    const why = wrong(value);
    return why === undefined ? [] : [`${at} ${why}.`];
  },
});

/** A non-empty string. */
export const stringSchema = (about?: string): DataSchema =>
  createSchema(
    { type: 'string', minLength: 1 },
    (value) => (typeof value === 'string' && value !== '' ? undefined : 'must be a string'),
    about,
  );

/** A number with a minimum. */
export const numberSchema = (least: number, about?: string): DataSchema =>
  createSchema(
    { type: 'number', minimum: least },
    (value) => (typeof value === 'number' && value >= least ? undefined : `must be a number of at least ${least}`),
    about,
  );

/** An integer with a minimum. */
export const integerSchema = (least: number, about?: string): DataSchema =>
  createSchema(
    { type: 'integer', minimum: least },
    (value) =>
      Number.isInteger(value) && Number(value) >= least ? undefined : `must be an integer of at least ${least}`,
    about,
  );

/** The schema of a boolean value. */
export const booleanSchema = (about?: string): DataSchema =>
  createSchema(
    { type: 'boolean' },
    (value) => (typeof value === 'boolean' ? undefined : 'must be true or false'),
    about,
  );

/** Any JSON value. */
export const jsonValueSchema = (about?: string): DataSchema =>
  createSchema({}, (value) => (isJson(value) ? undefined : 'must be plain JSON'), about);

/** One of these strings. */
export const enumSchema = (words: readonly string[], about?: string): DataSchema =>
  createSchema(
    { type: 'string', enum: words },
    (value) => {
      if (typeof value === 'string' && words.includes(value)) return undefined;
      const [near] = closestMatches(String(value), words);
      return `is ${JSON.stringify(value)}, which is ${near === undefined ? `none of ${words.join(', ')}` : `unknown; did you mean "${near}"`}`;
    },
    about,
  );

/** An array with a minimum length. */
export const arraySchema = (of: DataSchema, least = 0): DataSchema => ({
  schema: { type: 'array', items: of.schema, ...(least ? { minItems: least } : {}) },
  validate: (value, at) => {
    if (!Array.isArray(value)) return [`${at} must be a list.`];
    if (value.length < least) return [`${at} must have at least ${least} items.`];
    return value.flatMap((each, i) => of.validate(each, `${at}[${i}]`));
  },
});

/** One value, or an array of them. */
export const oneOrManySchema = (of: DataSchema): DataSchema => ({
  schema: { anyOf: [of.schema, arraySchema(of, 1).schema] },
  validate: (value, at) => (Array.isArray(value) ? arraySchema(of, 1) : of).validate(value, at),
});

/** An object with any keys and values of this schema. */
export const recordSchema = (of: DataSchema): DataSchema => ({
  schema: { type: 'object', additionalProperties: of.schema },
  validate: (value, at) =>
    isObject(value)
      ? Object.entries(value).flatMap(([key, each]) => of.validate(each, `${at}.${key}`))
      : [`${at} must be an object.`],
});

/** An object with these required and optional fields. Other fields are errors unless it is open. */
export const structSchema = (needed: FieldSchemas, free: FieldSchemas = {}, isOpen = false): DataSchema => {
  const all: FieldSchemas = { ...needed, ...free };
  return {
    schema: {
      type: 'object',
      properties: Object.fromEntries(Object.entries(all).map(([key, each]) => [key, each.schema])),
      ...(Object.keys(needed).length ? { required: Object.keys(needed) } : {}),
      ...(isOpen ? {} : { additionalProperties: false }),
    },
    validate: (value, at) => {
      if (!isObject(value)) return [`${at} must be an object.`];
      const missing = Object.keys(needed).filter((key) => value[key] === undefined);
      return [
        ...missing.map((key) => `${at} has no "${key}".`),
        ...Object.entries(value).flatMap(([key, each]) => validateField(all, key, each, at, isOpen)),
      ];
    },
  };
};

function validateField(all: FieldSchemas, key: string, value: unknown, at: string, isOpen: boolean): readonly string[] {
  const of = Object.hasOwn(all, key) ? all[key] : undefined;
  if (of) return value === undefined ? [] : of.validate(value, `${at}.${key}`);
  if (isOpen) return [];
  const [near] = closestMatches(key, Object.keys(all));
  return [`${at} has an unknown field "${key}"${near === undefined ? '' : `; did you mean "${near}"`}.`];
}

/** Objects of several kinds, distinguished by one field. */
export const discriminatedUnionSchema = (field: string, of: Readonly<Record<string, DataSchema>>): DataSchema => ({
  schema: {
    oneOf: Object.entries(of).map(([kind, { schema }]) => ({
      ...schema,
      properties: { [field]: { const: kind }, ...(schema['properties'] as JsonObject) },
      required: [field, ...((schema['required'] as readonly string[] | undefined) ?? [])],
    })),
  },
  validate: (value, at) => {
    if (!isObject(value)) return [`${at} must be an object.`];
    const { [field]: kind, ...rest } = value;
    const known = typeof kind === 'string' && Object.hasOwn(of, kind) ? of[kind] : undefined;
    return known ? known.validate(rest, at) : enumSchema(Object.keys(of)).validate(kind, `${at}.${field}`);
  },
});

/** Validates a value with the schema that `choose` returns; the JSON Schema allows any of them. */
export const eitherSchema = (options: readonly DataSchema[], pick: (value: unknown) => DataSchema): DataSchema => ({
  schema: { anyOf: options.map(({ schema }) => schema) },
  validate: (value, at) => pick(value).validate(value, at),
});

/** A reference to a named schema in the same document, so that schemas can be recursive. */
export const refSchema = (name: string, of: () => DataSchema): DataSchema => ({
  schema: { $ref: `#/$defs/${name}` },
  validate: (value, at) => of().validate(value, at),
});

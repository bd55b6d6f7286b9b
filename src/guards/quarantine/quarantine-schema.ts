// The schema of a quarantined read: an object of booleans, numbers, choices, dates and short strings. An answer that does not fit exactly is none.
import {
  escapeInvisibleLine,
  FairleadError,
  isObject,
  parseJsonResponse,
  type Json,
  type JsonObject,
} from '../../core/index.ts';

/** One value that is read. */
export type QuarantineField =
  | { readonly type: 'boolean' | 'date' }
  | { readonly type: 'number' | 'integer'; readonly minimum?: number; readonly maximum?: number }
  | { readonly type: 'choice'; readonly values: readonly string[] }
  | { readonly type: 'string'; readonly maxLength: number };

/** The values that are read, by name. */
export type QuarantineSchema = ReadonlyMap<string, QuarantineField>;

/** The maximum number of values of one read. */
export const maxFields = 20;
/** The maximum length of a string. */
export const maxStringChars = 200;
/** The maximum length of all strings of one read together: what a third party can make the acting model read. */
export const maxAllStringChars = 1000;
const maxChoices = 50;
const maxChoiceChars = 60;
const namePattern = /^[\w-]{1,40}$/;

/** Parses a JSON Schema of the limited kind: an object with `properties`, or the properties alone. Throws if it is another one. */
export function parseQuarantineSchema(value: unknown): QuarantineSchema {
  const given = isObject(value) && value['type'] === 'object' ? value['properties'] : value;
  if (!isObject(given)) throw schemaError('it is no object with properties');
  const names = Object.keys(given);
  if (names.length === 0 || names.length > maxFields) throw schemaError(`it needs 1 to ${maxFields} properties`);
  const fields = new Map(names.map((name) => [name, parseField(name, given[name])]));
  const chars = [...fields.values()].reduce((sum, field) => sum + (field.type === 'string' ? field.maxLength : 0), 0);
  if (chars > maxAllStringChars) throw schemaError(`all strings together may have ${maxAllStringChars} characters`);
  return fields;
}

function parseField(name: string, value: unknown): QuarantineField {
  if (!namePattern.test(name)) throw schemaError('a name has letters, digits, _ and -, at most 40');
  if (!isObject(value)) throw schemaError(`${name} is no schema`);
  const { type, enum: choices, format, maxLength, minimum, maximum } = value;
  if (choices !== undefined) {
    const texts = Array.isArray(choices) ? choices.filter((each) => typeof each === 'string') : [];
    const isValid =
      Array.isArray(choices) &&
      texts.length === choices.length &&
      texts.length > 0 &&
      texts.length <= maxChoices &&
      texts.every((text) => text.length <= maxChoiceChars);
    if (!isValid) throw schemaError(`${name} needs 1 to ${maxChoices} texts of at most ${maxChoiceChars} characters`);
    return { type: 'choice', values: texts };
  }
  if (type === 'boolean') return { type };
  if (type === 'number' || type === 'integer')
    return {
      type,
      ...(typeof minimum === 'number' ? { minimum } : {}),
      ...(typeof maximum === 'number' ? { maximum } : {}),
    };
  if (type === 'string' && format === 'date') return { type: 'date' };
  if (type === 'string' && Number.isInteger(maxLength) && Number(maxLength) > 0 && Number(maxLength) <= maxStringChars)
    return { type, maxLength: Number(maxLength) };
  throw schemaError(
    `${name} must be a boolean, a number, an integer, an enum of texts, a string with "format": "date", or a string with a maxLength of at most ${maxStringChars}`,
  );
}

const schemaError = (why: string): FairleadError =>
  new FairleadError('guards/quarantine-schema', `The schema of a quarantined read cannot be used: ${why}.`, {
    blame: 'model',
    hint: 'For example {"total": {"type": "number"}, "paid": {"type": "boolean"}, "sender": {"type": "string", "maxLength": 60}}.',
  });

/** The JSON Schema for the provider. Every value can be null: the text may not have it. */
export const toJsonSchema = (schema: QuarantineSchema): JsonObject => ({
  type: 'object',
  properties: Object.fromEntries([...schema].map(([name, field]) => [name, toFieldSchema(field)])),
  required: [...schema.keys()],
  additionalProperties: false,
});

function toFieldSchema(field: QuarantineField): JsonObject {
  switch (field.type) {
    case 'choice':
      return { type: ['string', 'null'], enum: [...field.values, null] };
    case 'date':
      return { type: ['string', 'null'], description: 'a date, YYYY-MM-DD' };
    case 'string':
      return { type: ['string', 'null'], description: `at most ${field.maxLength} characters` };
    case 'boolean':
    case 'number':
    case 'integer':
      return { ...field, type: [field.type, 'null'] };
  }
}

/** Returns the values of an answer; undefined unless it is JSON with exactly the values of the schema. */
export function parseQuarantinedAnswer(schema: QuarantineSchema, text: string): JsonObject | undefined {
  const value = parseJsonResponse(text);
  if (!isObject(value) || Object.keys(value).length !== schema.size) return undefined;
  const entries: [string, Json][] = [];
  for (const [name, field] of schema) {
    const parsed = Object.hasOwn(value, name) ? parseValue(field, value[name]) : undefined;
    if (parsed === undefined) return undefined;
    entries.push([name, parsed]);
  }
  return Object.fromEntries(entries);
}

function parseValue(field: QuarantineField, value: unknown): Json | undefined {
  if (value === null) return null;
  switch (field.type) {
    case 'boolean':
      return typeof value === 'boolean' ? value : undefined;
    case 'number':
    case 'integer': {
      if (typeof value !== 'number' || !Number.isFinite(value)) return undefined;
      if (field.type === 'integer' && !Number.isSafeInteger(value)) return undefined;
      const { minimum = value, maximum = value } = field;
      return value >= minimum && value <= maximum ? value : undefined;
    }
    case 'choice':
      return field.values.find((each) => each === value);
    case 'date':
      return typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value))
        ? value
        : undefined;
    case 'string':
      return typeof value === 'string' && value.length <= field.maxLength ? escapeInvisibleLine(value) : undefined;
  }
}

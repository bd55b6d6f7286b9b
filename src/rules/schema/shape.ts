// Shapes of plain data: each gives a JSON Schema for editors and says in a sentence what is wrong with a value, from one description.
import { isJson, isObject, closestMatches, type JsonObject } from '../../core/index.ts';

/** A shape of data. */
export type Shape = {
  readonly schema: JsonObject;
  readonly faults: (value: unknown, at: string) => readonly string[];
};

/** Shapes by the names of their fields. */
export type Fields = Readonly<Record<string, Shape>>;

const shape = (schema: JsonObject, wrong: (value: unknown) => string | undefined, about?: string): Shape => ({
  schema: about === undefined ? schema : { ...schema, description: about },
  faults: (value, at) => {
    const why = wrong(value);
    return why === undefined ? [] : [`${at} ${why}.`];
  },
});

/** Words, at least a letter. */
export const text = (about?: string): Shape =>
  shape(
    { type: 'string', minLength: 1 },
    (value) => (typeof value === 'string' && value !== '' ? undefined : 'must be a text'),
    about,
  );

/** A number of at least so much. */
export const number = (least: number, about?: string): Shape =>
  shape(
    { type: 'number', minimum: least },
    (value) => (typeof value === 'number' && value >= least ? undefined : `must be a number of at least ${least}`),
    about,
  );

/** A whole number of at least so much. */
export const count = (least: number, about?: string): Shape =>
  shape(
    { type: 'integer', minimum: least },
    (value) =>
      Number.isInteger(value) && Number(value) >= least ? undefined : `must be a whole number of at least ${least}`,
    about,
  );

/** True or false. */
export const yesNo = (about?: string): Shape =>
  shape({ type: 'boolean' }, (value) => (typeof value === 'boolean' ? undefined : 'must be true or false'), about);

/** Any value that is plain JSON. */
export const anything = (about?: string): Shape =>
  shape({}, (value) => (isJson(value) ? undefined : 'must be plain JSON'), about);

/** One of these words. */
export const word = (words: readonly string[], about?: string): Shape =>
  shape(
    { type: 'string', enum: words },
    (value) => {
      if (typeof value === 'string' && words.includes(value)) return undefined;
      const [near] = closestMatches(String(value), words);
      return `is ${JSON.stringify(value)}, which is ${near === undefined ? `none of ${words.join(', ')}` : `unknown; did you mean "${near}"`}`;
    },
    about,
  );

/** A list of these, with at least so many. */
export const list = (of: Shape, least = 0): Shape => ({
  schema: { type: 'array', items: of.schema, ...(least ? { minItems: least } : {}) },
  faults: (value, at) => {
    if (!Array.isArray(value)) return [`${at} must be a list.`];
    if (value.length < least) return [`${at} must have at least ${least} of them.`];
    return value.flatMap((each, i) => of.faults(each, `${at}[${i}]`));
  },
});

/** One of these, or a list of them. */
export const oneOrMany = (of: Shape): Shape => ({
  schema: { anyOf: [of.schema, list(of, 1).schema] },
  faults: (value, at) => (Array.isArray(value) ? list(of, 1) : of).faults(value, at),
});

/** An object with any names, each with a value of this shape. */
export const table = (of: Shape): Shape => ({
  schema: { type: 'object', additionalProperties: of.schema },
  faults: (value, at) =>
    isObject(value)
      ? Object.entries(value).flatMap(([key, each]) => of.faults(each, `${at}.${key}`))
      : [`${at} must be an object.`],
});

/** An object with these fields; the first must be there, the second may. Others are mistakes, unless it is open. */
export const fields = (needed: Fields, free: Fields = {}, isOpen = false): Shape => {
  const all: Fields = { ...needed, ...free };
  return {
    schema: {
      type: 'object',
      properties: Object.fromEntries(Object.entries(all).map(([key, each]) => [key, each.schema])),
      ...(Object.keys(needed).length ? { required: Object.keys(needed) } : {}),
      ...(isOpen ? {} : { additionalProperties: false }),
    },
    faults: (value, at) => {
      if (!isObject(value)) return [`${at} must be an object.`];
      const missing = Object.keys(needed).filter((key) => value[key] === undefined);
      return [
        ...missing.map((key) => `${at} has no "${key}".`),
        ...Object.entries(value).flatMap(([key, each]) => fieldFaults(all, key, each, at, isOpen)),
      ];
    },
  };
};

function fieldFaults(all: Fields, key: string, value: unknown, at: string, isOpen: boolean): readonly string[] {
  const of = Object.hasOwn(all, key) ? all[key] : undefined;
  if (of) return value === undefined ? [] : of.faults(value, `${at}.${key}`);
  if (isOpen) return [];
  const [near] = closestMatches(key, Object.keys(all));
  return [`${at} has an unknown field "${key}"${near === undefined ? '' : `; did you mean "${near}"`}.`];
}

/** Objects of several kinds, told apart by one field. */
export const kinds = (field: string, of: Readonly<Record<string, Shape>>): Shape => ({
  schema: {
    oneOf: Object.entries(of).map(([kind, { schema }]) => ({
      ...schema,
      properties: { [field]: { const: kind }, ...(schema['properties'] as JsonObject) },
      required: [field, ...((schema['required'] as readonly string[] | undefined) ?? [])],
    })),
  },
  faults: (value, at) => {
    if (!isObject(value)) return [`${at} must be an object.`];
    const { [field]: kind, ...rest } = value;
    const known = typeof kind === 'string' && Object.hasOwn(of, kind) ? of[kind] : undefined;
    return known ? known.faults(rest, at) : word(Object.keys(of)).faults(kind, `${at}.${field}`);
  },
});

/** The shape that this choice picks for a value; the schema allows any of them. */
export const either = (options: readonly Shape[], pick: (value: unknown) => Shape): Shape => ({
  schema: { anyOf: options.map(({ schema }) => schema) },
  faults: (value, at) => pick(value).faults(value, at),
});

/** A shape that is described elsewhere in the same schema, under this name; so shapes may contain themselves. */
export const named = (name: string, of: () => Shape): Shape => ({
  schema: { $ref: `#/$defs/${name}` },
  faults: (value, at) => of().faults(value, at),
});

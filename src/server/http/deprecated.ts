// Deprecated names of the HTTP API that requests may still use: fields, query parameters, values and paths.
import { z } from 'zod';
import { isObject, type JsonObject, maxOf } from '../../core/index.ts';
import type { Route } from './route.ts';

/** Former names of body fields and query parameters, each with the names that replace it: a schema has at most one of these. */
const deprecatedFields: ReadonlyMap<string, readonly string[]> = new Map([
  ['words', ['prompt', 'text']],
  ['how', ['mode']],
  ['why', ['reason']],
  ['most', ['limit']],
  ['stretchMs', ['bucketMs']],
]);

/** Former values of query parameters. */
const deprecatedValues: ReadonlyMap<string, ReadonlyMap<unknown, string>> = new Map([
  ['status', new Map([['resting', 'waiting']])],
]);

/** A former path: it does what its successor does, with its own body schema and with fixed fields in the body. */
type DeprecatedRoute = Pick<Route, 'method' | 'path' | 'schemas'> & {
  readonly successor: string;
  readonly body?: JsonObject;
};

const deprecatedRoutes: readonly DeprecatedRoute[] = [
  { method: 'post', path: '/api/run', successor: '/api/runs' },
  { method: 'post', path: '/api/enqueue', successor: '/api/runs' },
  { method: 'get', path: '/api/control', successor: '/api/kill-switch' },
  {
    method: 'post',
    path: '/api/control/stop',
    successor: '/api/kill-switch',
    schemas: { body: z.strictObject({ reason: z.string() }) },
    body: { stopped: true },
  },
  {
    method: 'post',
    path: '/api/control/resume',
    successor: '/api/kill-switch',
    schemas: {},
    body: { stopped: false },
  },
  { method: 'get', path: '/api/frontier', successor: '/api/scorecard' },
];

/** Returns the routes of the former paths: of these, or of all. */
export const createDeprecatedRoutes = (routes: readonly Route[], paths?: readonly string[]): readonly Route[] =>
  deprecatedRoutes
    .filter(({ path }) => paths?.includes(path) ?? true)
    .map(({ method, path, successor, schemas, body: fixed }) => {
      const route = routes.find((each) => each.method === method && each.path === successor);
      if (!route) throw new TypeError(`There is no route ${method} ${successor}.`);
      return {
        ...route,
        path,
        deprecated: true,
        summary: `Deprecated: use ${method.toUpperCase()} ${successor}.`,
        ...(schemas ? { schemas } : {}),
        handle: (request, query, body) =>
          route.handle(request, query, fixed === undefined ? body : { ...(isObject(body) ? body : {}), ...fixed }),
      };
    });

/** The fields of a schema that have a former name, as pairs of the former and the present name. */
function listDeprecatedFields(fields: Readonly<Record<string, unknown>>): readonly (readonly [string, string])[] {
  return [...deprecatedFields].flatMap(([former, names]) => {
    const present = names.find((name) => Object.hasOwn(fields, name));
    return present === undefined || Object.hasOwn(fields, former) ? [] : [[former, present] as const];
  });
}

/** Returns the value with the former names of fields and values replaced, as far as the schema has the present ones. */
export function renameDeprecated(schema: z.ZodType, value: unknown): unknown {
  if (schema instanceof z.ZodDiscriminatedUnion) return value;
  if (schema instanceof z.ZodUnion) return renameDeprecated(selectVariant(schema, value), value);
  if (schema instanceof z.ZodArray && Array.isArray(value))
    return value.map((each) => renameDeprecated(schema.element as z.ZodType, each));
  if (!(schema instanceof z.ZodObject) || !isObject(value)) return value;
  const former = new Map(listDeprecatedFields(schema.shape));
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => {
      const present = former.get(key);
      const name = present === undefined || Object.hasOwn(value, present) ? key : present;
      const renamed = deprecatedValues.get(name)?.get(field) ?? field;
      return [
        name,
        Object.hasOwn(schema.shape, name) ? renameDeprecated(schema.shape[name] as z.ZodType, renamed) : field,
      ];
    }),
  );
}

/** Returns the variant of a union that the client most likely meant: the one that has most of the fields, by any name. */
export function selectVariant(schema: z.ZodUnion, value: unknown): z.ZodType {
  const keys = isObject(value) ? Object.keys(value) : [];
  const variants = schema.options as readonly z.ZodType[];
  const score = (variant: z.ZodType): number =>
    variant instanceof z.ZodObject
      ? keys.filter((key) =>
          [key, ...(deprecatedFields.get(key) ?? [])].some((name) => Object.hasOwn(variant.shape, name)),
        ).length
      : 0;
  const scores = variants.map(score);
  return variants[scores.indexOf(maxOf(scores))] as z.ZodType;
}

type JsonSchema = { readonly [key: string]: unknown };

/** Returns the JSON schema of a request body with the former names of its fields, marked as deprecated. */
export function addDeprecatedFields(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(addDeprecatedFields);
  if (!isObject(schema)) return schema;
  const inner: JsonSchema = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, key === 'required' ? value : addDeprecatedFields(value)]),
  );
  const { properties, required } = inner;
  if (!isObject(properties)) return inner;
  const former = listDeprecatedFields(properties);
  const isRequired = ([, present]: readonly [string, string]): boolean =>
    Array.isArray(required) && required.includes(present);
  const added = former.map(([name, present]) => [
    name,
    { ...(properties[present] as JsonSchema), deprecated: true, description: `Deprecated: use ${present}.` },
  ]);
  const choices = former.filter(isRequired).map(([name, present]) => ({
    anyOf: [{ required: [present] }, { required: [name] }],
  }));
  const needed = Array.isArray(required)
    ? required.filter((name) => !former.some((pair) => isRequired(pair) && pair[1] === name))
    : [];
  return {
    ...inner,
    properties: { ...properties, ...Object.fromEntries(added) },
    ...(required === undefined ? {} : { required: needed }),
    ...(choices.length === 0 ? {} : { allOf: choices }),
  };
}

/** Returns the former names of query parameters, and a note on former values, for the OpenAPI document. */
export function describeDeprecatedQuery(shape: Readonly<Record<string, unknown>>): {
  readonly former: readonly (readonly [string, string])[];
  readonly notes: Readonly<Record<string, string>>;
} {
  const notes = [...deprecatedValues].flatMap(([name, values]) =>
    Object.hasOwn(shape, name)
      ? [[name, [...values].map(([old, now]) => `\`${String(old)}\` is deprecated: use \`${now}\`.`).join(' ')]]
      : [],
  );
  return { former: listDeprecatedFields(shape), notes: Object.fromEntries(notes) as Record<string, string> };
}

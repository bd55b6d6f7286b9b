// Generates the OpenAPI document from the route table.
import { z } from 'zod';
import type { JsonObject } from '../../core/index.ts';
import { addDeprecatedFields, describeDeprecatedQuery } from './deprecated.ts';
import type { Route } from './route.ts';
import { apiSchemas } from './schemas.ts';

const componentRef = (id: string): string => `#/components/schemas/${id}`;

/** Returns the operation id of a route: `postApiRunsIdCancel`. */
export const getOperationId = ({ method, path }: Pick<Route, 'method' | 'path'>): string =>
  method +
  path
    .split(/[^A-Za-z0-9]+/)
    .filter(Boolean)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('') +
  (path === '/' ? 'Page' : '');

/** Returns the document for these routes. */
export function createOpenApiDocument(routes: readonly Route[], version: string): JsonObject {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(apiSchemas)) registry.add(schema, { id });
  const refTo = (schema: z.ZodType, id: string): JsonObject => {
    if (!registry.has(schema)) registry.add(schema, { id });
    return { $ref: componentRef(registry.get(schema)?.id ?? id) };
  };
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const route of routes) (paths[route.path] ??= {})[route.method] = createOperation(route, refTo);
  const { schemas } = z.toJSONSchema(registry, { uri: componentRef, io: 'input', unrepresentable: 'any' });
  const requestSchemas = new Set([
    'NewRun',
    ...routes.filter(({ path }) => path.startsWith('/api/')).map((route) => getBodySchemaId(route)),
  ]);
  const described = Object.entries(schemas).map(([id, schema]) => {
    const { $schema: _, $id: __, ...rest } = schema as Record<string, unknown>;
    return [id, requestSchemas.has(id) ? addDeprecatedFields(rest) : rest];
  });
  return {
    openapi: '3.1.0',
    info: { title: 'Fairlead', version, license: { name: 'MIT', identifier: 'MIT' } },
    paths,
    components: {
      schemas: Object.fromEntries(described) as JsonObject,
      securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
    },
  };
}

const getBodySchemaId = (route: Route): string => `${getOperationId(route)}Body`;

type RefTo = (schema: z.ZodType, id: string) => JsonObject;

function createOperation(route: Route, refTo: RefTo): JsonObject {
  const { role, summary, schemas, responses: byStatus, path, deprecated } = route;
  const id = getOperationId(route);
  const content = (type: z.ZodType | string, name: string): JsonObject =>
    typeof type === 'string' ? { [type]: {} } : { 'application/json': { schema: refTo(type, name) } };
  const responses = Object.entries(byStatus).map(([status, type]) => [
    status,
    { description: Number(status) < 300 ? 'Success.' : 'Error.', content: content(type, `${id}${status}`) },
  ]);
  return {
    operationId: id,
    ...(deprecated ? { deprecated } : {}),
    summary: role === 'public' ? summary : `${summary} Needs the role ${role}.`,
    security: role === 'public' ? [] : [{ key: [] }],
    ...createParameters(path, schemas?.query),
    ...(schemas?.body
      ? {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: refTo(schemas.body, getBodySchemaId(route)) } },
          },
        }
      : {}),
    responses: {
      ...(Object.fromEntries(responses) as JsonObject),
      default: { description: 'An error with its code and message.', content: content(apiSchemas.Error, 'Error') },
    },
  };
}

function createParameters(path: string, query: z.ZodObject | undefined): JsonObject {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const { former, notes } = describeDeprecatedQuery(path.startsWith('/api/') ? (query?.shape ?? {}) : {});
  const inQuery = Object.entries(query?.shape ?? {}).map(([name, schema]) => {
    const { $schema: _, ...described } = z.toJSONSchema(schema, { io: 'output' }) as Record<string, unknown>;
    const description = Object.hasOwn(notes, name) ? { description: notes[name] } : {};
    return { name, in: 'query', ...description, required: !schema.safeParse(undefined).success, schema: described };
  });
  const inFormerQuery = former.flatMap(([name, present]) => {
    const parameter = inQuery.find((each) => each.name === present);
    return parameter
      ? [{ ...parameter, name, description: `Deprecated: use ${present}.`, required: false, deprecated: true }]
      : [];
  });
  const all = [...inPath, ...inQuery, ...inFormerQuery] as readonly JsonObject[];
  return all.length > 0 ? { parameters: all } : {};
}

// The OpenAPI document: made of the table of routes and of nothing else, so it cannot fall behind.
import { z } from 'zod';
import type { JsonObject } from '../../core/index.ts';
import type { Route } from './route.ts';
import { apiSchemas } from './schemas.ts';

const componentRef = (id: string): string => `#/components/schemas/${id}`;

/** A route's name in the document: `postApiRunsIdCancel`. */
export const getOperationId = ({ method, path }: Pick<Route, 'method' | 'path'>): string =>
  method +
  path
    .split(/[^A-Za-z0-9]+/)
    .filter(Boolean)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('') +
  (path === '/' ? 'Page' : '');

/** The document for these routes. */
export function createOpenApiDocument(routes: readonly Route[], version: string): JsonObject {
  const registry = z.registry<{ id: string }>();
  for (const [id, shape] of Object.entries(apiSchemas)) registry.add(shape, { id });
  const refTo = (schema: z.ZodType, id: string): JsonObject => {
    if (!registry.has(schema)) registry.add(schema, { id });
    return { $ref: componentRef(registry.get(schema)?.id ?? id) };
  };
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const route of routes) (paths[route.path] ??= {})[route.method] = createOperation(route, refTo);
  const { schemas } = z.toJSONSchema(registry, { uri: componentRef, io: 'input', unrepresentable: 'any' });
  const described = Object.entries(schemas).map(([id, schema]) => {
    const { $schema: _, $id: __, ...rest } = schema as Record<string, unknown>;
    return [id, rest];
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

type RefTo = (schema: z.ZodType, id: string) => JsonObject;

function createOperation(route: Route, refTo: RefTo): JsonObject {
  const { role, summary, schemas: asked, responses: answers, path } = route;
  const id = getOperationId(route);
  const content = (what: z.ZodType | string, name: string): JsonObject =>
    typeof what === 'string' ? { [what]: {} } : { 'application/json': { schema: refTo(what, name) } };
  const responses = Object.entries(answers).map(([status, what]) => [
    status,
    { description: Number(status) < 300 ? 'As asked.' : 'Refused.', content: content(what, `${id}${status}`) },
  ]);
  return {
    operationId: id,
    summary: role === 'anyone' ? summary : `${summary} Needs the role ${role}.`,
    security: role === 'anyone' ? [] : [{ key: [] }],
    ...createParameters(path, asked?.query),
    ...(asked?.body
      ? { requestBody: { required: true, content: { 'application/json': { schema: refTo(asked.body, `${id}Body`) } } } }
      : {}),
    responses: {
      ...(Object.fromEntries(responses) as JsonObject),
      default: { description: 'Refused, and why.', content: content(apiSchemas.Fault, 'Fault') },
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
  const inQuery = Object.entries(query?.shape ?? {}).map(([name, schema]) => {
    const { $schema: _, ...described } = z.toJSONSchema(schema, { io: 'output' }) as Record<string, unknown>;
    return { name, in: 'query', required: !schema.safeParse(undefined).success, schema: described };
  });
  const all = [...inPath, ...inQuery] as readonly JsonObject[];
  return all.length > 0 ? { parameters: all } : {};
}

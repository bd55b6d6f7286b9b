// Tests of the OpenAPI document: it lists every route, its references resolve, and responses match its schemas.
import assert from 'node:assert/strict';
import test from 'node:test';
import { Validator, type Schema } from '@cfworker/json-schema';
import { createApiFixture } from '../../../test/support/api-server.ts';
import { createOpenApiDocument, getOperationId } from './openapi.ts';
import { apiRoutes } from './routes/index.ts';

type Operation = {
  readonly operationId: string;
  readonly security: readonly unknown[];
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required: boolean }[];
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } };
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content: Record<string, { schema?: Schema }> }>
  >;
};

type Description = {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};

const description = createOpenApiDocument(apiRoutes, '1.2.3') as unknown as Description;

/** Returns every `$ref` in a value. */
function collectRefs(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => (key === '$ref' ? [String(inner)] : collectRefs(inner)));
}

test('[A85] the document lists every route once, with its parameters, its key and its responses', () => {
  assert.equal(description.openapi, '3.1.0');
  assert.equal(description.info.version, '1.2.3');
  const ids = Object.values(description.paths).flatMap((path) =>
    Object.values(path).map(({ operationId }) => operationId),
  );
  assert.equal(new Set(ids).size, apiRoutes.length);
  for (const route of apiRoutes) {
    const operation = description.paths[route.path]?.[route.method];
    assert.ok(operation, `${route.method} ${route.path}`);
    assert.equal(operation.operationId, getOperationId(route));
    assert.equal(operation.security.length, route.role === 'public' ? 0 : 1);
    const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const told = (operation.parameters ?? []).filter((each) => each.in === 'path');
    assert.deepEqual(
      told.map(({ name }) => name),
      inPath,
    );
    assert.ok(told.every(({ required }) => required));
    assert.deepEqual(Object.keys(operation.responses), [...Object.keys(route.responses), 'default']);
    for (const { description: words } of Object.values(operation.responses)) assert.ok(words);
    assert.equal(operation.requestBody !== undefined, route.schemas?.body !== undefined);
  }
});

test('[A85] every reference in the document resolves to a schema, and every schema is valid', () => {
  const refs = new Set(collectRefs(description));
  assert.ok(refs.size > 20);
  for (const ref of refs) {
    const name = /^#\/components\/schemas\/([^/]+)$/.exec(ref)?.[1] ?? '';
    assert.ok(description.components.schemas[name], ref);
  }
  for (const [name, schema] of Object.entries(description.components.schemas)) {
    assert.ok(!('$schema' in schema) && !('$id' in schema), name);
    assert.doesNotThrow(() => new Validator({ ...schema, components: description.components }, '2020-12').validate({}));
  }
});

test('[A85] [A92] requests and responses of the server match its document', async (t) => {
  const { request } = await createApiFixture(t, { worker: false });
  const told = (await request('GET /openapi.json', { as: 'nobody' })).body as Description;
  const fits = (path: string, method: string, status: number, body: unknown): void => {
    const schema = told.paths[path]?.[method]?.responses[status]?.content['application/json']?.schema;
    assert.ok(schema, `${method} ${path} ${status}`);
    const { valid, errors } = new Validator({ ...schema, components: told.components }, '2020-12').validate(body);
    assert.ok(valid, JSON.stringify(errors));
  };
  const wish = { prompt: 'x', limits: { turns: 3 }, priority: 2 };
  const schema = told.paths['/api/runs']?.['post']?.requestBody?.content['application/json'].schema;
  const asking = new Validator({ ...schema, components: told.components }, '2020-12');
  assert.ok(asking.validate(wish).valid);
  assert.ok(!asking.validate({ ...wish, wrods: 'x' }).valid, 'the document states that unknown fields are refused');
  const begun = await request('POST /api/runs', { body: wish });
  fits('/api/runs', 'post', begun.status, begun.body);
  for (const path of [
    '/api/me',
    '/api/runs',
    '/api/queue',
    '/api/sessions',
    '/api/approvals',
    '/api/health',
    '/api/budgets',
    '/api/kill-switch',
    '/api/scorecard',
    '/v1/models',
  ]) {
    const { status, body } = await request(`GET ${path}`);
    fits(path, 'get', status, body);
  }
});

// HTTP routes without a key: dashboard, liveness, readiness and the OpenAPI document.
import { z } from 'zod';
import type { JsonObject } from '../../../core/index.ts';
import { createOpenApiDocument } from '../openapi.ts';
import { readAsset, readIndexPage } from '../static.ts';
import { createHttpError } from '../errors.ts';
import { defineRoute, type Route } from '../route.ts';

/** The generated document by version: it is public, so a client must not be able to make the server generate it again and again. */
const documentCache = new Map<string, JsonObject>();

function getOpenApiDocument(routes: () => readonly Route[], version: string): JsonObject {
  const known = documentCache.get(version) ?? createOpenApiDocument(routes(), version);
  documentCache.set(version, known);
  return known;
}

const okSchema = z.object({ ok: z.literal(true) });

/** Creates the routes without a key; `routes` returns the whole route table, which the OpenAPI document describes. */
export const publicRoutes = (routes: () => readonly Route[]): readonly Route[] => [
  defineRoute({
    method: 'get',
    path: '/',
    role: 'public',
    summary: 'The dashboard.',
    responses: { 200: 'text/html' },
    handle: ({ context }) => readIndexPage(context.staticDir),
  }),
  defineRoute({
    method: 'get',
    path: '/assets/{file}',
    role: 'public',
    summary: 'A script or style of the dashboard.',
    responses: { 200: '*/*' },
    handle: ({ context, params }) => readAsset(context.staticDir, params['file'] ?? ''),
  }),
  defineRoute({
    method: 'get',
    path: '/healthz',
    role: 'public',
    summary: 'Liveness check.',
    responses: { 200: okSchema },
    handle: () => ({ json: { ok: true } }),
  }),
  defineRoute({
    method: 'get',
    path: '/readyz',
    role: 'public',
    summary: 'Readiness check: the store can be reached and the server accepts runs.',
    responses: { 200: okSchema },
    async handle({ context }) {
      if (context.shutdownSignal.aborted) throw createHttpError('server/busy', 'The server is shutting down.');
      await context.store.ping().catch(() => {
        throw createHttpError('server/busy', 'The store cannot be reached.');
      });
      return { json: { ok: true } };
    },
  }),
  defineRoute({
    method: 'get',
    path: '/openapi.json',
    role: 'public',
    summary: 'This API as an OpenAPI 3.1 document.',
    responses: { 200: z.looseObject({ openapi: z.string() }) },
    handle: ({ context }) => ({ json: getOpenApiDocument(routes, context.version) }),
  }),
];

// The routes that anybody may ask: the page, whether the server is there, and what it can be asked.
import { z } from 'zod';
import type { JsonObject } from '../../../core/index.ts';
import { createOpenApiDocument } from '../openapi.ts';
import { readAsset, readIndexPage } from '../static.ts';
import { createHttpError } from '../errors.ts';
import { defineRoute, type Route } from '../route.ts';

/** The documents that were made, by version: anybody may ask for one, as often as they like. */
const documentCache = new Map<string, JsonObject>();

function getOpenApiDocument(table: () => readonly Route[], version: string): JsonObject {
  const known = documentCache.get(version) ?? createOpenApiDocument(table(), version);
  documentCache.set(version, known);
  return known;
}

const okSchema = z.object({ ok: z.literal(true) });

/** The routes that need no key, over the table that one of them describes. */
export const publicRoutes = (table: () => readonly Route[]): readonly Route[] => [
  defineRoute({
    method: 'get',
    path: '/',
    role: 'anyone',
    summary: 'The page.',
    responses: { 200: 'text/html' },
    handle: ({ context }) => readIndexPage(context.staticDir),
  }),
  defineRoute({
    method: 'get',
    path: '/assets/{file}',
    role: 'anyone',
    summary: 'What the page is made of.',
    responses: { 200: '*/*' },
    handle: ({ context, params }) => readAsset(context.staticDir, params['file'] ?? ''),
  }),
  defineRoute({
    method: 'get',
    path: '/healthz',
    role: 'anyone',
    summary: 'Whether the server is there.',
    responses: { 200: okSchema },
    handle: () => ({ json: { ok: true } }),
  }),
  defineRoute({
    method: 'get',
    path: '/readyz',
    role: 'anyone',
    summary: 'Whether the server can reach its store and takes work.',
    responses: { 200: okSchema },
    async handle({ context }) {
      if (context.shutdownSignal.aborted) throw createHttpError('server/busy', 'The server ends.');
      await context.store.ping().catch(() => {
        throw createHttpError('server/busy', 'The store cannot be reached.');
      });
      return { json: { ok: true } };
    },
  }),
  defineRoute({
    method: 'get',
    path: '/openapi.json',
    role: 'anyone',
    summary: 'What can be asked, as OpenAPI 3.1.',
    responses: { 200: z.looseObject({ openapi: z.string() }) },
    handle: ({ context }) => ({ json: getOpenApiDocument(table, context.version) }),
  }),
];

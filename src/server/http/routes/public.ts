// HTTP routes without a key: dashboard, liveness, readiness and the OpenAPI document.
import { readFile, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { JsonObject } from '../../../core/index.ts';
import { createOpenApiDocument } from '../openapi.ts';
import { createHttpError } from '../errors.ts';
import { defineRoute, type Route, type RouteResponse } from '../route.ts';

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

const contentTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
};

const notBuiltPage =
  '<!doctype html><title>Fairlead</title><p>The dashboard is not built: run <code>npm run build</code>. The API works; /openapi.json describes it.</p>';

/** Returns the dashboard, or a note that it is not built. The page contains no data: it fetches data with a key. */
async function readIndexPage(folder: string | undefined): Promise<RouteResponse> {
  const found = folder === undefined ? undefined : await readFileWithin(folder, 'index.html');
  return {
    content: found ?? notBuiltPage,
    type: contentTypes['.html'] ?? '',
    headers: { 'cache-control': 'no-cache' },
  };
}

/** Returns an asset. Its name changes with its content, so browsers may cache it. */
async function readAsset(folder: string | undefined, name: string): Promise<RouteResponse> {
  const type = contentTypes[path.extname(name)];
  const isPlain = /^[\w-][\w.-]*$/.test(name) && type !== undefined;
  const content = folder !== undefined && isPlain ? await readFileWithin(path.join(folder, 'assets'), name) : undefined;
  if (content === undefined || type === undefined) throw createHttpError('server/not-found', 'File not found.');
  return { content, type, headers: { 'cache-control': 'public, max-age=31536000, immutable' } };
}

/** Reads a file directly in a directory; undefined if the path leads out of it by a link. */
async function readFileWithin(folder: string, name: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  try {
    const [real, base] = await Promise.all([realpath(path.join(folder, name)), realpath(folder)]);
    if (path.dirname(real) !== base || !(await stat(real)).isFile()) return undefined;
    return new Uint8Array(await readFile(real));
  } catch {
    return undefined;
  }
}

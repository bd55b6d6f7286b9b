// The routes that anybody may ask: the page, whether the server is there, and what it can be asked.
import { z } from 'zod';
import type { JsonObject } from '../../core/index.ts';
import { documentOf } from '../openapi.ts';
import { assetIn, pageIn } from '../page.ts';
import { refused } from '../faults.ts';
import { route, type Route } from '../route.ts';

/** The documents that were made, by version: anybody may ask for one, as often as they like. */
const made = new Map<string, JsonObject>();

function described(table: () => readonly Route[], version: string): JsonObject {
  const known = made.get(version) ?? documentOf(table(), version);
  made.set(version, known);
  return known;
}

const ok = z.object({ ok: z.literal(true) });

/** The routes that need no key, over the table that one of them describes. */
export const openRoutes = (table: () => readonly Route[]): readonly Route[] => [
  route({
    method: 'get',
    path: '/',
    role: 'anyone',
    summary: 'The page.',
    answers: { 200: 'text/html' },
    handle: ({ place }) => pageIn(place.page),
  }),
  route({
    method: 'get',
    path: '/assets/{file}',
    role: 'anyone',
    summary: 'What the page is made of.',
    answers: { 200: '*/*' },
    handle: ({ place, params }) => assetIn(place.page, params['file'] ?? ''),
  }),
  route({
    method: 'get',
    path: '/healthz',
    role: 'anyone',
    summary: 'Whether the server is there.',
    answers: { 200: ok },
    handle: () => ({ json: { ok: true } }),
  }),
  route({
    method: 'get',
    path: '/readyz',
    role: 'anyone',
    summary: 'Whether the server can reach its store and takes work.',
    answers: { 200: ok },
    async handle({ place }) {
      if (place.ending.aborted) throw refused('server/busy', 'The server ends.');
      await place.store.ping().catch(() => {
        throw refused('server/busy', 'The store cannot be reached.');
      });
      return { json: { ok: true } };
    },
  }),
  route({
    method: 'get',
    path: '/openapi.json',
    role: 'anyone',
    summary: 'What can be asked, as OpenAPI 3.1.',
    answers: { 200: z.looseObject({ openapi: z.string() }) },
    handle: ({ place }) => ({ json: described(table, place.version) }),
  }),
];

// The Hono app of the server: every request passes the same guards in the same order before its route.
import type { ServerResponse } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { Hono, type Context } from 'hono';
import { errorMessage } from '../../core/index.ts';
import { createAuthorizer } from './authorize.ts';
import {
  readJsonBody,
  assertAllowedHost,
  assertAllowedOrigin,
  createConcurrencyLimiter,
  type GuardedRequest,
} from './request-guards.ts';
import { toHttpError, createHttpError, formatOpenAiError } from './errors.ts';
import type { Caller } from './keys.ts';
import { createContextProvider, type ServerParts } from './request-context.ts';
import type { RouteResponse, Route } from './route.ts';
import { nameSchema } from './schemas.ts';
import { sseHeaders } from './sse.ts';

type Env = { readonly Bindings: HttpBindings };

/** Security headers of every response. */
export const securityHeaders: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

/** Creates the app. `hosts` are allowed values of the Host header besides those of this machine. */
export function createApp(parts: ServerParts, routes: readonly Route[], hosts: readonly string[]): Hono<Env> {
  const { limits, notify, shutdownSignal } = parts;
  const authorize = createAuthorizer(parts);
  const getContext = createContextProvider(parts);
  const acquireRequest = createConcurrencyLimiter(limits.requests);
  const acquireStream = createConcurrencyLimiter(limits.streams);
  const acquirePublic = createConcurrencyLimiter(limits.requests);
  const app = new Hono<Env>();

  async function handle(c: Context<Env>, route: Route): Promise<Response> {
    const { incoming, outgoing } = c.env;
    const caller = authorize(toGuardedRequest(c), route.role, incoming.socket.remoteAddress ?? '');
    if (!route.exemptFromLimits) outgoing.once('close', acquireSlot(route, caller));
    const disconnected = new AbortController();
    outgoing.once('close', () => disconnected.abort());
    const signal = AbortSignal.any([disconnected.signal, shutdownSignal]);
    const body = route.schemas?.body ? await readRequestBody(c, limits.bodyBytes) : undefined;
    const context = getContext(caller);
    const request = { context, caller, params: parsePathParams(c, route), headers: incoming.headers, signal };
    const result = await route.handle(request, c.req.query(), body);
    const response = await toHttpResponse(result, outgoing).catch((error: unknown) => {
      if (!outgoing.headersSent) throw error;
      // A response that has started cannot carry an error status: the client sees that it is cut off.
      notify(`A response was cut off: ${errorMessage(error)}`);
      outgoing.destroy();
      return RESPONSE_ALREADY_SENT;
    });
    // A client that does not read its response must not keep a slot.
    if (!('stream' in result)) outgoing.setTimeout(limits.stallMs, () => outgoing.destroy());
    return response;
  }

  /** Requests without a key have a limit of their own: they must not block clients with a key. */
  function acquireSlot({ role, responses }: Route, { tenant }: Caller): () => void {
    if (role === 'public') return acquirePublic();
    return Object.values(responses).includes('text/event-stream') ? acquireStream(tenant) : acquireRequest(tenant);
  }

  app.use('*', async (c, next) => {
    const request = toGuardedRequest(c);
    assertAllowedHost(request, hosts);
    assertAllowedOrigin(request);
    await next();
    for (const [header, value] of Object.entries(securityHeaders)) c.res.headers.set(header, value);
    if (!c.res.headers.has('cache-control')) c.res.headers.set('cache-control', 'no-store');
  });
  for (const each of routes)
    app.on(each.method.toUpperCase(), each.path.replaceAll(/\{(\w+)\}/g, ':$1'), (c) => handle(c, each));
  app.notFound((c) => {
    const request = toGuardedRequest(c);
    // Without a key, a client must not learn which paths exist.
    if (/^\/(?:api|v1|metrics)(?:\/|$)/.test(request.path))
      authorize(request, 'reader', c.env.incoming.socket.remoteAddress ?? '');
    const methods = routes
      .filter(({ path }) => matchesPath(path, request.path))
      .map(({ method }) => method.toUpperCase());
    if (methods.length === 0) throw createHttpError('server/not-found', 'Not found.');
    c.header('allow', methods.join(', '));
    throw createHttpError('server/wrong-method', `Method not allowed. Use ${methods.join(', ')}.`);
  });
  app.onError((error, c) => {
    const response = toHttpError(error);
    if (response.message !== error.message) notify(`A request failed: ${errorMessage(error)}`);
    for (const [header, value] of Object.entries({ ...securityHeaders, ...response.headers })) c.header(header, value);
    c.header('cache-control', 'no-store');
    // The rest of a body that is too large is not read.
    if (response.status === 413) c.header('connection', 'close');
    const { code, message, hint } = response;
    const formatted = c.req.path.startsWith('/v1/')
      ? formatOpenAiError(response)
      : { code, message, ...(hint === undefined ? {} : { hint }) };
    return c.json({ error: formatted }, response.status as 500);
  });
  return app;
}

const toGuardedRequest = (c: Context<Env>): GuardedRequest => ({
  method: c.req.method,
  path: c.req.path,
  header: (header) => c.req.header(header),
  localAddress: c.env.incoming.socket.localAddress,
});

const matchesPath = (pattern: string, path: string): boolean =>
  new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path);

function parsePathParams(c: Context<Env>, { path }: Route): Readonly<Record<string, string>> {
  const params = c.req.param() as Record<string, string>;
  if (path.startsWith('/assets/') || path.startsWith('/v1/models/')) return params;
  for (const [key, value] of Object.entries(params))
    if (!nameSchema.safeParse(value).success) throw createHttpError('server/bad-request', `Invalid ${key} in path.`);
  return params;
}

async function readRequestBody(c: Context<Env>, maxBytes: number): Promise<unknown> {
  const { headers } = c.env.incoming;
  const isEmpty = headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0';
  return isEmpty ? {} : readJsonBody(c.req.raw, maxBytes);
}

async function toHttpResponse(result: RouteResponse, outgoing: ServerResponse): Promise<Response> {
  if ('stream' in result) {
    for (const [header, value] of Object.entries({ ...securityHeaders, ...sseHeaders, ...result.headers }))
      outgoing.setHeader(header, value);
    await result.stream(outgoing);
    return RESPONSE_ALREADY_SENT;
  }
  if ('content' in result)
    return new Response(result.content, { headers: { 'content-type': result.type, ...result.headers } });
  return Response.json(result.json, {
    status: result.status ?? 200,
    ...(result.headers ? { headers: result.headers } : {}),
  });
}

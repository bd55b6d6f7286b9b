// The table of routes as a Hono app: every request passes the same doors, in the same order, before its route sees it.
import type { ServerResponse } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { Hono, type Context } from 'hono';
import { errorMessage } from '../../core/index.ts';
import {
  readJsonBody,
  assertAllowedHost,
  assertAllowedOrigin,
  createConcurrencyLimiter,
  parseBearerKey,
  createRateLimiter,
  type GuardedRequest,
} from './request-guards.ts';
import { toHttpError, createHttpError } from './errors.ts';
import { hasRole, type Caller } from './keys.ts';
import { formatOpenAiError } from '../openai/errors.ts';
import type { ServerContext } from './context.ts';
import type { RouteResponse, Route } from './route.ts';
import { nameSchema } from './schemas.ts';
import { sseHeaders } from './sse.ts';

type Env = { readonly Bindings: HttpBindings };

/** What every answer says to browsers: nothing from elsewhere, nothing inside other pages, nothing guessed, nothing told on. */
export const securityHeaders: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

const anonymousCaller: Caller = { role: 'reader', name: 'nobody' };

/** The app of a server. `names` are those under which it may be spoken to beside those of this machine. */
export function createApp(place: ServerContext, routes: readonly Route[], names: readonly string[]): Hono<Env> {
  const { limits, keys } = place;
  const often = createRateLimiter(limits.rate);
  const knock = createRateLimiter(limits.anonymousRate);
  const enter = createConcurrencyLimiter(limits.requests);
  const enterStream = createConcurrencyLimiter(limits.streams);
  const enterOpen = createConcurrencyLimiter(limits.requests);
  const app = new Hono<Env>();

  /** Who asks, if their key is good for this. */
  function callerFor(arrival: GuardedRequest, needed: Route['role'], address: string): Caller {
    if (needed === 'public') return anonymousCaller;
    const key = parseBearerKey(arrival);
    const caller = keys.authenticate(key);
    if (!caller) {
      knock(address);
      throw createHttpError(
        'server/no-key',
        key === '' ? 'This needs a key: Authorization: Bearer <key>.' : 'This key is wrong.',
      );
    }
    often(caller.name);
    if (hasRole(caller.role, needed)) return caller;
    throw createHttpError(
      'server/role',
      `A key of a ${caller.role} is not enough for this: it needs the role ${needed}.`,
    );
  }

  async function handled(c: Context<Env>, route: Route): Promise<Response> {
    const { incoming, outgoing } = c.env;
    const caller = callerFor(toGuardedRequest(c), route.role, incoming.socket.remoteAddress ?? '');
    if (!route.exemptFromLimits) outgoing.once('close', doorOf(route)());
    const gone = new AbortController();
    outgoing.once('close', () => gone.abort());
    const signal = AbortSignal.any([gone.signal, place.shutdownSignal]);
    const body = route.schemas?.body ? await readRequestBody(c, limits.bodyBytes) : undefined;
    const asked = { context: place, caller, params: parsePathParams(c, route), headers: incoming.headers, signal };
    const answer = await route.handle(asked, c.req.query(), body);
    const response = await toHttpResponse(answer, outgoing);
    // Whoever does not read what they asked for keeps neither their place nor the answer.
    if (!('stream' in answer)) outgoing.setTimeout(limits.stallMs, () => outgoing.destroy());
    return response;
  }

  /** Who needs no key is counted apart: strangers must not take the places of those who have one. */
  function doorOf({ role, responses }: Route): typeof enter {
    if (Object.values(responses).includes('text/event-stream')) return enterStream;
    return role === 'public' ? enterOpen : enter;
  }

  app.use('*', async (c, next) => {
    const arrival = toGuardedRequest(c);
    assertAllowedHost(arrival, names);
    assertAllowedOrigin(arrival);
    await next();
    for (const [header, value] of Object.entries(securityHeaders)) c.res.headers.set(header, value);
    if (!c.res.headers.has('cache-control')) c.res.headers.set('cache-control', 'no-store');
  });
  for (const each of routes)
    app.on(each.method.toUpperCase(), each.path.replaceAll(/\{(\w+)\}/g, ':$1'), (c) => handled(c, each));
  app.notFound((c) => {
    const arrival = toGuardedRequest(c);
    // What is behind a key tells nobody without one what there is.
    if (/^\/(?:api|v1|metrics)(?:\/|$)/.test(arrival.path))
      callerFor(arrival, 'reader', c.env.incoming.socket.remoteAddress ?? '');
    const methods = routes
      .filter(({ path }) => matchesPath(path, arrival.path))
      .map(({ method }) => method.toUpperCase());
    if (methods.length === 0) throw createHttpError('server/not-found', 'There is nothing here.');
    c.header('allow', methods.join(', '));
    throw createHttpError('server/wrong-method', `Here only ${methods.join(', ')} will do.`);
  });
  app.onError((error, c) => {
    const refusal = toHttpError(error);
    if (refusal.message !== error.message) place.notify(`A request failed: ${errorMessage(error)}`);
    for (const [header, value] of Object.entries({ ...securityHeaders, ...refusal.headers })) c.header(header, value);
    c.header('cache-control', 'no-store');
    // What is left of a body that is too long is not read.
    if (refusal.status === 413) c.header('connection', 'close');
    const { code, message, hint } = refusal;
    const told = c.req.path.startsWith('/v1/')
      ? formatOpenAiError(refusal)
      : { code, message, ...(hint === undefined ? {} : { hint }) };
    return c.json({ error: told }, refusal.status as 500);
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
    if (!nameSchema.safeParse(value).success)
      throw createHttpError('server/bad-request', `The ${key} in the path is no name.`);
  return params;
}

async function readRequestBody(c: Context<Env>, most: number): Promise<unknown> {
  const { headers } = c.env.incoming;
  const isEmpty = headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0';
  return isEmpty ? {} : readJsonBody(c.req.raw, most);
}

async function toHttpResponse(answer: RouteResponse, outgoing: ServerResponse): Promise<Response> {
  if ('stream' in answer) {
    for (const [header, value] of Object.entries({ ...securityHeaders, ...sseHeaders, ...answer.headers }))
      outgoing.setHeader(header, value);
    await answer.stream(outgoing);
    return RESPONSE_ALREADY_SENT;
  }
  if ('content' in answer)
    return new Response(answer.content, { headers: { 'content-type': answer.type, ...answer.headers } });
  return Response.json(answer.json, {
    status: answer.status ?? 200,
    ...(answer.headers ? { headers: answer.headers } : {}),
  });
}

// Request guards: allowed hosts and origins, rate and concurrency limits, bounded JSON bodies.
import { isIP } from 'node:net';
import { isLoopbackHost } from '../../core/index.ts';
import { createHttpError } from './errors.ts';

/** The part of a request that guards check. */
export type GuardedRequest = {
  readonly method: string;
  readonly path: string;
  readonly header: (name: string) => string | undefined;
  /** The local address of the connection. */
  readonly localAddress: string | undefined;
};

/** Throws 403 unless the Host header is a name of this server: protects against DNS rebinding. */
export function assertAllowedHost({ header, localAddress }: GuardedRequest, names: readonly string[]): void {
  const host = parseHostname(`http://${header('host') ?? ''}`);
  const ours = isIP(host) !== 0 && host === localAddress?.replace(/^::ffff:/, '');
  if (host !== '' && (isLoopbackHost(host) || ours || names.includes(host))) return;
  throw createHttpError('server/wrong-host', 'Host header not allowed.', {
    hint: 'Use localhost, or start the server with --allowed-host <name>.',
  });
}

/** Throws 403 for requests of pages of another origin. Links from other sites to the dashboard are allowed. */
export function assertAllowedOrigin({ method, path, header }: GuardedRequest): void {
  const origin = header('origin');
  const site = header('sec-fetch-site');
  const foreign =
    origin === undefined
      ? (site === 'cross-site' || site === 'same-site') &&
        !(method === 'GET' && path === '/' && header('sec-fetch-mode') === 'navigate')
      : parseAuthority(origin) !== (header('host') ?? '').toLowerCase();
  if (foreign) throw createHttpError('server/wrong-origin', 'Origin not allowed.');
}

const parseHostname = (url: string): string =>
  URL.canParse(url) ? new URL(url).hostname.replaceAll(/^\[|\]$/g, '').toLowerCase() : '';

/** Returns the host and port of an origin, as in a Host header. */
const parseAuthority = (origin: string): string | undefined =>
  URL.canParse(origin) ? new URL(origin).host : undefined;

/** Returns the bearer key of a request; empty if there is none. */
export const parseBearerKey = ({ header }: Pick<GuardedRequest, 'header'>): string =>
  /^Bearer +(\S.*)$/i.exec(header('authorization') ?? '')?.[1] ?? '';

/** A token bucket: `burst` requests at once, refilled with `perSecond`. */
export type RequestRate = { readonly burst: number; readonly perSecond: number };

/** Creates a rate limiter: it throws 429 if a name exceeds its rate. */
export function createRateLimiter(
  { burst, perSecond }: RequestRate,
  now: () => number = () => performance.now(),
): (name: string) => void {
  const buckets = new Map<string, { left: number; at: number }>();
  return (name) => {
    const at = now();
    const bucket = buckets.get(name) ?? { left: burst, at };
    const left = Math.min(burst, bucket.left + ((at - bucket.at) / 1000) * perSecond);
    if (left < 1)
      throw createHttpError(
        'server/too-many',
        `Rate limit exceeded. Retry in ${Math.ceil((1 - left) / perSecond)} s.`,
        {
          afterMs: ((1 - left) / perSecond) * 1000,
        },
      );
    // Map order is insertion order: the least recently used bucket is deleted first.
    buckets.delete(name);
    buckets.set(name, { left: left - 1, at });
    for (const [old] of buckets) {
      if (buckets.size <= maxBuckets) break;
      buckets.delete(old);
    }
  };
}

const maxBuckets = 10_000;

/** Takes a slot for a request, and returns a function that releases it; throws 503 if there is none for this tenant. */
export type AcquireSlot = (tenant?: string) => () => void;

/** Creates a concurrency limiter. One tenant gets a quarter of the slots, all tenants three quarters: the rest is left to clients without a tenant. */
export function createConcurrencyLimiter(max: number): AcquireSlot {
  const perTenant = Math.max(1, Math.floor(max / 4));
  const allTenants = Math.max(1, Math.floor((max * 3) / 4));
  const byTenant = new Map<string, number>();
  let active = 0;
  let tenantsActive = 0;

  function add(tenant: string | undefined, change: 1 | -1): void {
    active += change;
    if (tenant === undefined) return;
    tenantsActive += change;
    const count = (byTenant.get(tenant) ?? 0) + change;
    if (count > 0) byTenant.set(tenant, count);
    else byTenant.delete(tenant);
  }

  return (tenant) => {
    const own = tenant === undefined ? 0 : (byTenant.get(tenant) ?? 0);
    if (active >= max || own >= perTenant || (tenant !== undefined && tenantsActive >= allTenants))
      throw createHttpError(
        'server/busy',
        `Too many concurrent requests (limit ${active >= max || tenant === undefined ? max : `${perTenant} of a tenant`}).`,
        { afterMs: 1000 },
      );
    add(tenant, 1);
    let isReleased = false;
    return () => {
      if (!isReleased) add(tenant, -1);
      isReleased = true;
    };
  };
}

/** Reads and parses a JSON body of at most `maxBytes`. */
export async function readJsonBody(request: Request, maxBytes: number): Promise<unknown> {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json')
    throw createHttpError('server/wrong-type', 'Unsupported content type: use application/json.');
  const encoding = request.headers.get('content-encoding') ?? 'identity';
  if (encoding !== 'identity')
    throw createHttpError('server/wrong-type', 'Unsupported content encoding: send the body uncompressed.');
  const tooLarge = createHttpError('server/too-large', `The body is too large (limit ${maxBytes} bytes).`);
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge;
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge;
    chunks.push(chunk);
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
    if (measureJsonDepth(text) <= maxJsonDepth) return JSON.parse(text) as unknown;
  } catch {
    throw createHttpError('server/bad-request', 'The body is not valid JSON.');
  }
  throw createHttpError('server/bad-request', `The body is nested too deeply (limit ${maxJsonDepth} levels).`);
}

/** Deeper JSON can be parsed but overflows the stack when it is serialized. */
const maxJsonDepth = 100;

/** Returns the nesting depth of a JSON text in one pass; brackets in strings do not count. */
function measureJsonDepth(text: string): number {
  let depth = 0;
  let max = 0;
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const each = text[i];
    if (quoted && each === '\\') i++;
    else if (each === '"') quoted = !quoted;
    else if (!quoted && (each === '[' || each === '{')) max = Math.max(max, ++depth);
    else if (!quoted && (each === ']' || each === '}')) depth--;
  }
  return max;
}

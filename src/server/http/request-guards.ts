// The doors of the server: under which name it is spoken to, from which page, how often, by how many at once, and with how long a body.
import { isIP } from 'node:net';
import { isLoopbackHost } from '../../core/index.ts';
import { createHttpError } from './errors.ts';

/** What a door looks at. */
export type GuardedRequest = {
  readonly method: string;
  readonly path: string;
  readonly header: (name: string) => string | undefined;
  /** The address of this machine at which the caller arrived. */
  readonly localAddress: string | undefined;
};

/** Throws unless the server is spoken to under a name of its own: a page that rebinds its name to this machine is not. */
export function assertAllowedHost({ header, localAddress }: GuardedRequest, names: readonly string[]): void {
  const host = parseHostname(`http://${header('host') ?? ''}`);
  const ours = isIP(host) !== 0 && host === localAddress?.replace(/^::ffff:/, '');
  if (host !== '' && (isLoopbackHost(host) || ours || names.includes(host))) return;
  throw createHttpError('server/wrong-host', 'This server does not answer under that name.', {
    hint: 'Use localhost, or start it with --allowed-host <name>.',
  });
}

/** Throws where a page of another origin asks. A link from elsewhere to the page itself is followed. */
export function assertAllowedOrigin({ method, path, header }: GuardedRequest): void {
  const origin = header('origin');
  const site = header('sec-fetch-site');
  const foreign =
    origin === undefined
      ? (site === 'cross-site' || site === 'same-site') &&
        !(method === 'GET' && path === '/' && header('sec-fetch-mode') === 'navigate')
      : parseAuthority(origin) !== (header('host') ?? '').toLowerCase();
  if (foreign) throw createHttpError('server/wrong-origin', 'Pages of other origins may not use this server.');
}

const parseHostname = (url: string): string =>
  URL.canParse(url) ? new URL(url).hostname.replaceAll(/^\[|\]$/g, '').toLowerCase() : '';

/** The name and port of an origin, as a Host header has them. */
const parseAuthority = (origin: string): string | undefined =>
  URL.canParse(origin) ? new URL(origin).host : undefined;

/** The bearer's key, or an empty one. */
export const parseBearerKey = ({ header }: Pick<GuardedRequest, 'header'>): string =>
  /^Bearer +(\S.*)$/i.exec(header('authorization') ?? '')?.[1] ?? '';

/** How often each may ask: so many at once, and so many more every second. */
export type RequestRate = { readonly burst: number; readonly perSecond: number };

/** Lets each name ask at its rate, and throws where one asks more often. */
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
      throw createHttpError('server/too-many', 'That is too often.', {
        afterMs: ((1 - left) / perSecond) * 1000,
      });
    // The latest last, so that the first ones are those to forget.
    buckets.delete(name);
    buckets.set(name, { left: left - 1, at });
    for (const [old] of buckets) {
      if (buckets.size <= maxBuckets) break;
      buckets.delete(old);
    }
  };
}

const maxBuckets = 10_000;

/** Lets so many in at once, and throws where one more comes; what it gives is called when one leaves. */
export function createConcurrencyLimiter(most: number): () => () => void {
  let inside = 0;
  return () => {
    if (inside >= most) throw createHttpError('server/busy', `${most} requests are under way.`, { afterMs: 1000 });
    inside++;
    let gone = false;
    return () => {
      if (!gone) inside--;
      gone = true;
    };
  };
}

/** The JSON in a request's body, bounded while it is read. */
export async function readJsonBody(request: Request, most: number): Promise<unknown> {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json')
    throw createHttpError('server/wrong-type', 'The body has to be JSON (application/json).');
  const encoding = request.headers.get('content-encoding') ?? 'identity';
  if (encoding !== 'identity') throw createHttpError('server/wrong-type', 'The body may not be compressed.');
  const long = createHttpError('server/too-large', `A body may have ${most} bytes.`);
  if (Number(request.headers.get('content-length') ?? 0) > most) throw long;
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of request.body ?? []) {
    size += piece.length;
    if (size > most) throw long;
    pieces.push(piece);
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(pieces));
    if (measureJsonDepth(text) <= maxJsonDepth) return JSON.parse(text) as unknown;
  } catch {
    throw createHttpError('server/bad-request', 'The body is not JSON.');
  }
  throw createHttpError('server/bad-request', `The body is nested deeper than ${maxJsonDepth} levels.`);
}

/** Levels of a body: what is nested deeper could be read and then not be written again. */
const maxJsonDepth = 100;

/** How deep a text nests, if it is JSON; what stands between quotes does not count. Each character is looked at once. */
function measureJsonDepth(text: string): number {
  let depth = 0;
  let most = 0;
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const each = text[i];
    if (quoted && each === '\\') i++;
    else if (each === '"') quoted = !quoted;
    else if (!quoted && (each === '[' || each === '{')) most = Math.max(most, ++depth);
    else if (!quoted && (each === ']' || each === '}')) depth--;
  }
  return most;
}

// The door to the network: what is asked is judged by the address it really has, hop by hop, and asked at that very address.
import { isIP } from 'node:net';
import {
  FairleadError,
  errorMessage,
  escapeInvisibleLine,
  type FetchResult,
  type FetchRequest,
} from '../../core/index.ts';
import { isPublic } from './addresses.ts';
import { hostOf, isListed, refuseNet, urlOf } from './hosts.ts';
import type { NetOptions } from './network.ts';
import { ask, type Answer } from './request.ts';

/** How long it may take, and how much may come back. */
type Bounds = { readonly signal: AbortSignal; readonly most: number };

const mostHops = 5;
const usualMs = 30_000;
const usualBytes = 5 * 1024 * 1024;
/** Headers that say nothing about who asks: all that goes along to another site. */
const harmless = new Set(['accept', 'accept-language', 'user-agent']);

/** Asks through a door that is open this far. */
export async function fetchFrom(
  options: NetOptions,
  request: FetchRequest,
  { signal, timeoutMs = usualMs }: { readonly signal?: AbortSignal; readonly timeoutMs?: number } = {},
): Promise<FetchResult> {
  const late = AbortSignal.timeout(timeoutMs);
  const bounds: Bounds = {
    signal: signal ? AbortSignal.any([signal, late]) : late,
    most: request.maxBytes ?? usualBytes,
  };
  const url = urlOf(request.url);
  try {
    return await follow(options, { ...request, url: url.href }, bounds);
  } catch (error) {
    if (signal?.aborted)
      throw new FairleadError('network/interrupted', 'The request was interrupted.', { blame: 'user', cause: error });
    if (error instanceof FairleadError) throw error;
    const why = late.aborted ? `did not answer within ${timeoutMs / 1000} s` : `could not be asked: ${wordsOf(error)}`;
    throw new FairleadError(
      late.aborted ? 'network/timeout' : 'network/failed',
      `${escapeInvisibleLine(url.host)} ${why}.`,
      {
        blame: 'tool',
        retry: true,
        cause: error,
      },
    );
  }
}

/** What went wrong, without the URL: its path and query may hold what is nobody's business. */
function wordsOf(error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? code : errorMessage(error);
}

async function follow(options: NetOptions, first: FetchRequest, bounds: Bounds): Promise<FetchResult> {
  let request = first;
  for (let hops = 0; hops <= mostHops; hops++) {
    const url = urlOf(request.url);
    const addresses = await judged(url, options, bounds.signal);
    const answer = await ask(request, { ...bounds, ...options, url, addresses });
    const onward = redirected(request, url, answer);
    if (!onward) return { ...answer, url: url.href };
    request = onward;
  }
  throw refuseNet('redirects', `It redirected more than ${mostHops} times, so it was given up.`);
}

/** The addresses that may be asked for this URL; throws where one of them is none of the open internet. */
async function judged(url: URL, options: NetOptions, signal: AbortSignal): Promise<readonly string[]> {
  const { hosts, privateHosts = [], resolve = systemLookup, proxy } = options;
  const host = hostOf(url);
  const shown = escapeInvisibleLine(url.host);
  const isOwn = isListed(url, privateHosts);
  if (hosts && !isOwn && !isListed(url, hosts))
    throw refuseNet('not-allowed', `${shown} is not among the hosts that may be asked, so nothing was sent.`);
  const addresses = isIP(host) ? [host] : await unlessOver(resolve(host), signal, proxy !== undefined);
  if (addresses.length === 0 && proxy === undefined)
    throw new FairleadError('network/unknown-host', `There is no host named ${shown}.`, { blame: 'model' });
  const closed = isOwn ? undefined : addresses.find((each) => !isPublic(each));
  if (closed !== undefined)
    throw refuseNet('private', `${shown} is on a private network (${closed}), which is closed, so nothing was sent.`);
  return addresses;
}

const systemLookup = async (host: string): Promise<readonly string[]> =>
  // Loaded by who asks for a name: it costs a start that asks for none.
  (await process.getBuiltinModule('node:dns/promises').lookup(host, { all: true })).map(({ address }) => address);

/** The system's search for a name cannot be stopped, but nobody has to wait for it. A name that only the proxy knows has no address here. */
async function unlessOver(
  search: Promise<readonly string[]>,
  signal: AbortSignal,
  mayFail: boolean,
): Promise<readonly string[]> {
  signal.throwIfAborted();
  const { promise: over, reject } = Promise.withResolvers<never>();
  const quit = (): void => reject(signal.reason as Error);
  signal.addEventListener('abort', quit, { once: true });
  try {
    return await Promise.race([search, over]);
  } catch (error) {
    const isUnknown = ['ENOTFOUND', 'EAI_AGAIN', 'ENODATA'].includes(wordsOf(error));
    if (!isUnknown || (!mayFail && wordsOf(error) === 'EAI_AGAIN')) throw error;
    return [];
  } finally {
    signal.removeEventListener('abort', quit);
  }
}

/** The request that a redirect asks for, or nothing where there is none. To another site go no headers that say who asks, and no content. */
function redirected(request: FetchRequest, from: URL, { status, headers }: Answer): FetchRequest | undefined {
  const { location } = headers;
  if (![301, 302, 303, 307, 308].includes(status) || location === undefined) return undefined;
  const to = urlOf(location, from.href);
  if (from.protocol === 'https:' && to.protocol === 'http:')
    throw refuseNet(
      'redirects',
      `${escapeInvisibleLine(from.host)} redirects to a place without encryption, so it was not followed.`,
    );
  const { method = 'GET', body, headers: sent = {}, ...rest } = request;
  const isLook = method === 'GET' || method === 'HEAD';
  const becomesGet = !isLook && (status === 303 || (method === 'POST' && status < 303));
  const same = from.origin === to.origin;
  if (!isLook && !becomesGet && !same)
    throw refuseNet(
      'redirects',
      `The ${method} was redirected to another site (${escapeInvisibleLine(to.host)}), so it was not repeated there.`,
    );
  const kept = Object.entries(sent).filter(([name]) => {
    const lower = name.toLowerCase();
    return (same || harmless.has(lower)) && !(becomesGet && lower.startsWith('content-'));
  });
  return {
    ...rest,
    url: to.href,
    method: becomesGet ? 'GET' : method,
    headers: Object.fromEntries(kept),
    ...(body === undefined || becomesGet ? {} : { body }),
  };
}

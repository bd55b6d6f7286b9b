// The guarded fetch: checks the resolved address of every hop, and connects to exactly that address (no SSRF or DNS rebinding).
import { isIP } from 'node:net';
import {
  FairleadError,
  errorMessage,
  escapeInvisibleLine,
  type FetchResult,
  type FetchRequest,
} from '../../core/index.ts';
import { isPublicAddress } from './addresses.ts';
import { normalizedHost, matchesHostList, networkError, parseHttpUrl } from './hosts.ts';
import type { NetworkOptions } from './network.ts';
import { sendRequest, type RawResponse } from './request.ts';

/** Time and size limits. */
type FetchBounds = { readonly signal: AbortSignal; readonly maxBytes: number };

const maxRedirects = 5;
const defaultTimeoutMs = 30_000;
const defaultMaxBytes = 5 * 1024 * 1024;
/** Headers that do not identify the caller: the only ones sent to another origin. */
const crossOriginHeaders = new Set(['accept', 'accept-language', 'user-agent']);

/** Sends a request within these network options. */
export async function guardedFetch(
  options: NetworkOptions,
  request: FetchRequest,
  { signal, timeoutMs = defaultTimeoutMs }: { readonly signal?: AbortSignal; readonly timeoutMs?: number } = {},
): Promise<FetchResult> {
  const late = AbortSignal.timeout(timeoutMs);
  const bounds: FetchBounds = {
    signal: signal ? AbortSignal.any([signal, late]) : late,
    maxBytes: request.maxBytes ?? defaultMaxBytes,
  };
  const url = parseHttpUrl(request.url);
  try {
    return await followRedirects(options, { ...request, url: url.href }, bounds);
  } catch (error) {
    if (signal?.aborted)
      throw new FairleadError('network/interrupted', 'The request was interrupted.', { blame: 'user', cause: error });
    if (error instanceof FairleadError) throw error;
    const why = late.aborted
      ? `did not respond within ${timeoutMs / 1000} s`
      : `could not be reached: ${formatNetworkFailure(error)}`;
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

/** Describes a network failure without the URL, whose path and query may contain secrets. */
function formatNetworkFailure(error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? code : errorMessage(error);
}

async function followRedirects(
  options: NetworkOptions,
  first: FetchRequest,
  bounds: FetchBounds,
): Promise<FetchResult> {
  let request = first;
  for (let hops = 0; hops <= maxRedirects; hops++) {
    const url = parseHttpUrl(request.url);
    const addresses = await resolveAllowedAddresses(url, options, bounds.signal);
    const answer = await sendRequest(request, { ...bounds, ...options, url, addresses });
    const onward = redirectRequest(request, url, answer);
    if (!onward) return { ...answer, url: url.href };
    if (options.otherHosts === 'stop') assertSameHost(url, new URL(onward.url));
    request = onward;
  }
  throw networkError('redirects', `It redirected more than ${maxRedirects} times, so the request was stopped.`);
}

/** The most characters of the address of a redirect that are shown. */
const maxShownUrl = 2000;

/** Throws if a redirect leads to another host: `www.` in front of a name is the same one, another port is not. */
function assertSameHost(from: URL, to: URL): void {
  const site = (url: URL): string => `${normalizedHost(url).replace(/^www\./, '')}:${url.port}`;
  if (site(from) === site(to)) return;
  throw networkError(
    'redirects',
    `${escapeInvisibleLine(from.host)} redirects to another host, which was not requested, so it was not followed: ${escapeInvisibleLine(to.href.slice(0, maxShownUrl))}`,
    'Request that address if the user needs it.',
  );
}

/** Returns the addresses to connect to for this URL. Throws if one of them is not public. */
async function resolveAllowedAddresses(
  url: URL,
  options: NetworkOptions,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { hosts, privateHosts = [], resolve = systemLookup, proxy } = options;
  const host = normalizedHost(url);
  const shown = escapeInvisibleLine(url.host);
  const isOwn = matchesHostList(url, privateHosts);
  if (hosts && !isOwn && !matchesHostList(url, hosts))
    throw networkError('not-allowed', `${shown} is not among the allowed hosts, so nothing was sent.`);
  const addresses = isIP(host) ? [host] : await orAborted(resolve(host), signal, proxy !== undefined);
  if (addresses.length === 0 && proxy === undefined)
    throw new FairleadError('network/unknown-host', `There is no host named ${shown}.`, { blame: 'model' });
  const closed = isOwn ? undefined : addresses.find((each) => !isPublicAddress(each));
  if (closed !== undefined)
    throw networkError(
      'private',
      `${shown} is on a private network (${closed}), which is not allowed, so nothing was sent.`,
    );
  return addresses;
}

const systemLookup = async (host: string): Promise<readonly string[]> =>
  // Loaded on demand, to keep program start fast.
  (await process.getBuiltinModule('node:dns/promises').lookup(host, { all: true })).map(({ address }) => address);

/** A DNS lookup of the system cannot be cancelled, but the caller does not wait for it. A name that only the proxy knows has no address here. */
async function orAborted(
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
    const isUnknown = ['ENOTFOUND', 'EAI_AGAIN', 'ENODATA'].includes(formatNetworkFailure(error));
    if (!isUnknown || (!mayFail && formatNetworkFailure(error) === 'EAI_AGAIN')) throw error;
    return [];
  } finally {
    signal.removeEventListener('abort', quit);
  }
}

/** Returns the request of a redirect; undefined if there is none. To another origin it carries no identifying headers and no body. */
function redirectRequest(request: FetchRequest, from: URL, { status, headers }: RawResponse): FetchRequest | undefined {
  const { location } = headers;
  if (![301, 302, 303, 307, 308].includes(status) || location === undefined) return undefined;
  const to = parseHttpUrl(location, from.href);
  if (from.protocol === 'https:' && to.protocol === 'http:')
    throw networkError(
      'redirects',
      `${escapeInvisibleLine(from.host)} redirects to a URL without encryption, so it was not followed.`,
    );
  const { method = 'GET', body, headers: sent = {}, ...rest } = request;
  const isLook = method === 'GET' || method === 'HEAD';
  const becomesGet = !isLook && (status === 303 || (method === 'POST' && status < 303));
  const same = from.origin === to.origin;
  if (!isLook && !becomesGet && !same)
    throw networkError(
      'redirects',
      `The ${method} was redirected to another site (${escapeInvisibleLine(to.host)}), so it was not repeated there.`,
    );
  const kept = Object.entries(sent).filter(([name]) => {
    const lower = name.toLowerCase();
    return (same || crossOriginHeaders.has(lower)) && !(becomesGet && lower.startsWith('content-'));
  });
  return {
    ...rest,
    url: to.href,
    method: becomesGet ? 'GET' : method,
    headers: Object.fromEntries(kept),
    ...(body === undefined || becomesGet ? {} : { body }),
  };
}

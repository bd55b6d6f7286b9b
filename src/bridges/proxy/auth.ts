// Access control of the proxy: loopback only, with Host and Origin checks; a token is required for other hosts.
import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isLoopbackHost } from '../../core/index.ts';

/** The result of the access check: the upstream path, or why the request is rejected. */
export type ProxyAuthResult =
  | { readonly type: 'in'; readonly path: string }
  | { readonly type: 'out'; readonly status: 401 | 403; readonly message: string };

/** Checks a request. The token is in a header or at the start of the path, so that a base URL can contain it. */
export function authorizeRequest({ url = '/', headers }: IncomingMessage, token: string | undefined): ProxyAuthResult {
  const [, given, rest = '/'] = /^\/t\/([^/]*)(\/.*)?$/.exec(url) ?? [];
  const path = given === undefined ? url : rest;
  if (token !== undefined) {
    const brought = headers['x-fairlead-token'] ?? given ?? '';
    return isEqualConstantTime(String(brought), token)
      ? { type: 'in', path }
      : {
          type: 'out',
          status: 401,
          message: 'This proxy wants its token: as the header x-fairlead-token, or as /t/<token> before the path.',
        };
  }
  if (!isLoopbackHost(parseHostname(`http://${headers.host ?? ''}`)))
    return { type: 'out', status: 403, message: 'This proxy answers to localhost and 127.0.0.1 only.' };
  // Browsers omit Origin for embedded resources but send Sec-Fetch-Site.
  const foreign = headers.origin === undefined && headers['sec-fetch-site'] === 'cross-site';
  if (foreign || (headers.origin !== undefined && !isLoopbackHost(parseHostname(headers.origin))))
    return { type: 'out', status: 403, message: 'Pages of other origins may not use this proxy.' };
  return { type: 'in', path: url };
}

/** The headers in which callers send the key of the model server. */
const keyHeaders = ['authorization', 'x-api-key', 'api-key', 'x-goog-api-key'] as const;

/** Returns a digest of the caller's key of the model server; undefined if the request has none. Callers with the same key are one caller. */
export function digestCallerKey({ headers }: Pick<IncomingMessage, 'headers'>, query: string): string | undefined {
  const keys = [...keyHeaders.map((name) => headers[name]), new URLSearchParams(query).get('key') ?? undefined];
  if (keys.every((key) => key === undefined)) return undefined;
  return hash('sha256', `fairlead proxy ${JSON.stringify(keys.map((key) => key ?? null))}`).slice(0, 32);
}

function parseHostname(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname.replaceAll(/^\[|\]$/g, '') : '';
}

/** Compares in constant time. */
export const isEqualConstantTime = (given: string, wanted: string): boolean =>
  timingSafeEqual(sha256(given), sha256(wanted));

const sha256 = (text: string): Buffer => hash('sha256', text, 'buffer');

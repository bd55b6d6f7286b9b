// Who may come in: this machine, under its own name, from no page of somebody else's; beyond it only with the token.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

/** What the door says to a request: its path without what was meant for us, or why it goes no further. */
export type ProxyAuthResult =
  | { readonly type: 'in'; readonly path: string }
  | { readonly type: 'out'; readonly status: 401 | 403; readonly message: string };

/** Looks at a request. The token may stand in a header, or at the beginning of the path, where a base URL can hold it. */
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
  if (!isLoopback(parseHostname(`http://${headers.host ?? ''}`)))
    return { type: 'out', status: 403, message: 'This proxy answers to localhost and 127.0.0.1 only.' };
  // What a page only shows or loads is asked for without its origin, but browsers say that it is another's.
  const foreign = headers.origin === undefined && headers['sec-fetch-site'] === 'cross-site';
  if (foreign || (headers.origin !== undefined && !isLoopback(parseHostname(headers.origin))))
    return { type: 'out', status: 403, message: 'Pages of other origins may not use this proxy.' };
  return { type: 'in', path: url };
}

function parseHostname(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname.replaceAll(/^\[|\]$/g, '') : '';
}

/** Whether a name or address is this machine's own and nobody else's. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

/** Compares in a time that tells nothing about the token. */
export const isEqualConstantTime = (given: string, wanted: string): boolean =>
  timingSafeEqual(sha256(given), sha256(wanted));

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

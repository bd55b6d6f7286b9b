// The path of a proxied request as the model server will read it: it is judged and sent in this form, or refused.

/** The path to judge and to send, or why the request is refused. */
export type ProxyPath =
  | { readonly type: 'path'; readonly pathname: string; readonly query: string }
  | { readonly type: 'refused'; readonly message: string };

/** Real paths need one round. */
const maxRounds = 16;

/**
 * Resolves a request target: turns backslashes into slashes and removes dot segments, until nothing changes. Everything else stays as it
 * was written. A path that could be read in two ways is refused for methods that send something; other methods are only forwarded.
 */
export function resolveProxyPath(target: string, method: string): ProxyPath {
  const [, rawPath = '', query = ''] = /^([^?#]*)(?:\?([^#]*))?/.exec(target) ?? [];
  if (!rawPath.startsWith('/')) return refuse('The path of the request must start with a slash.');
  let pathname = rawPath;
  for (let round = 0; ; round++) {
    const resolved = resolveOnce(pathname);
    if (resolved === undefined || round > maxRounds) return refuse('The path of the request cannot be resolved.');
    if (resolved === pathname) break;
    pathname = resolved;
  }
  const isForwardedOnly = method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
  if (!isForwardedOnly && ambiguousPattern.test(pathname))
    return refuse(
      'The path of the request has encoded or special characters that servers read in different ways. Send it without them.',
    );
  return { type: 'path', pathname, query };
}

const refuse = (message: string): ProxyPath => ({ type: 'refused', message });

/** Encoded control characters, spaces and characters that separate parts of a path (`# % . / ; ? \`), and path parameters. */
const ambiguousPattern = /%(?:[01][0-9a-f]|20|23|25|2e|2f|3b|3f|5c|7f)|;|%(?![0-9a-f]{2})/i;

/** Removes dot segments, encoded ones too, as the URL standard does; undefined if it is not a path. */
function resolveOnce(pathname: string): string | undefined {
  const url = `http://proxy${pathname}`;
  return URL.canParse(url) ? new URL(url).pathname : undefined;
}

// Access to an OAuth authorization server: only through the network access of tools, and only over HTTPS or loopback.
import type * as Lib from 'oauth4webapi';
import { FairleadError, errorMessage, escapeInvisibleLine, isLoopbackHost, type Workspace } from '../../core/index.ts';

/** The library, and the options of all its requests. */
export type OAuthLibrary = { readonly lib: typeof Lib; readonly requestOptions: OAuthRequestOptions };

type OAuthRequestOptions = {
  [Lib.customFetch]: ReturnType<typeof createWorkspaceFetch>;
  [Lib.allowInsecureRequests]: true;
  signal?: AbortSignal;
};

/** Loads the library. */
export async function loadOAuthLibrary(workspace: Workspace, signal?: AbortSignal): Promise<OAuthLibrary> {
  const lib = await import('oauth4webapi');
  // The network guard checks encryption. Loopback servers may do without.
  const how: OAuthRequestOptions = {
    [lib.customFetch]: createWorkspaceFetch(workspace, signal),
    [lib.allowInsecureRequests]: true,
    ...(signal ? { signal } : {}),
  };
  return { lib, requestOptions: how };
}

type OAuthRequestInit = {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
};

const createWorkspaceFetch =
  (workspace: Workspace, signal: AbortSignal | undefined) =>
  async (url: string, { method, headers, body }: OAuthRequestInit): Promise<Response> => {
    if (!workspace.fetch) throw oauthError('Network access is disabled, so nothing was sent.');
    const bodyOption = body === undefined || body === null ? {} : { body: String(body) };
    const request = { url: requireSecureUrl(url), method, headers, ...bodyOption };
    const fetched = await workspace.fetch(request, signal ? { signal } : {});
    if (new URL(fetched.url).href !== new URL(url).href)
      throw oauthError(`${escapeInvisibleLine(new URL(url).origin)} redirected to another origin during a login.`);
    const empty = [101, 204, 205, 304].includes(fetched.status);
    return new Response(empty ? null : Buffer.from(fetched.body), { status: fetched.status, headers: fetched.headers });
  };

/** Returns the authorization server that the API names, or the API's own origin if it names none. */
export async function findIssuer({ lib, requestOptions }: OAuthLibrary, api: URL): Promise<string> {
  try {
    const answer = await lib.resourceDiscoveryRequest(api, requestOptions);
    const { authorization_servers: servers } = await lib.processResourceDiscoveryResponse(api, answer);
    return servers?.[0] ?? api.origin;
  } catch {
    // Few APIs provide it yet.
    return api.origin;
  }
}

/** Returns the metadata of an authorization server. Throws if it does not support PKCE. */
export async function discoverAuthorizationServer(
  { lib, requestOptions }: OAuthLibrary,
  issuer: URL,
): Promise<Lib.AuthorizationServer> {
  let first: unknown;
  for (const algorithm of ['oauth2', 'oidc'] as const)
    try {
      const answer = await lib.discoveryRequest(issuer, { ...requestOptions, algorithm });
      const server = await lib.processDiscoveryResponse(issuer, answer);
      const methods = server.code_challenge_methods_supported;
      if (!methods || methods.includes('S256')) return server;
      throw oauthError(`${escapeInvisibleLine(issuer.origin)} does not support PKCE with S256.`);
    } catch (error) {
      first ??= error;
    }
  throw toOAuthError(lib, first, `${escapeInvisibleLine(issuer.href)} provides no login metadata`);
}

/** Returns the URL if it is HTTPS or loopback. Throws otherwise. */
export function requireSecureUrl(url: string): string {
  const { protocol, hostname } = URL.canParse(url) ? new URL(url) : { protocol: '', hostname: '' };
  if (protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname))) return url;
  throw oauthError(`${escapeInvisibleLine(url.slice(0, 200))} is not an encrypted URL, so no login is possible there.`);
}

/** Creates the error of a failed login. */
export const oauthError = (message: string): FairleadError =>
  new FairleadError('oauth/failed', message, { blame: 'user' });

/** Converts an error without secrets: the error code of the server, or the message of the library. */
export function toOAuthError(lib: typeof Lib, error: unknown, about = 'The login failed'): FairleadError {
  if (error instanceof FairleadError) return error;
  const isServerError = error instanceof lib.ResponseBodyError || error instanceof lib.AuthorizationResponseError;
  const word = isServerError ? [error.error, error.error_description].filter(Boolean).join(', ') : errorMessage(error);
  return oauthError(
    `${about}: ${escapeInvisibleLine(word).slice(0, 300)}${isServerError ? ' (reported by the server)' : ''}.`,
  );
}

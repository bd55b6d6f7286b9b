// OAuth login to a remote MCP server: PKCE, a loopback redirect, and stored tokens that are refreshed. The user opens the page.
import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash, randomBytes } from 'node:crypto';
import {
  ClientCredentialsProvider,
  type OAuthClientInformationMixed,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
} from '@modelcontextprotocol/client';
import { FairleadError, raceAbort, escapeInvisibleLine, isLoopbackHost } from '../../core/index.ts';
import { listenForCallback, callbackUrl, findFreePort, type OAuthCallback } from '../oauth/callback.ts';
import type { McpOAuthConfig, McpServer, McpRemoteConfig } from './server.ts';
import type { StoredMcpLogin, McpTokenStore } from './token-store.ts';

/** Shows the login page to the user. */
export type OpenUrl = (server: string, url: string) => void | Promise<void>;

/** The login to one server. */
export type McpSignIn = {
  provider(): Promise<OAuthClientProvider>;
  /** Returns true while the user has been sent to log in and has not returned. */
  isPending(): boolean;
  /** Waits for the redirect of the user's browser. */
  awaitCallback(signal: AbortSignal): Promise<URLSearchParams>;
  close(): void;
};

/** Creates the login to a remote server, used if the server requires it. */
export function createMcpSignIn(
  server: McpServer,
  reach: McpRemoteConfig,
  {
    tokens,
    openUrl,
    confirmLogin,
  }: {
    readonly tokens: McpTokenStore;
    readonly openUrl?: OpenUrl;
    readonly confirmLogin?: (server: string) => Promise<boolean>;
  },
): McpSignIn {
  let callback: OAuthCallback | undefined;
  let opening: Promise<void> | undefined;
  let provider: Promise<OAuthClientProvider> | undefined;
  const openCallback = async (port: number, state: string, show: () => void | Promise<void>): Promise<void> => {
    const opened = await listenForCallback(port, state);
    callback = opened;
    // A callback that was closed or timed out is not pending any more.
    opened.params.catch(() => {
      if (callback === opened) callback = undefined;
    });
    try {
      await show();
    } catch (error) {
      // The user saw no page, so the next attempt opens one.
      opened.close();
      if (callback === opened) callback = undefined;
      throw error;
    }
  };
  // Requests that are rejected at the same time, and a second attempt to connect, share one login: the user sees one page.
  const pages: LoginPages = {
    isOpen: () => callback !== undefined || opening !== undefined,
    join: async () => opening,
    open: (port, state, show) => (opening = openCallback(port, state, show).finally(() => (opening = undefined))),
  };
  // Asked once: a server that was refused a login cannot ask again with every call.
  let confirmed: Promise<boolean> | undefined;
  const assertWanted = async (): Promise<void> => {
    if (!openUrl) throw loginNeededError(server);
    confirmed ??= confirmLogin?.(server.name) ?? Promise.resolve(true);
    confirmed.catch(() => (confirmed = undefined));
    if (!(await confirmed)) throw loginNeededError(server);
  };
  const make = async (): Promise<OAuthClientProvider> => {
    if (reach.auth) return reach.auth;
    const { login = {} } = reach;
    if (login.grant === 'client-credentials') return clientCredentialsProvider(server, login);
    const port = login.callbackPort ?? tokens.get(reach.url).port ?? (await findFreePort());
    return authorizationCodeProvider({ server, url: reach.url, login, port, tokens, openUrl, pages, assertWanted });
  };
  return {
    provider: () => (provider ??= make()),
    isPending: () => callback !== undefined,
    async awaitCallback(signal) {
      const waiting = callback;
      if (!waiting) throw loginNeededError(server);
      try {
        return await raceAbort(signal, () => waiting.params);
      } finally {
        waiting.close();
        callback = undefined;
      }
    },
    close() {
      callback?.close();
      callback = undefined;
    },
  };
}

function clientCredentialsProvider(
  server: McpServer,
  { clientId, clientSecret, scope, issuer }: McpOAuthConfig,
): OAuthClientProvider {
  if (clientId === undefined || clientSecret === undefined)
    throw new FairleadError(
      'mcp/no-credentials',
      `The MCP server ${escapeInvisibleLine(server.name)} is configured for client credentials, but has none.`,
      { blame: 'user', hint: 'Set "clientId" and "clientSecret" under "oauth"; the secret as ${A_VARIABLE}.' },
    );
  return new ClientCredentialsProvider({
    clientId,
    clientSecret,
    ...(scope === undefined ? {} : { scope }),
    ...(issuer === undefined ? {} : { expectedIssuer: issuer }),
  });
}

/** The login page that the user was sent to; there is at most one. */
type LoginPages = {
  /** Returns true from the start of a login until the user has returned. */
  readonly isOpen: () => boolean;
  /** Waits until the open page can be answered. */
  readonly join: () => Promise<void>;
  /** Listens for the answer, then shows the page. */
  readonly open: (port: number, state: string, show: () => void | Promise<void>) => Promise<void>;
};

type AuthorizationCodeOptions = {
  readonly server: McpServer;
  readonly url: string;
  readonly login: McpOAuthConfig;
  readonly port: number;
  readonly tokens: McpTokenStore;
  readonly openUrl: OpenUrl | undefined;
  readonly pages: LoginPages;
  /** Throws unless the user wants to log in. */
  readonly assertWanted: () => Promise<void>;
};

/**
 * Tokens are stored; the verifiers and clients of attempts live in memory until one of them opens its page.
 * The library runs one attempt per rejected request, so several can run at the same time: the first page counts.
 */
function authorizationCodeProvider({
  server,
  url,
  login,
  port,
  tokens,
  openUrl,
  pages,
  assertWanted,
}: AuthorizationCodeOptions): OAuthClientProvider {
  const { clientId, clientSecret, scope, issuer, clientMetadataUrl } = login;
  let verifier = '';
  let logins = 0;
  /** The logins that were complete when the current request read its token. */
  const loginsAtRequest = new AsyncLocalStorage<number>();
  const verifiers = new Map<string, string>();
  const clients = new Map<string, OAuthClientInformationMixed>();
  let discovered: OAuthDiscoveryState | undefined;
  const keep = (more: StoredMcpLogin): void => tokens.set(url, { ...tokens.get(url), ...more });
  const clientMetadata: OAuthClientMetadata = {
    client_name: 'Fairlead',
    redirect_uris: [callbackUrl(port)],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    ...(clientSecret === undefined && clientId !== undefined ? { token_endpoint_auth_method: 'none' } : {}),
    ...(scope === undefined ? {} : { scope }),
  };
  return {
    redirectUrl: callbackUrl(port),
    clientMetadata,
    ...(clientMetadataUrl === undefined ? {} : { clientMetadataUrl }),
    state: () => randomBytes(24).toString('base64url'),
    async clientInformation(context) {
      if (clientId !== undefined)
        return {
          client_id: clientId,
          ...(clientSecret === undefined ? {} : { client_secret: clientSecret }),
          ...(issuer === undefined ? {} : { issuer }),
        };
      const stored = tokens.get(url);
      // A client that was registered for another port cannot be redirected to this one.
      const client = stored.port === port ? stored.client : undefined;
      // Without a client of this issuer, the library registers one.
      const isOther = client?.issuer !== undefined && context !== undefined && client.issuer !== context.issuer;
      if (client === undefined || isOther) await assertWanted();
      return client;
    },
    saveClientInformation(client) {
      clients.set(client.client_id, client);
      if (!pages.isOpen()) keep({ client, port });
    },
    tokens(context) {
      // The library passes no context when it builds a request, and one within an attempt to log in.
      if (context === undefined) loginsAtRequest.enterWith(logins);
      return tokens.get(url).tokens;
    },
    saveTokens(newTokens) {
      logins++;
      keep({ tokens: newTokens, port });
    },
    async redirectToAuthorization(page) {
      if (!openUrl) throw loginNeededError(server);
      if (page.protocol !== 'https:' && !isLoopbackHost(page.hostname))
        throw new FairleadError(
          'mcp/unsafe-login',
          `The login page ${escapeInvisibleLine(page.origin)} is not encrypted.`,
          {
            blame: 'tool',
          },
        );
      if (pages.isOpen()) return pages.join();
      // The request was sent before a login that is complete by now: it is repeated with the new token.
      if ((loginsAtRequest.getStore() ?? logins) < logins) return undefined;
      verifier = verifiers.get(page.searchParams.get('code_challenge') ?? '') ?? verifier;
      const client = clients.get(page.searchParams.get('client_id') ?? '');
      if (client) keep({ client, port });
      return pages.open(port, page.searchParams.get('state') ?? '', () => openUrl(server.name, page.href));
    },
    saveCodeVerifier(next) {
      verifiers.set(createHash('sha256').update(next).digest('base64url'), next);
    },
    codeVerifier: () => verifier,
    saveDiscoveryState: (next) => void (discovered = next),
    // The library reads it before its first request. A stored login is renewed without the user, everything else is a new login.
    async discoveryState() {
      if (tokens.get(url).tokens?.refresh_token === undefined) await assertWanted();
      return discovered;
    },
    invalidateCredentials(what) {
      const { client, tokens: newTokens, ...rest } = tokens.get(url);
      const invalidatesAll = what === 'all';
      if (invalidatesAll || what === 'discovery') discovered = undefined;
      if (invalidatesAll || what === 'verifier') verifiers.clear();
      tokens.set(url, {
        ...rest,
        ...(client && !invalidatesAll && what !== 'client' ? { client } : {}),
        ...(newTokens && !invalidatesAll && what !== 'tokens' ? { tokens: newTokens } : {}),
      });
    },
  };
}

const loginNeededError = (server: McpServer): FairleadError =>
  new FairleadError('mcp/login-needed', `The MCP server ${escapeInvisibleLine(server.name)} requires a login.`, {
    blame: 'user',
    hint: 'Log in where a page can be opened for you; the login is stored.',
  });

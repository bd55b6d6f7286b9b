// OAuth login to an API: discovery, client registration, PKCE with S256, a loopback redirect and token renewal. Only through the network access of tools.
import type * as Lib from 'oauth4webapi';
import { raceAbort, escapeInvisibleLine, type Workspace } from '../../core/index.ts';
import type { ApiLogin } from './api-login.ts';
import { listenForCallback, callbackUrl, findFreePort, type OAuthCallback } from './callback.ts';
import {
  discoverAuthorizationServer,
  toOAuthError,
  findIssuer,
  loadOAuthLibrary,
  requireSecureUrl,
  oauthError,
  type OAuthLibrary,
} from './authorization-server.ts';

/** The API to log in to. */
export type LoginRequest = {
  /** A URL of the API. */
  readonly api: string;
  /** The authorization server. Default: asked of the API. */
  readonly issuer?: string;
  /** The client id. Default: registered dynamically. */
  readonly client?: string;
  readonly scope?: string;
};

/** A login before it starts: `url` is the page of the authorization server, without parameters. */
export type LoginPage = { readonly url: string; readonly api: string; readonly issuer: string };

/** Options of a login besides the request. */
export type LoginOptions = {
  readonly workspace: Workspace;
  /** The stored login under this name. */
  readonly stored: Partial<ApiLogin>;
  /** Asks the user before a client is registered and the page is opened. Returns false if the user declines. */
  readonly confirmLogin: (page: LoginPage) => Promise<boolean>;
  /** Opens the page. */
  readonly openPage: (url: string) => void | Promise<void>;
  readonly signal: AbortSignal;
};

/** Logs in: the user is sent to a page and redirected back. */
export async function loginWithOAuth(
  request: LoginRequest,
  { workspace, stored, confirmLogin, openPage, signal }: LoginOptions,
): Promise<ApiLogin> {
  const api = new URL(requireSecureUrl(request.api)).origin;
  const office = await loadOAuthLibrary(workspace, signal);
  const server = await discoverAuthorizationServer(
    office,
    new URL(requireSecureUrl(request.issuer ?? (await findIssuer(office, new URL(request.api))))),
  );
  if (!(await confirmLogin({ url: getLoginPage(server), api, issuer: server.issuer })))
    throw oauthError('The user declined to log in.');
  const known = stored.issuer === server.issuer && stored.api === api ? stored : {};
  const { client, port, callback, state } = await resolveClient(office, server, request, known);
  try {
    const verifier = office.lib.generateRandomCodeVerifier();
    const url = await authorizationUrl(office, server, { client, port, state, verifier, scope: request.scope });
    await openPage(url);
    const back = await raceAbort(signal, () => callback.params);
    const tokens = await exchangeCode(office, server, { client, port, state, verifier, back });
    return {
      api,
      issuer: server.issuer,
      client: client.client_id,
      ...(typeof client['client_secret'] === 'string' ? { secret: client['client_secret'] } : {}),
      ...(request.client === undefined ? { port } : {}),
      ...(request.scope === undefined ? {} : { scope: request.scope }),
      ...tokens,
    };
  } finally {
    callback.close();
  }
}

/** Renews the token of a login; undefined if the server requires a new login. */
export async function renewLogin(
  login: ApiLogin & { readonly refresh: string },
  workspace: Workspace,
): Promise<ApiLogin | undefined> {
  const { lib, requestOptions } = await loadOAuthLibrary(workspace);
  const server = await discoverAuthorizationServer({ lib, requestOptions }, new URL(requireSecureUrl(login.issuer)));
  const client: Lib.Client = { client_id: login.client };
  const proof = login.secret === undefined ? lib.None() : lib.ClientSecretPost(login.secret);
  try {
    const answer = await lib.refreshTokenGrantRequest(server, client, proof, login.refresh, requestOptions);
    const { expires: _, ...lasting } = login;
    return { ...lasting, ...parseTokenResponse(await lib.processRefreshTokenResponse(server, client, answer)) };
  } catch (error) {
    if (error instanceof lib.ResponseBodyError && error.error === 'invalid_grant') return undefined;
    throw toOAuthError(lib, error);
  }
}

type ClientRegistration = {
  readonly client: Lib.Client;
  readonly port: number;
  readonly callback: OAuthCallback;
  readonly state: string;
};

/** Returns the client and the redirect port. A registered client is reused at the port it was registered for. */
async function resolveClient(
  { lib, requestOptions }: OAuthLibrary,
  server: Lib.AuthorizationServer,
  { client: given, scope }: LoginRequest,
  storedLogin: Partial<ApiLogin>,
): Promise<ClientRegistration> {
  const state = lib.generateRandomState();
  const { client: id, secret, port: before } = storedLogin;
  if (given === undefined && id !== undefined && before !== undefined) {
    const callback = await listenForCallback(before, state).catch(() => undefined);
    const client = { client_id: id, ...(secret === undefined ? {} : { client_secret: secret }) };
    if (callback) return { client, port: before, callback, state };
  }
  const port = await findFreePort();
  const client =
    given === undefined
      ? await registerClient({ lib, requestOptions }, server, callbackUrl(port), scope)
      : { client_id: given };
  return { client, port, callback: await listenForCallback(port, state), state };
}

async function registerClient(
  { lib, requestOptions }: OAuthLibrary,
  server: Lib.AuthorizationServer,
  back: string,
  scope: string | undefined,
): Promise<Lib.Client> {
  if (server.registration_endpoint === undefined)
    throw oauthError(
      `${escapeInvisibleLine(server.issuer)} does not register clients automatically: give a client_id that the user got from it.`,
    );
  try {
    const answer = await lib.dynamicClientRegistrationRequest(
      server,
      {
        client_name: 'Fairlead',
        redirect_uris: [back],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
        ...(scope === undefined ? {} : { scope }),
      },
      requestOptions,
    );
    return await lib.processDynamicClientRegistrationResponse(answer);
  } catch (error) {
    throw toOAuthError(lib, error);
  }
}

type LoginAttempt = Pick<ClientRegistration, 'client' | 'port' | 'state'> & { readonly verifier: string };

function getLoginPage({ authorization_endpoint: page, issuer }: Lib.AuthorizationServer): string {
  if (page === undefined) throw oauthError(`${escapeInvisibleLine(issuer)} has no login page.`);
  return requireSecureUrl(page);
}

async function authorizationUrl(
  { lib }: OAuthLibrary,
  server: Lib.AuthorizationServer,
  { client, port, state, verifier, scope }: LoginAttempt & { readonly scope: string | undefined },
): Promise<string> {
  const page = new URL(getLoginPage(server));
  const asked = {
    response_type: 'code',
    client_id: client.client_id,
    redirect_uri: callbackUrl(port),
    state,
    code_challenge: await lib.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...(scope === undefined ? {} : { scope }),
  };
  for (const [name, value] of Object.entries(asked)) page.searchParams.set(name, value);
  return page.href;
}

async function exchangeCode(
  { lib, requestOptions }: OAuthLibrary,
  server: Lib.AuthorizationServer,
  { client, port, state, verifier, back }: LoginAttempt & { readonly back: URLSearchParams },
): Promise<TokenSet> {
  const { client_secret: secret } = client;
  const proof = typeof secret === 'string' ? lib.ClientSecretPost(secret) : lib.None();
  try {
    const code = lib.validateAuthResponse(server, client, back, state);
    const answer = await lib.authorizationCodeGrantRequest(
      server,
      client,
      proof,
      code,
      callbackUrl(port),
      verifier,
      requestOptions,
    );
    return parseTokenResponse(await lib.processAuthorizationCodeResponse(server, client, answer));
  } catch (error) {
    throw toOAuthError(lib, error);
  }
}

type TokenSet = Pick<ApiLogin, 'access' | 'refresh' | 'expires'>;

function parseTokenResponse({
  access_token: access,
  refresh_token: refresh,
  expires_in: seconds,
  token_type: type,
}: Lib.TokenEndpointResponse): TokenSet {
  if (type !== 'bearer') throw oauthError(`The token has the unknown type ${escapeInvisibleLine(type)}.`);
  return {
    access,
    ...(refresh === undefined ? {} : { refresh }),
    ...(seconds === undefined ? {} : { expires: Date.now() + seconds * 1000 }),
  };
}

// Stored logins to APIs, and their tokens, which are sent only to the origin of that API.
import { FairleadError, raceAbort, escapeInvisibleLine, type Workspace } from '../../core/index.ts';
import type { LoginStore } from './login-store.ts';

/** A stored login to an API. */
export type ApiLogin = {
  /** The origin that its token is for. */
  readonly api: string;
  readonly issuer: string;
  /** The client id: configured, or registered for a redirect port. */
  readonly client: string;
  readonly secret?: string;
  readonly port?: number;
  readonly scope?: string;
  readonly access: string;
  readonly refresh?: string;
  /** When the token expires, in milliseconds; absent if unknown. */
  readonly expires?: number;
};

/** The context in which logins are used. */
export type LoginContext = {
  readonly store: LoginStore<ApiLogin>;
  /** The network access of tools. */
  readonly workspace: Workspace;
  /** Registers every token as a secret, so that it is redacted. */
  readonly addSecret?: (name: string, token: string) => void;
};

/** Returns the token of a login for a request to this URL; a new one if it has expired or was rejected. */
export type GetToken = (
  name: string,
  url: string,
  how: { readonly signal: AbortSignal; readonly refused?: string },
) => Promise<string>;

/** A token that expires this soon is renewed before it is used. */
const renewMarginMs = 60_000;

/** Creates the token provider. Parallel requests renew a login once. */
export function createTokenProvider(logins: LoginContext): GetToken {
  const { store, addSecret } = logins;
  const renewals = new Map<string, Promise<string>>();
  const renewed = (name: string, login: ApiLogin, signal: AbortSignal): Promise<string> => {
    const going = renewals.get(name) ?? renewToken(name, login, logins).finally(() => renewals.delete(name));
    renewals.set(name, going);
    return raceAbort(signal, () => going);
  };
  return async (name, url, { signal, refused }) => {
    const login = getLogin(store, name);
    const origin = URL.canParse(url) ? new URL(url).origin : url;
    if (origin !== login.api) throw otherOriginError(name, login, origin);
    addSecret?.(name, login.access);
    const ended = login.expires !== undefined && login.expires - renewMarginMs < Date.now();
    // Another request may have renewed it since it was rejected.
    if (!ended && login.access !== refused) return login.access;
    return renewed(name, login, signal);
  };
}

async function renewToken(
  name: string,
  login: ApiLogin,
  { store, workspace, addSecret }: LoginContext,
): Promise<string> {
  const { refresh } = login;
  if (refresh === undefined) throw loginNeededError(name, 'has ended');
  const { renewLogin } = await import('./flow.ts');
  const fresh = await renewLogin({ ...login, refresh }, workspace);
  if (!fresh) throw loginNeededError(name, 'has expired and could not be renewed');
  addSecret?.(name, fresh.access);
  store.set(name, fresh);
  return fresh.access;
}

function getLogin(store: LoginStore<ApiLogin>, name: string): ApiLogin {
  const login = store.get(name);
  if (isCompleteLogin(login)) return login;
  const names = store.list().map((each) => JSON.stringify(each));
  throw new FairleadError('oauth/login-needed', `There is no login named ${JSON.stringify(name)}.`, {
    blame: 'model',
    hint: `Log in with oauth_login first.${names.length ? ` There are: ${names.join(', ')}.` : ''}`,
  });
}

/** Returns true if a login has all fields that are needed to use it. */
export const isCompleteLogin = (login: Partial<ApiLogin>): login is ApiLogin =>
  [login.api, login.issuer, login.client, login.access].every((each) => typeof each === 'string');

const loginNeededError = (name: string, why: string): FairleadError =>
  new FairleadError('oauth/login-needed', `The login ${JSON.stringify(name)} ${why}.`, {
    blame: 'user',
    hint: 'Log in with oauth_login again.',
  });

const otherOriginError = (name: string, { api }: ApiLogin, origin: string): FairleadError =>
  new FairleadError(
    'oauth/other-origin',
    `The login ${JSON.stringify(name)} is only for ${escapeInvisibleLine(api)}, so nothing was sent to ${escapeInvisibleLine(origin)}.`,
    { blame: 'model' },
  );

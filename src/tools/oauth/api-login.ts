// A login to an API as it is kept, and the token of it that goes along with a request: to that API's own origin and to nowhere else.
import { FairleadError, raceAbort, escapeInvisibleLine, type Workspace } from '../../core/index.ts';
import type { LoginStore } from './login-store.ts';

/** What is kept of a login to an API. */
export type ApiLogin = {
  /** The origin that its token is for. */
  readonly api: string;
  readonly issuer: string;
  /** Who we are there: the id that was given, or the one we registered, which is bound to a port. */
  readonly client: string;
  readonly secret?: string;
  readonly port?: number;
  readonly scope?: string;
  readonly access: string;
  readonly refresh?: string;
  /** When the token ends, in milliseconds; absent where nobody said. */
  readonly expires?: number;
};

/** What logins are used with. */
export type LoginContext = {
  readonly store: LoginStore<ApiLogin>;
  /** The network as tools see it. */
  readonly workspace: Workspace;
  /** Hears of every token, so that it can be kept out of all that is told. */
  readonly addSecret?: (name: string, token: string) => void;
};

/** The token of a login for a request to this address; a new one where it has ended or was turned away. */
export type GetToken = (
  name: string,
  url: string,
  how: { readonly signal: AbortSignal; readonly refused?: string },
) => Promise<string>;

/** A token that ends this soon is renewed before it is used. */
const renewMarginMs = 60_000;

/** Gives tokens out. Several requests at once renew one login once. */
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
    // Another request may have renewed it since it was turned away.
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
  if (!fresh) throw loginNeededError(name, 'has ended and could not be renewed');
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

/** Whether all of a login is there that it takes to use it. */
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
    `The login ${JSON.stringify(name)} is for ${escapeInvisibleLine(api)} and for nothing else, so nothing was sent to ${escapeInvisibleLine(origin)}.`,
    { blame: 'model' },
  );

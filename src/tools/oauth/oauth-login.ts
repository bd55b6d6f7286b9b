// The oauth_login tool: logs in to an API. The model names the login and never sees its token.
import { FairleadError, toolOutput, escapeInvisibleLine, type Tool } from '../../core/index.ts';
import { isCompleteLogin, type LoginContext } from './api-login.ts';
import type { LoginPage } from './flow.ts';

/** Options of the oauth_login tool. */
export type OAuthLoginOptions = LoginContext & {
  /** Asks the user about a login, and opens its page; absent if no user is present. */
  readonly user?: {
    readonly confirmLogin: (name: string, page: LoginPage, signal: AbortSignal) => Promise<boolean>;
    readonly openPage: (url: string) => void | Promise<void>;
  };
};

type OAuthLoginInput = {
  readonly name: string;
  readonly api: string;
  readonly issuer?: string;
  readonly client_id?: string;
  readonly scope?: string;
};

const stringSchema = (
  description: string,
  maxLength = 500,
): { type: 'string'; description: string; minLength: 1; maxLength: number } => ({
  type: 'string',
  description,
  minLength: 1,
  maxLength,
});

/** Creates the oauth_login tool. */
export const oauthLogin = ({ store, workspace, addSecret, user }: OAuthLoginOptions): Tool => ({
  name: 'oauth_login',
  description:
    'Log in to an API with OAuth. The user does it in their browser; the token is stored and never shown; http_request sends it if `auth` is the name of the login.',
  input: {
    type: 'object',
    properties: {
      name: stringSchema('The name of the login.', 60),
      api: stringSchema('A URL of the API. The token is sent only to its origin.', 2000),
      issuer: stringSchema('The URL of the authorization server; by default found through the API.', 2000),
      client_id: stringSchema('The id of a registered client; by default one is registered.'),
      scope: stringSchema('The scopes, separated by spaces.', 2000),
    },
    required: ['name', 'api'],
    additionalProperties: false,
  },
  effect: 'external',
  async execute(input, { signal }) {
    const { name, api, issuer, client_id: client, scope } = input as OAuthLoginInput;
    if (!user)
      throw new FairleadError('oauth/no-user', 'A login needs a user, and none is present.', {
        blame: 'user',
        hint: 'Log in once at the interactive prompt; the login is stored.',
      });
    const { loginWithOAuth } = await import('./flow.ts');
    const storedLogin = store.get(name);
    const request = {
      api,
      ...(issuer === undefined ? {} : { issuer }),
      ...(client === undefined ? {} : { client }),
      ...(scope === undefined ? {} : { scope }),
    };
    const login = await loginWithOAuth(request, {
      workspace,
      stored: storedLogin,
      signal,
      confirmLogin: (page) => user.confirmLogin(name, page, signal),
      openPage: (url) => user.openPage(url),
    });
    if (!isCompleteLogin(login))
      throw new FairleadError('oauth/failed', 'The server returned no token.', { blame: 'tool' });
    for (const token of [login.access, login.refresh, login.secret]) if (token !== undefined) addSecret?.(name, token);
    store.set(name, login);
    return toolOutput({
      text: `The user is logged in. http_request with auth ${JSON.stringify(name)} sends the token to ${escapeInvisibleLine(login.api)}.`,
      data: { name, api: login.api, issuer: login.issuer },
    });
  },
});

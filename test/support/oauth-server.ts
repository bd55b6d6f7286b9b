// An authorization server for tests, with the API of its tokens: it checks PKCE, accepts a code once, and rotates its tokens.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import type { JsonObject } from '../../src/core/index.ts';

type AuthorizationCode = { readonly challenge: string; readonly back: string; readonly client: string };

/** An authorization server and an API in one, which can be made to misbehave. */
export type OauthServer = {
  readonly url: string;
  /** The grant types of token requests. */
  readonly grants: string[];
  /** The requests to the API with their authorization. */
  readonly apiRequests: string[];
  readonly clients: string[];
  accessToken: string;
  refreshToken: string;
  /** Seconds until a token expires. */
  expiresIn: number | undefined;
  /** Changes the redirect of the browser. */
  tamperRedirect: (back: URL) => void;
  metadata: JsonObject;
};

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

/** Starts it until the test ends. */
export async function startOauthServer(t: TestContext): Promise<OauthServer> {
  const codes = new Map<string, AuthorizationCode>();
  const say = (response: ServerResponse, status: number, said: object): void =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(said));
  const give = (response: ServerResponse, grant: string): void => {
    made.grants.push(grant);
    made.accessToken = `access-${randomBytes(12).toString('hex')}`;
    made.refreshToken = `refresh-${randomBytes(12).toString('hex')}`;
    const lasts = made.expiresIn === undefined ? {} : { expires_in: made.expiresIn };
    say(response, 200, {
      access_token: made.accessToken,
      token_type: 'Bearer',
      refresh_token: made.refreshToken,
      ...lasts,
    });
  };
  const token = (form: URLSearchParams, response: ServerResponse): void => {
    if (form.get('grant_type') === 'refresh_token')
      return form.get('refresh_token') === made.refreshToken
        ? give(response, 'refresh_token')
        : say(response, 400, { error: 'invalid_grant' });
    const code = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const proof = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const right = code && proof === code.challenge && form.get('redirect_uri') === code.back;
    if (!right || form.get('client_id') !== code.client)
      return say(response, 400, { error: 'invalid_grant', error_description: 'The code is used up or not yours.' });
    return give(response, 'authorization_code');
  };
  const server = createServer((request, response) => {
    void (async () => {
      const url = new URL(request.url ?? '/', made.url);
      const { searchParams: asked } = url;
      switch (url.pathname) {
        case '/.well-known/oauth-authorization-server':
          return say(response, 200, made.metadata);
        case '/register': {
          const wish = JSON.parse(await readBody(request)) as JsonObject;
          made.clients.push(`client-${made.clients.length + 1}`);
          return say(response, 201, { ...wish, client_id: made.clients.at(-1) });
        }
        case '/authorize': {
          const code = randomBytes(8).toString('hex');
          const back = asked.get('redirect_uri') ?? '';
          assert.equal(asked.get('code_challenge_method'), 'S256');
          codes.set(code, { challenge: asked.get('code_challenge') ?? '', back, client: asked.get('client_id') ?? '' });
          const to = new URL(back);
          to.search = new URLSearchParams({ code, state: asked.get('state') ?? '' }).toString();
          made.tamperRedirect(to);
          return void response.writeHead(302, { location: to.href }).end();
        }
        case '/token':
          return token(new URLSearchParams(await readBody(request)), response);
        case '/away':
          return void response.writeHead(302, { location: asked.get('to') ?? '' }).end();
        default:
          made.apiRequests.push(`${url.pathname} ${request.headers.authorization ?? 'nobody'}`);
          if (request.headers.authorization !== `Bearer ${made.accessToken}`)
            return say(response, 401, { error: 'who?' });
          return say(response, 200, { things: 3, you: request.headers.authorization });
      }
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.closeAllConnections());
  t.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const made: OauthServer = {
    url,
    grants: [],
    apiRequests: [],
    clients: [],
    accessToken: '',
    refreshToken: '',
    expiresIn: undefined,
    tamperRedirect: () => {},
    metadata: {
      issuer: url,
      authorization_endpoint: `${url}/authorize`,
      token_endpoint: `${url}/token`,
      registration_endpoint: `${url}/register`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
    },
  };
  return made;
}

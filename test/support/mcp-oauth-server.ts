// A small MCP server that requires a token, and the authorization server that issues it.
import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import type { OpenUrl } from '../../src/tools/mcp/index.ts';
import { createListedTool, createTextResult } from './mcp-server.ts';
import { startMcpHttpServer, type RecordedHttpRequest, type McpHttpServer } from './mcp-http-server.ts';

/** A server that requires a login, and the requests it received. */
export type McpOauthServer = McpHttpServer & {
  readonly grants: string[];
  validToken: string;
  /** Whether a refresh token is refused, so that the user has to log in again. */
  refusesRefresh: boolean;
  /** The scope that a tool call requires; none by default. */
  requiredScope: string;
  /** Delays of the next registrations of clients, in milliseconds. */
  readonly registrationDelays: number[];
  readonly openedPages: string[];
  readonly openUrl: OpenUrl;
};

/** Starts a server that requires a token, and the authorization server that issues it. */
export async function startMcpOauthServer(t: TestContext): Promise<McpOauthServer> {
  const grants: string[] = [];
  const pages: string[] = [];
  /** The challenge and the client of each code. */
  const codes = new Map<string, { readonly challenge: string; readonly client: string; readonly scope: string }>();
  let clientCount = 0;
  let grantedScope = '';
  const say = (response: ServerResponse, body: object): true => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    return true;
  };
  const token = ({ body }: RecordedHttpRequest, response: ServerResponse): true => {
    const form = new URLSearchParams(body);
    const grant = form.get('grant_type') ?? '';
    const proof = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const code = codes.get(form.get('code') ?? '');
    const isGood =
      grant === 'authorization_code'
        ? code?.challenge === proof && code.client === form.get('client_id')
        : !made.refusesRefresh;
    // A code is good for one exchange.
    codes.delete(form.get('code') ?? '');
    if (!isGood) {
      response.writeHead(400).end('{"error":"invalid_grant"}');
      return true;
    }
    grants.push(grant);
    made.validToken = `token-${grants.length}`;
    grantedScope = code?.scope ?? grantedScope;
    return say(response, {
      access_token: made.validToken,
      token_type: 'Bearer',
      expires_in: 3600,
      refresh_token: 'again',
    });
  };
  const web = await startMcpHttpServer(
    t,
    { tools: [createListedTool('hello')], call: () => createTextResult('hello') },
    (asked, response) => {
      const { pathname, searchParams } = asked.url;
      if (pathname.startsWith('/.well-known/oauth-protected-resource'))
        return say(response, { resource: `${web.url}/mcp`, authorization_servers: [web.url] });
      if (pathname.startsWith('/.well-known/'))
        return say(response, {
          issuer: web.url,
          authorization_endpoint: `${web.url}/authorize`,
          token_endpoint: `${web.url}/token`,
          registration_endpoint: `${web.url}/register`,
          response_types_supported: ['code'],
          code_challenge_methods_supported: ['S256'],
        });
      if (pathname === '/register') {
        const registered = { ...JSON.parse(asked.body), client_id: `client-${++clientCount}` };
        setTimeout(() => say(response, registered), made.registrationDelays.shift() ?? 0);
        return true;
      }
      if (pathname === '/token') return token(asked, response);
      if (pathname === '/authorize') {
        const code = `code-${codes.size + grants.length}-${clientCount}`;
        codes.set(code, {
          challenge: searchParams.get('code_challenge') ?? '',
          client: searchParams.get('client_id') ?? '',
          scope: searchParams.get('scope') ?? '',
        });
        const back = `${searchParams.get('redirect_uri')}?code=${code}&state=${searchParams.get('state')}`;
        response.writeHead(302, { location: back }).end();
        return true;
      }
      if (asked.headers.authorization === `Bearer ${made.validToken}`) {
        if (made.requiredScope === '' || !asked.body.includes('tools/call')) return false;
        if (grantedScope.split(' ').includes(made.requiredScope)) return false;
        const scope = `Bearer error="insufficient_scope", scope="${made.requiredScope}"`;
        response.writeHead(403, { 'www-authenticate': scope }).end();
        return true;
      }
      response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
      return true;
    },
  );
  const openUrl: OpenUrl = async (_server, page) => {
    pages.push(page);
    await fetch(page);
  };
  const made: McpOauthServer = {
    ...web,
    grants,
    openedPages: pages,
    validToken: 'unknown',
    refusesRefresh: false,
    requiredScope: '',
    registrationDelays: [],
    openUrl,
  };
  return made;
}

// Logging in to a server: by a person's browser that comes back to loopback, kept in a file of theirs alone, refreshed without them.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { chmodSync, readFileSync, statSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { folderFor, open, userServer } from '../../../test/support/mcp-desk.ts';
import { plain, text } from '../../../test/support/mcp-server.ts';
import { serveWeb, type Asked, type Web } from '../../../test/support/mcp-web.ts';
import { awaitCallback, callbackUrl, freePort } from './callback.ts';
import { fileTokens, type McpServer, type OpenUrl } from './index.ts';

type Office = Web & { readonly grants: string[]; valid: string; readonly pages: string[]; readonly openUrl: OpenUrl };

/** A server that lets nobody in without its token, and the authorization server that gives it. */
async function office(t: TestContext): Promise<Office> {
  const grants: string[] = [];
  const pages: string[] = [];
  let challenge = '';
  const say = (response: ServerResponse, body: object): true => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    return true;
  };
  const token = ({ body }: Asked, response: ServerResponse): true => {
    const form = new URLSearchParams(body);
    const grant = form.get('grant_type') ?? '';
    const proof = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (grant === 'authorization_code' && proof !== challenge) {
      response.writeHead(400).end('{"error":"invalid_grant"}');
      return true;
    }
    grants.push(grant);
    made.valid = `token-${grants.length}`;
    return say(response, { access_token: made.valid, token_type: 'Bearer', expires_in: 3600, refresh_token: 'again' });
  };
  const web = await serveWeb(t, { tools: [plain('hello')], call: () => text('hello') }, (asked, response) => {
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
    if (pathname === '/register') return say(response, { ...JSON.parse(asked.body), client_id: 'us' });
    if (pathname === '/token') return token(asked, response);
    if (pathname === '/authorize') {
      challenge = searchParams.get('code_challenge') ?? '';
      const back = `${searchParams.get('redirect_uri')}?code=c&state=${searchParams.get('state')}`;
      response.writeHead(302, { location: back }).end();
      return true;
    }
    if (asked.headers.authorization === `Bearer ${made.valid}`) return false;
    response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
    return true;
  });
  const openUrl: OpenUrl = async (_server, page) => {
    pages.push(page);
    await fetch(page);
  };
  const made: Office = { ...web, grants, pages, valid: 'nobody knows', openUrl };
  return made;
}

const serverAt = ({ url }: Web): McpServer => userServer('o', { type: 'http', url: `${url}/mcp`, headers: {} });

test('a person logs in once: the token is kept for its owner alone, used again, and refreshed without the person', async (t) => {
  const desk = await office(t);
  const file = path.join(folderFor(t), 'state', 'logins.json');
  const first = await open(t, [serverAt(desk)], { tokens: fileTokens(file), openUrl: desk.openUrl });
  assert.equal((await first.call('mcp__o__hello')).text, 'hello', first.mcp.status()[0]?.why);
  await first.mcp.close();
  assert.equal(desk.pages.length, 1);
  assert.match(desk.pages[0] ?? '', /redirect_uri=http%3A%2F%2F127\.0\.0\.1%3A\d+%2Fcallback/);
  if (process.platform !== 'win32') assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.match(readFileSync(file, 'utf8'), /"token-1"/);

  const second = await open(t, [serverAt(desk)], { tokens: fileTokens(file) });
  assert.equal((await second.call('mcp__o__hello')).text, 'hello');
  desk.valid = 'expired';
  assert.equal((await second.call('mcp__o__hello')).text, 'hello');
  assert.deepEqual(desk.grants, ['authorization_code', 'refresh_token']);
  assert.equal(desk.pages.length, 1);

  if (process.platform === 'win32') return;
  chmodSync(file, 0o644);
  const third = await open(t, [serverAt(desk)], { tokens: fileTokens(file) });
  assert.match(third.mcp.status()[0]?.why ?? '', /Others can read .*logins\.json/);
});

test('where no page can be opened, a server that asks for a login is not used and says so', async (t) => {
  const desk = await office(t);
  const { mcp } = await open(t, [serverAt(desk)]);
  assert.match(mcp.status()[0]?.why ?? '', /The MCP server o asks for a login\. Log in/);
  assert.deepEqual(desk.grants, []);
});

test('a key in the headers is used as it is, and no login is tried', async (t) => {
  const desk = await office(t);
  desk.valid = 'mine';
  const reach = { type: 'http', url: `${desk.url}/mcp`, headers: { Authorization: 'Bearer ${KEY}' } } as const;
  const { call } = await open(t, [userServer('o', reach)], { environment: { KEY: 'mine' } });
  assert.equal((await call('mcp__o__hello')).text, 'hello');
  const { mcp } = await open(t, [userServer('o', reach)], { environment: { KEY: 'wrong' }, openUrl: desk.openUrl });
  assert.equal(mcp.status()[0]?.state, 'failed');
  assert.deepEqual(desk.pages, []);
});

test('only the state that was sent out is let back in', async () => {
  const port = await freePort();
  const callback = await awaitCallback(port, 'ours');
  for (const query of ['?code=evil&state=theirs', '?code=evil', ''])
    assert.equal((await fetch(`${callbackUrl(port)}${query}`)).status, 404);
  assert.equal((await fetch(`${callbackUrl(port)}?code=good&state=ours`, { method: 'POST' })).status, 404);
  assert.equal((await fetch(`${callbackUrl(port)}?code=good&state=ours`)).status, 200);
  assert.equal((await callback.arrived).get('code'), 'good');
  const given = await awaitCallback(port, 'ours');
  given.close();
  await assert.rejects(given.arrived, { code: 'mcp/login-ended' });
});

// Login to an API, against a real authorization server on this machine: PKCE, refresh, the origin of a token, and errors.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { startOauthServer, type OauthServer } from '../../../test/support/oauth-server.ts';
import { resolveAgent, Session } from '../../agent/index.ts';
import type { JsonObject, Tool, Workspace } from '../../core/index.ts';
import { memoryLog } from '../../stores/index.ts';
import { calls, says, scriptedProvider } from '../../testing/index.ts';
import { localWorkspace, withNetwork } from '../../workspace/index.ts';
import { httpRequest } from '../web/http-request.ts';
import { createTokenProvider, type ApiLogin } from './api-login.ts';
import { fileLogins } from './login-store.ts';
import { loginWithOAuth, type LoginPage } from './flow.ts';
import { oauthLogin } from './oauth-login.ts';
import { withAuth } from './with-auth.ts';

function setup(t: TestContext): { readonly file: string; readonly workspace: Workspace } {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-oauth-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const workspace = withNetwork(localWorkspace({ roots: [folder] }), { privateHosts: ['127.0.0.1'] });
  return { file: path.join(folder, 'state', 'logins.json'), workspace };
}

/** A user who agrees, and whose browser follows all redirects. */
const willingUser = {
  confirmLogin: async (): Promise<boolean> => true,
  openPage: (url: string): void => void fetch(url).catch(() => {}),
};

const signal = (): AbortSignal => new AbortController().signal;

/** The login, and a client that uses it. */
async function setupLogin(t: TestContext, at: OauthServer) {
  const { file, workspace } = setup(t);
  const store = fileLogins<ApiLogin>(file);
  const login = await loginWithOAuth({ api: at.url }, { workspace, stored: {}, ...willingUser, signal: signal() });
  store.set('things', login);
  const tool = withAuth(httpRequest(workspace), createTokenProvider({ store, workspace }));
  const ask = async (url: string, more: JsonObject = {}): Promise<string> => {
    const context = { signal: signal() } as Parameters<Tool['execute']>[1];
    const said = (await tool.execute({ url, auth: 'things', ...more }, context)) as { readonly text: string };
    return said.text;
  };
  return { store, ask, login, workspace };
}

test('[P27] the user logs in with PKCE, requests then have the token, and neither the model nor the log ever contains it', async (t) => {
  const at = await startOauthServer(t);
  const { file, workspace } = setup(t);
  const store = fileLogins<ApiLogin>(file);
  const pages: string[] = [];
  const learnt: string[] = [];
  const logins = { store, workspace, addSecret: (_: string, token: string) => void learnt.push(token) };
  const login = oauthLogin({
    ...logins,
    user: {
      ...willingUser,
      confirmLogin: async (name, page) => pages.push(`${name} ${page.api} ${page.issuer}`) > 0,
    },
  });
  const provider = scriptedProvider([
    calls('oauth_login', { name: 'things', api: `${at.url}/v1`, scope: 'read' }),
    calls('http_request', { url: `${at.url}/v1/things`, auth: 'things' }),
    says('done'),
  ]);
  const tools = [login, withAuth(httpRequest(workspace), createTokenProvider(logins))];
  const log = memoryLog();
  const session = await Session.open(resolveAgent({ provider, system: 's', tools }), log);
  assert.equal((await session.advance('go')).ended?.reason, 'answered');

  assert.deepEqual(pages, [`things ${at.url} ${at.url}`]);
  assert.deepEqual([at.grants, at.clients], [['authorization_code'], ['client-1']]);
  assert.deepEqual(at.apiRequests.slice(-1), [`/v1/things Bearer ${at.accessToken}`]);
  const written = JSON.stringify([log.events, provider.requests]);
  assert.match(written, /\\"things\\":3,\\"you\\":\\"Bearer \[the token\]\\"/);
  for (const secret of [at.accessToken, at.refreshToken]) {
    assert.ok(!written.includes(secret), 'the token is in neither the log nor a request');
    assert.ok(readFileSync(file, 'utf8').includes(secret));
    assert.ok(learnt.includes(secret));
  }
  if (process.platform !== 'win32') assert.equal(statSync(file).mode & 0o777, 0o600);
});

test('[P27] an expired or rejected token is refreshed without the user, once for all waiting requests', async (t) => {
  const at = await startOauthServer(t);
  at.expiresIn = 1;
  const { ask, store } = await setupLogin(t, at);
  at.expiresIn = 3600;
  const answers = await Promise.all([1, 2, 3].map((n) => ask(`${at.url}/things/${n}`)));
  assert.ok(
    answers.every((answer) => answer.startsWith('Status 200.')),
    answers.join('\n'),
  );
  assert.deepEqual(at.grants, ['authorization_code', 'refresh_token']);
  at.accessToken = 'revoked';
  assert.match(await ask(`${at.url}/things`), /^Status 200\./);
  assert.deepEqual(at.grants, ['authorization_code', 'refresh_token', 'refresh_token']);
  assert.equal(
    store.get('things').refresh,
    at.refreshToken,
    'the new refresh token is stored, because the old one cannot be used again',
  );
  at.accessToken = 'revoked';
  at.refreshToken = 'revoked';
  await assert.rejects(ask(`${at.url}/things`), { code: 'oauth/login-needed' });
});

test('[P27] a new token without an expiry is not refreshed at every request because the previous one had an expiry', async (t) => {
  const at = await startOauthServer(t);
  at.expiresIn = 1;
  const { ask } = await setupLogin(t, at);
  at.expiresIn = undefined;
  for (let i = 0; i < 3; i++) assert.match(await ask(`${at.url}/x`), /things/);
  assert.deepEqual(at.grants, ['authorization_code', 'refresh_token']);
});

test('[P27] a token is sent to its own origin only, also after a redirect', async (t) => {
  const at = await startOauthServer(t);
  const other = await startOauthServer(t);
  const { ask } = await setupLogin(t, at);
  await assert.rejects(ask(`${other.url}/things`), { code: 'oauth/other-origin' });
  const mine = { headers: { authorization: 'Bearer mine' } };
  await assert.rejects(ask(`${at.url}/things`, mine), { code: 'oauth/two-logins' });
  assert.deepEqual(other.apiRequests, []);
  assert.match(await ask(`${at.url}/away?to=${other.url}/things`), /^Status 401\./);
  assert.deepEqual(other.apiRequests, ['/things nobody']);
  assert.deepEqual(at.grants, ['authorization_code'], 'a refusal by another origin causes no refresh');
});

test('[P27] a refused login, a used code, another server’s answer and a wrong state give no token', async (t) => {
  const at = await startOauthServer(t);
  const { workspace } = setup(t);
  const attempt = (more: Partial<Parameters<typeof loginWithOAuth>[1]> = {}): Promise<ApiLogin> =>
    loginWithOAuth({ api: at.url }, { workspace, stored: {}, ...willingUser, signal: signal(), ...more });

  at.tamperRedirect = (back) => {
    back.searchParams.delete('code');
    back.searchParams.set('error', 'access_denied');
  };
  await assert.rejects(attempt(), { code: 'oauth/failed', message: /access_denied/ });

  let used = '';
  at.tamperRedirect = (back) => void (used = back.searchParams.get('code') ?? '');
  await attempt();
  at.tamperRedirect = (back) => back.searchParams.set('code', used);
  await assert.rejects(attempt(), { code: 'oauth/failed', message: /invalid_grant, The code is used up/ });

  at.metadata = { ...at.metadata, authorization_response_iss_parameter_supported: true };
  at.tamperRedirect = (back) => back.searchParams.set('iss', 'https://elsewhere.example');
  await assert.rejects(attempt(), { code: 'oauth/failed' });

  const stop = new AbortController();
  const statuses: number[] = [];
  at.tamperRedirect = (back) => back.searchParams.set('state', 'theirs');
  const openPage = async (url: string): Promise<void> => {
    statuses.push((await fetch(url)).status);
    stop.abort();
  };
  await assert.rejects(attempt({ openPage, signal: stop.signal }), { code: 'run/cancelled' });
  assert.deepEqual(statuses, [404]);
  assert.deepEqual(at.grants, ['authorization_code'], 'only the valid login');
});

test('[P27] no login page is opened without consent, and no token is sent over an insecure connection', async (t) => {
  const at = await startOauthServer(t);
  const { workspace, file } = setup(t);
  const store = fileLogins<ApiLogin>(file);
  const context = { signal: signal() } as Parameters<Tool['execute']>[1];
  const run = async (tool: Tool, input: JsonObject): Promise<unknown> => tool.execute(input, context);
  const alone = oauthLogin({ store, workspace });
  await assert.rejects(run(alone, { name: 'x', api: at.url }), { code: 'oauth/no-user' });
  const asked: string[] = [];
  const confirmLogin = async (_: string, { url }: LoginPage): Promise<boolean> => asked.push(url) === 0;
  const unwilling = oauthLogin({ store, workspace, user: { ...willingUser, confirmLogin } });
  await assert.rejects(run(unwilling, { name: 'x', api: at.url }), { message: /The user declined to log in/ });
  assert.deepEqual([at.grants, store.list(), asked], [[], [], [at.metadata['authorization_endpoint']]]);
  assert.deepEqual(at.clients, [], 'nothing is registered before the user agrees');
  const willing = oauthLogin({ store, workspace, user: willingUser });
  for (const wish of [{ api: 'http://api.example' }, { api: at.url, issuer: 'http://login.example' }])
    await assert.rejects(run(willing, { name: 'x', ...wish }), { message: /not an encrypted URL/ });
  at.metadata = { ...at.metadata, code_challenge_methods_supported: ['plain'] };
  await assert.rejects(run(willing, { name: 'x', api: at.url }), { message: /does not support PKCE with S256/ });
  const { registration_endpoint: _, ...closed } = at.metadata;
  at.metadata = { ...closed, code_challenge_methods_supported: ['S256'] };
  await assert.rejects(run(willing, { name: 'x', api: at.url }), { message: /give a client_id/ });
  await run(willing, { name: 'x', api: at.url, client_id: 'given' });
  assert.equal(store.get('x').client, 'given');
});

test('[P27] a registered client is reused for the same redirect address, and a new one is registered if that address is in use', async (t) => {
  const at = await startOauthServer(t);
  const { login, workspace } = await setupLogin(t, at);
  const again = (): Promise<ApiLogin> =>
    loginWithOAuth({ api: at.url }, { workspace, stored: login, ...willingUser, signal: signal() });
  assert.equal((await again()).client, 'client-1');
  const squatter = createServer();
  await new Promise<void>((resolve) => squatter.listen(login.port, '127.0.0.1', resolve));
  t.after(() => squatter.close());
  assert.equal((await again()).client, 'client-2');
});

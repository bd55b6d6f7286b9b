// Login to a server: with the user's browser and a redirect to loopback, stored in a private file, refreshed without the user.
import assert from 'node:assert/strict';
import { chmodSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { createTempDir, openMcpServers, createUserServer } from '../../../test/support/mcp-fixture.ts';
import { startMcpOauthServer } from '../../../test/support/mcp-oauth-server.ts';
import type { McpHttpServer } from '../../../test/support/mcp-http-server.ts';
import { listenForCallback, callbackUrl, findFreePort } from '../oauth/callback.ts';
import { fileMcpTokens, type McpServer } from './index.ts';
import { createMcpSignIn } from './oauth.ts';
import { memoryMcpTokens } from './token-store.ts';

const remoteServer = ({ url }: McpHttpServer): McpServer =>
  createUserServer('o', { type: 'http', url: `${url}/mcp`, headers: {} });

test('the user logs in once: the token file is private, reused, and refreshed without the user', async (t) => {
  const desk = await startMcpOauthServer(t);
  const file = path.join(createTempDir(t), 'state', 'logins.json');
  const first = await openMcpServers(t, [remoteServer(desk)], { tokens: fileMcpTokens(file), openUrl: desk.openUrl });
  assert.equal((await first.call('mcp__o__hello')).text, 'hello', first.mcp.status()[0]?.why);
  await first.mcp.close();
  assert.equal(desk.openedPages.length, 1);
  assert.match(desk.openedPages[0] ?? '', /redirect_uri=http%3A%2F%2F127\.0\.0\.1%3A\d+%2Fcallback/);
  if (process.platform !== 'win32') assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.match(readFileSync(file, 'utf8'), /"token-1"/);

  const second = await openMcpServers(t, [remoteServer(desk)], { tokens: fileMcpTokens(file) });
  assert.equal((await second.call('mcp__o__hello')).text, 'hello');
  desk.validToken = 'expired';
  assert.equal((await second.call('mcp__o__hello')).text, 'hello');
  assert.deepEqual(desk.grants, ['authorization_code', 'refresh_token']);
  assert.equal(desk.openedPages.length, 1);

  if (process.platform === 'win32') return;
  chmodSync(file, 0o644);
  const third = await openMcpServers(t, [remoteServer(desk)], { tokens: fileMcpTokens(file) });
  assert.match(third.mcp.status()[0]?.why ?? '', /Other users can read .*logins\.json/);
});

test('calls that are rejected at the same time share one login: one page, one exchange of its code', async (t) => {
  const desk = await startMcpOauthServer(t);
  const tokens = fileMcpTokens(path.join(createTempDir(t), 'logins.json'));
  const { call, mcp } = await openMcpServers(t, [remoteServer(desk)], { tokens, openUrl: desk.openUrl });
  assert.equal(desk.openedPages.length, 1, mcp.status()[0]?.why);
  // Long after the first login its token and the refresh token are refused.
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 3_600_000 });
  desk.validToken = 'expired';
  desk.refusesRefresh = true;
  const results = await Promise.all([1, 2, 3].map(() => call('mcp__o__hello')));
  assert.deepEqual(
    results.map(({ text }) => text),
    ['hello', 'hello', 'hello'],
  );
  assert.equal(desk.openedPages.length, 2);
  assert.deepEqual(desk.grants, ['authorization_code', 'authorization_code']);
});

test('a call that needs a further scope right after the login shows the login page again', async (t) => {
  const desk = await startMcpOauthServer(t);
  desk.requiredScope = 'write';
  const tokens = fileMcpTokens(path.join(createTempDir(t), 'logins.json'));
  const { call, mcp } = await openMcpServers(t, [remoteServer(desk)], { tokens, openUrl: desk.openUrl });
  assert.equal(desk.openedPages.length, 1, mcp.status()[0]?.why);
  assert.equal((await call('mcp__o__hello')).text, 'hello');
  assert.equal(desk.openedPages.length, 2);
  assert.match(desk.openedPages[1] ?? '', /[?&]scope=write(?:&|$)/);
});

test('a login page that could not be shown is not waited for: the next attempt shows one', async (t) => {
  let shown = 0;
  const reach = { type: 'http', url: 'https://mcp.example/', headers: {} } as const;
  const signIn = createMcpSignIn(createUserServer('o', reach), reach, {
    tokens: memoryMcpTokens(),
    openUrl() {
      if (++shown === 1) throw new Error('no browser');
    },
  });
  t.after(() => signIn.close());
  const provider = await signIn.provider();
  const page = new URL('https://login.example/authorize?state=x');
  await assert.rejects(async () => provider.redirectToAuthorization(page), /no browser/);
  assert.equal(signIn.isPending(), false);
  await provider.redirectToAuthorization(page);
  assert.deepEqual([shown, signIn.isPending()], [2, true]);
});

test('a page of a request that was sent before a login completed is not shown; one of a later request is', async (t) => {
  const reach = { type: 'http', url: 'https://mcp.example/', headers: {} } as const;
  const shown: string[] = [];
  const openUrl = (_: string, page: string): void => void shown.push(page);
  const signIn = createMcpSignIn(createUserServer('o', reach), reach, { tokens: memoryMcpTokens(), openUrl });
  t.after(() => signIn.close());
  const provider = await signIn.provider();
  const request = async (page: string, meanwhile: () => void | Promise<void>): Promise<void> => {
    await provider.tokens();
    await meanwhile();
    await provider.redirectToAuthorization(new URL(`https://login.example/${page}`));
  };
  const login = (): void | Promise<void> => provider.saveTokens({ access_token: 'a', token_type: 'bearer' });
  await request('early', login);
  await request('late', () => {});
  assert.deepEqual(shown, ['https://login.example/late']);
});

test('a second attempt to connect joins the login that the first one began', async (t) => {
  const desk = await startMcpOauthServer(t);
  // The first attempt is given up after half of the start timeout, and its login goes on.
  desk.registrationDelays.push(1500);
  const pages: string[] = [];
  const tokens = fileMcpTokens(path.join(createTempDir(t), 'logins.json'));
  const { call, mcp } = await openMcpServers(t, [remoteServer(desk)], {
    tokens,
    // The user needs a while.
    openUrl(server, page) {
      pages.push(page);
      void pause(800).then(() => desk.openUrl(server, page));
    },
    startTimeoutMs: 2400,
  });
  assert.equal((await call('mcp__o__hello')).text, 'hello', mcp.status()[0]?.why);
  assert.equal(
    pages.length,
    1,
    'the page of the first attempt comes while that of the second is open, and is not shown',
  );
});

test('if no browser can be opened, a server that requires a login is not used, and this is reported', async (t) => {
  const desk = await startMcpOauthServer(t);
  const { mcp } = await openMcpServers(t, [remoteServer(desk)]);
  assert.match(mcp.status()[0]?.why ?? '', /The MCP server o requires a login\. Log in/);
  assert.deepEqual(desk.grants, []);
});

test('a key in the headers is used unchanged, and no login is tried', async (t) => {
  const desk = await startMcpOauthServer(t);
  desk.validToken = 'mine';
  const reach = { type: 'http', url: `${desk.url}/mcp`, headers: { Authorization: 'Bearer ${KEY}' } } as const;
  const { call } = await openMcpServers(t, [createUserServer('o', reach)], { environment: { KEY: 'mine' } });
  assert.equal((await call('mcp__o__hello')).text, 'hello');
  const { mcp } = await openMcpServers(t, [createUserServer('o', reach)], {
    environment: { KEY: 'wrong' },
    openUrl: desk.openUrl,
  });
  assert.equal(mcp.status()[0]?.state, 'failed');
  assert.deepEqual(desk.openedPages, []);
});

test('only the state that was sent is accepted', async () => {
  const port = await findFreePort();
  const callback = await listenForCallback(port, 'ours');
  for (const query of ['?code=evil&state=theirs', '?code=evil', ''])
    assert.equal((await fetch(`${callbackUrl(port)}${query}`)).status, 404);
  assert.equal((await fetch(`${callbackUrl(port)}?code=good&state=ours`, { method: 'POST' })).status, 404);
  assert.equal((await fetch(`${callbackUrl(port)}?code=good&state=ours`)).status, 200);
  assert.equal((await callback.params).get('code'), 'good');
  const given = await listenForCallback(port, 'ours');
  given.close();
  await assert.rejects(given.params, { code: 'oauth/login-ended' });
});

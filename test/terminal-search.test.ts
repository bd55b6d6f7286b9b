// Tests web search in the real program: each engine uses the keys and URLs of the user, which nothing else sees.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { calls, says } from '../src/testing/index.ts';
import { scriptHiddenCalls } from './support/hidden-tools.ts';
import { createProgram, type TestProgram } from './support/cli-harness.ts';
import { writeFiles } from './support/terminal-prompt.ts';

const key = 'a-key-of-mine-4711';
const search = scriptHiddenCalls([['web_search', { query: 'fair leads', count: 3 }]]);

type EngineRequest = { readonly url: string; readonly headers: http.IncomingHttpHeaders; readonly body: string };
type Engine = { readonly base: string; readonly requests: readonly EngineRequest[] };

/** A fake server that answers as every engine would. */
async function startSearchEngine(t: TestContext, status = 200): Promise<Engine> {
  const asked: EngineRequest[] = [];
  const page = { title: 'Fair <b>leads</b>', url: 'https://example.com/1', content: 'of rope' };
  const found = {
    results: [page],
    web: { results: [{ ...page, description: page.content }] },
    webPages: { value: [{ name: page.title, url: page.url, snippet: page.content }] },
    items: [{ title: page.title, link: page.url, snippet: page.content }],
  };
  const server = http.createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      asked.push({ url: request.url ?? '', headers: request.headers, body });
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(status === 200 ? found : { error: `bad ${JSON.stringify(request.headers)}` }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests: asked };
}

async function createSearchProgram(t: TestContext, config: object): Promise<TestProgram> {
  const program = await createProgram(t, search);
  await program.seedModels('qwen3');
  writeFiles(program.home, { 'config/fairlead/config.json': JSON.stringify(config) });
  return program;
}

const runSearch = (
  program: TestProgram,
  env: Record<string, string>,
  name = 'searched',
  prompt = 'search',
): ReturnType<TestProgram['run']> => program.run(['-p', prompt, '-n', name, '--auto-approve', '--no-sandbox'], { env });

/** Returns everything that the program wrote to disk or sent to the model. */
const getSearchResult = (program: TestProgram): string =>
  [
    ...readdirSync(program.home, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name !== 'config.json')
      .map((entry) => readFileSync(path.join(entry.parentPath, entry.name), 'utf8')),
    ...program.modelRequests().map(({ body, headers }) => JSON.stringify([body, headers])),
  ].join('\n');

for (const [name, variable, more, sent] of [
  ['brave', 'BRAVE_API_KEY', {}, ({ headers }: EngineRequest) => headers['x-subscription-token']],
  ['tavily', 'TAVILY_API_KEY', {}, ({ headers }: EngineRequest) => headers.authorization?.replace('Bearer ', '')],
  ['bing', 'BING_SEARCH_API_KEY', {}, ({ headers }: EngineRequest) => headers['ocp-apim-subscription-key']],
  [
    'google',
    'GOOGLE_SEARCH_API_KEY',
    { GOOGLE_CSE_ID: 'cx1' },
    ({ headers }: EngineRequest) => headers['x-goog-api-key'],
  ],
] as const)
  test(`[P21] ${name} searches with the key of ${variable}, which neither the model nor any file contains`, async (t) => {
    const { base, requests } = await startSearchEngine(t);
    const program = await createSearchProgram(t, { search: { engine: name, url: `${base}/find` } });
    const ran = await runSearch(program, { [variable]: key, ...more });
    assert.match(ran.out, /^Heard: [^]*1\. Fair leads\s+https:\/\/example\.com\/1\s+of rope/m, ran.err);
    assert.equal(requests.length, 1);
    assert.ok(requests[0] && sent(requests[0]) === key);
    assert.match(requests[0].url + requests[0].body, /fair(?:\+|%20| )leads/);
    assert.ok(!requests[0].url.includes(key));
    assert.ok(!getSearchResult(program).includes(key) && !`${ran.out}${ran.err}`.includes(key));
  });

test('[P21] SearXNG needs a URL and no key, and may be on this machine; no other local server can be reached', async (t) => {
  const { base, requests } = await startSearchEngine(t);
  const other = await startSearchEngine(t);
  const program = await createProgram(
    t,
    scriptHiddenCalls([['web_search', { query: 'fair leads' }]], [['web_fetch', { url: other.base }]]),
  );
  await program.seedModels('qwen3');
  const ran = await runSearch(program, { SEARXNG_URL: base }, 'searched', `search, and fetch ${other.base}`);
  assert.match(ran.out, /^Heard: .*(?:private|own network|refused)/im, ran.err);
  assert.match(program.session('searched'), /a search with SearXNG/);
  assert.deepEqual(
    [requests.length, requests[0]?.url, other.requests.length],
    [1, '/search?q=fair+leads&format=json', 0],
  );
});

test('[P21] an error of an engine is reported by its status only, since its text may repeat the key', async (t) => {
  const { base, requests } = await startSearchEngine(t, 401);
  const program = await createSearchProgram(t, {
    search: { engine: 'brave', url: base },
    keys: { BRAVE_API_KEY: key },
  });
  const ran = await runSearch(program, {});
  assert.match(ran.out, /Brave rejected its key/);
  assert.equal(requests[0]?.headers['x-subscription-token'], key);
  assert.ok(!getSearchResult(program).includes(key));
});

test('[P21] without a key there is no search; a key is never sent to another engine, and a directory cannot set one', async (t) => {
  const { base, requests } = await startSearchEngine(t);
  const program = await createProgram(t, ({ results }) =>
    results.length ? says('Done.') : calls('load_tools', { names: [] }),
  );
  await program.seedModels('qwen3');
  await runSearch(program, {});
  assert.doesNotMatch(JSON.stringify(program.modelRequests()[0]?.body), /web_search/);
  // Search settings of a directory are ignored.
  writeFileSync(path.join(program.cwd, '.env'), `SEARXNG_URL=${base}\nBRAVE_API_KEY=theirs\n`);
  writeFiles(program.cwd, { '.fairlead/config.json': JSON.stringify({ search: { engine: 'brave', url: base } }) });
  program.server.clearRequests();
  const ran = await runSearch(program, {}, 'again');
  assert.match(ran.err, /search\.engine in \S+ is not used: a project may not set it\./);
  assert.doesNotMatch(JSON.stringify(program.modelRequests()[0]?.body), /web_search/);
  // Two engines: each uses its own key.
  const both = await createSearchProgram(t, {});
  const mixed = await runSearch(both, { SEARXNG_URL: base, GOOGLE_SEARCH_API_KEY: key, GOOGLE_CSE_ID: 'cx' });
  assert.match(mixed.out, /Fair leads/);
  assert.equal(requests.length, 1);
  assert.ok(!JSON.stringify(requests).includes(key));
});

test('[P21, A75] a search needs approval like every external request, and no command gets the key', async (t) => {
  const { base, requests } = await startSearchEngine(t);
  const program = await createProgram(t, ({ results }) => {
    if (results.length === 0) return calls('run_command', { command: 'env' });
    if (results.length === 1) return calls('load_tools', { names: ['web_search'] });
    return results.length === 2 ? calls('use_tool', { tool: 'web_search', input: { query: 'x' } }) : says('Done.');
  });
  await program.seedModels('qwen3');
  const env = { BRAVE_API_KEY: key };
  writeFiles(program.home, {
    'config/fairlead/config.json': JSON.stringify({ search: { engine: 'brave', url: base } }),
    'config/fairlead/policy.yaml': 'rules:\n  - allow: { command: [env] }\n',
  });
  const ran = await program.run(['-p', 'search', '-n', 'asked', '--no-sandbox'], { env });
  assert.equal(ran.code, 5, ran.err);
  assert.match(ran.err, /web_search/);
  assert.deepEqual(requests, []);
  assert.match(program.session('asked'), /XDG_STATE_HOME/);
  assert.doesNotMatch(program.session('asked'), /BRAVE_API_KEY/);
});

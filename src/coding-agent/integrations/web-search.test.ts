// Tests of the choice of the search engine: by the settings, and never with the key of one engine at the URL of another.
import assert from 'node:assert/strict';
import test from 'node:test';
import { readSettings } from '../settings/index.ts';
import { getSearchSettings } from './web-search.ts';

const found = (env: Readonly<Record<string, string>>): ReturnType<typeof getSearchSettings> =>
  getSearchSettings(readSettings({ env: { HOME: '/nonexistent', ...env }, cwd: '/' }));

test('[P21] the first engine with its required settings is used; its key is not sent to the URL of another', () => {
  const searxng = { SEARXNG_URL: 'localhost:8888' };
  assert.equal(found({}), undefined);
  assert.equal(found({ GOOGLE_SEARCH_API_KEY: 'k' }), undefined, 'the id is missing');
  assert.deepEqual(found({ BRAVE_API_KEY: 'k', ...searxng }), { engine: 'brave', key: 'k' });
  assert.deepEqual(found({ BING_SEARCH_API_KEY: 'k', ...searxng }), {
    engine: 'searxng',
    url: 'http://localhost:8888',
  });
  assert.deepEqual(found({ GOOGLE_SEARCH_API_KEY: 'k', GOOGLE_CSE_ID: 'i' }), { engine: 'google', key: 'k', id: 'i' });
});

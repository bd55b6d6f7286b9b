// Which engine is searched with: by what is set, and never with the key of one at the address of another.
import assert from 'node:assert/strict';
import test from 'node:test';
import { readSettings } from '../settings/index.ts';
import { getSearchSettings } from './web-search.ts';

const found = (env: Readonly<Record<string, string>>): ReturnType<typeof getSearchSettings> =>
  getSearchSettings(readSettings({ env: { HOME: '/nonexistent', ...env }, cwd: '/' }));

test('[P21] the first engine that has what it needs is taken; an address of another is not for its key', () => {
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

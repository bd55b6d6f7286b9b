// Tests of opening a model.
import assert from 'node:assert/strict';
import test from 'node:test';
import { closedUrl, scriptedServer } from '../../testing/index.ts';
import { readSettings } from '../settings/index.ts';
import { openModel, type ModelHost } from './open-model.ts';

const host: ModelHost = { confirm: () => Promise.resolve(false), progress() {}, notify() {} };
const settings = readSettings({ env: { HOME: '/nowhere' }, cwd: '/' });
const chosen = (baseUrl: string) => ({ name: 'm', ref: { provider: 'ollama', model: 'm', baseUrl } });

test('[J89] the context window that Ollama uses is known before the first request, so that a conversation is compacted in time', async (t) => {
  const server = await scriptedServer([], { models: [{ id: 'm', context: 8192 }] });
  t.after(() => server.close());
  assert.equal((await openModel(chosen(server.url), settings, host)).contextWindow, 8192);
});

test('a model whose server does not answer is opened: the first request fails with the reason', async () => {
  assert.equal((await openModel(chosen(await closedUrl()), settings, host)).contextWindow, undefined);
});

// The drift alarm of models on the health page in a real browser: the verdict with its counts, and a name of a model that is markup.
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { getBaselinesDir, saveModelMeasurement } from '../src/fleet/health/index.ts';
import { closeBrowser, noBrowser, startWebServer } from './support/browser.ts';

after(closeBrowser);

test(
  '[A87] [A114] the health page shows that a model became worse than its baseline',
  { skip: noBrowser },
  async (t) => {
    const server = await startWebServer(t);
    const about = { provider: 'local', model: '<b>qwen3</b>\u202e', dataset: 'traps', datasetId: '1' };
    for (const good of [40, 10]) {
      const cases = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`case-${n}`, n < good ? 1 : 0]));
      const measured = { good, total: 40, when: new Date().toISOString(), version: '', cases };
      saveModelMeasurement(getBaselinesDir(server.state()), about, measured);
    }
    const page = await server.open(t);
    await page.goto(`${server.url}/#/health`);
    const row = page.getByRole('main').locator('tr', { hasText: 'against the baseline' });
    await row.waitFor();
    const text = (await row.textContent()) ?? '';
    assert.match(text, /right answers of local\/<b>qwen3<\/b>.* on traps.*25% of 40.*100% of 40.*drifted/);
    assert.doesNotMatch(text, /\u202e/);
  },
);

// The page of a plan in a real browser: the graph of its steps with their states, links by keyboard, and no accessibility problems.
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import type { FleetRun } from '../src/core/index.ts';
import { says } from '../src/testing/index.ts';
import { closeBrowser, noBrowser, startWebServer } from './support/browser.ts';
import { findAccessibilityProblems, findLowContrast } from './support/page-checks.ts';

after(closeBrowser);

const steps = [
  { id: 'read', task: 'Read the guide.', after: [] },
  { id: 'find', task: 'Find the price.', after: [] },
  { id: 'compare', task: 'Compare both.', after: ['read', 'find'] },
];

test('[A87, A89] the page draws a plan as a graph with the states of its steps', { skip: noBrowser }, async (t) => {
  const server = await startWebServer(t, ({ prompt }) => {
    if (prompt.startsWith('Find the price.')) return says('', { wire: { status: 400 } });
    return says('The guide says 8080.');
  });
  const body = { prompt: 'Compare the guide and the price.', steps, attempts: 1, replans: 0 };
  const started = await server.request('POST', '/api/orchestrate', body);
  const run = started['run'] as unknown as FleetRun;
  for (const page of [await server.open(t), await server.open(t, { dark: true, width: 390 })]) {
    await page.goto(`${server.url}/#/runs/${run.id}`);
    const main = page.getByRole('main');
    await main.getByText('did not succeed:').first().waitFor();
    const graph = main.getByRole('region', { name: 'Steps of the plan' });
    const link = graph.getByRole('link', { name: 'Step read: done' });
    await link.waitFor();
    await graph.getByRole('link', { name: 'Step find: failed' }).waitFor();
    await graph.getByRole('img', { name: 'Step compare: blocked, after read, find' }).waitFor();
    assert.equal(await graph.locator('path.plan-line').count(), 2);
    assert.match((await main.locator('.plan-reasons').textContent()) ?? '', /compare blocked: find did not succeed/);
    assert.deepEqual(await page.evaluate(findAccessibilityProblems), []);
    assert.deepEqual(await page.evaluate(findLowContrast), []);
    await link.focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/step-read-1/);
  }
});

// Accessibility and navigation of the dashboard: addresses, pages, copying, text direction, contrast, labels; in a real browser, against the real server.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { JsonObject } from '../src/core/index.ts';
import type { Script } from '../src/testing/index.ts';
import { eventually } from './support/eventually.ts';
import {
  submitPrompt,
  closeBrowser,
  webKeys,
  noBrowser,
  fetchRun,
  startWebServer,
  waitForStatus,
} from './support/browser.ts';
import { findAccessibilityProblems, findLowContrast } from './support/page-checks.ts';

const skip = noBrowser;
after(closeBrowser);

/** An answer of 200 kB. */
const longText = Array.from({ length: 400 }, (_, i) => `Paragraph **${i}**: ${'word '.repeat(96)}`).join('\n\n');

/** The answers of the model, by prompt. */
const script: Script<JsonObject> = ({ prompt }) => {
  if (/both ways/.test(prompt)) return 'שלום, hello\n\nhello, שלום\n\n```\nls \u202ea\n```';
  return /endless/.test(prompt) ? { text: longText, chunks: 100, chunkMs: 10 } : `Heard: ${prompt}`;
};

test('the page for screen readers, keyboards and small screens', { skip }, async (t) => {
  const server = await startWebServer(t, script);

  await t.test(
    '[A87] a run has an address: it is shown after a reload, and the back button returns to it',
    async (t) => {
      const page = await server.open(t);
      await submitPrompt(page, 'where am I');
      await page.waitForURL(/#\/runs\/[\w-]+$/);
      await page.getByText('Heard: where am I').first().waitFor();
      await page.reload();
      await page.getByText('Heard: where am I').first().waitFor();
      const run = page.url();
      await page.getByRole('link', { name: 'Open session' }).click();
      await page.waitForURL(/#\/sessions\//);
      await page.getByRole('heading', { name: 'where am I' }).waitFor();
      await page.goto(`${page.url()}?say=1`);
      await page.reload();
      await page.waitForFunction(() => document.activeElement?.id === 'speaking');
      await page.waitForFunction(() => document.title === 'where am I · Fairlead');
      await page.goBack();
      await page.goBack();
      await page.waitForURL(run);
      await page.getByText('Heard: where am I').first().waitFor();
    },
  );

  await t.test(
    '[A87, A97] a link opens in another tab without asking for the key, and "Sign out" in one tab applies to all',
    async (t) => {
      const page = await server.open(t);
      await page.getByRole('heading', { name: 'Ask' }).waitFor();
      const opened = page.context().waitForEvent('page');
      await page
        .getByRole('navigation')
        .getByRole('link', { name: 'Runs' })
        .click({ modifiers: ['Control'] });
      const other = await opened;
      await other.getByRole('heading', { name: 'Runs' }).waitFor();
      await other.getByRole('button', { name: 'Sign out' }).click();
      for (const each of [page, other]) {
        await each.getByLabel('Key', { exact: true }).waitFor();
        await each.reload();
        await each.getByLabel('Key', { exact: true }).waitFor();
        await each.waitForFunction(() => sessionStorage.length === 0);
      }
    },
  );

  await t.test('[A87] copied text equals the shown text, and text has its own direction', async (t) => {
    const page = await server.open(t, { hasOwnProfile: true });
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await submitPrompt(page, 'both ways');
    await waitForStatus(page, 'answered');
    const directions = page.locator('.timeline .turn .prose p');
    await directions.nth(1).waitFor();
    assert.deepEqual(await directions.evaluateAll((all) => all.map((each) => getComputedStyle(each).direction)), [
      'rtl',
      'ltr',
    ]);
    await page.getByRole('button', { name: 'Copy this code' }).click();
    await page.waitForFunction(async () => (await navigator.clipboard.readText()) === 'ls <U+202E>a');
  });

  await t.test(
    '[A87] it works with reduced browser features, as on a page from another machine without TLS',
    async (t) => {
      const page = await server.open(t, { hasOwnProfile: true });
      await page.addInitScript(() => {
        Object.defineProperty(crypto, 'randomUUID', { value: undefined });
        Object.defineProperty(navigator, 'clipboard', { value: undefined });
      });
      await page.reload();
      await submitPrompt(page, 'from afar');
      await waitForStatus(page, 'answered');
      await page.getByRole('button', { name: 'Copy the text of turn 1' }).click();
      const field = page.getByLabel('Continue this session');
      await eventually('it was copied', async () => {
        await field.fill('');
        await field.press('Control+V');
        return (await field.inputValue()) === 'Heard: from afar';
      });
    },
  );

  await t.test('[A87, A93] while a long answer streams, only its end is rendered again', async (t) => {
    const page = await server.open(t);
    await submitPrompt(page, 'Be endless');
    const first = page.locator('.timeline .turn .section').first();
    await page.locator('.timeline .turn .section').nth(5).waitFor();
    await first.evaluate((section) => section.setAttribute('data-kept', 'yes'));
    await waitForStatus(page, 'answered');
    assert.equal(await first.getAttribute('data-kept'), 'yes');
    assert.ok((await page.locator('.timeline .turn .section').count()) > 50);
  });

  await t.test(
    '[A87, A92] runs are paged, each page has an address, and the back button returns to the previous page',
    async (t) => {
      const [tenant, notBefore] = ['many', new Date(Date.now() + 86_400_000).toISOString()];
      const runs = Array.from({ length: 120 }, (_, i) => ({ id: `many-${i}`, prompt: `boat ${i}`, tenant, notBefore }));
      await server.request('POST', '/api/runs', { runs });
      const page = await server.open(t);
      await page.goto(`${server.url}/#/runs?tenant=${tenant}`);
      const rows = page.getByRole('region', { name: 'Runs, latest first' }).getByRole('link');
      const shows = async (words: string, count: number): Promise<void> => {
        await page.getByRole('link', { name: words, exact: true }).waitFor();
        assert.equal(await rows.count(), count);
      };
      await shows('boat 119', 50);
      for (const [words, count] of [
        ['boat 69', 50],
        ['boat 0', 20],
      ] as const) {
        await page.getByRole('link', { name: 'Older runs' }).click();
        await shows(words, count);
      }
      assert.equal(await page.getByRole('link', { name: 'Older runs' }).count(), 0);
      await page.goBack();
      await shows('boat 69', 50);
      await page.getByRole('link', { name: 'Back to the latest' }).click();
      await shows('boat 119', 50);
    },
  );

  await t.test(
    '[A87] an invalid limit is not ignored, and a key that may start runs cannot turn off their approvals',
    async (t) => {
      const page = await server.open(t, { key: webKeys.runner });
      await page.getByText('Limits and settings').click();
      assert.ok(await page.getByLabel('Approve automatically').isDisabled());
      await page.getByLabel('Prompt').fill('bounded');
      const run = page.getByRole('button', { name: 'Run', exact: true });
      await page.getByLabel('Max cost (USD)').fill('2,5');
      await page.getByRole('alert').filter({ hasText: 'not a valid value for max cost' }).waitFor();
      assert.ok(await run.isDisabled());
      await page.getByLabel('Max cost (USD)').fill('2.5');
      await run.click();
      await page.waitForURL(/#\/runs\//);
      const id = page.url().split('/').at(-1) ?? '';
      const { limits, auto } = (await fetchRun(server, id)).settings;
      assert.deepEqual({ limits, auto }, { limits: { usd: 2.5 }, auto: undefined });
    },
  );

  await t.test(
    '[A87] every screen fits a phone, has one main landmark, labels all its fields and is readable in light and dark mode',
    async (t) => {
      await server.request('PUT', '/api/budgets/default', { period: 'day', usd: 5 });
      const pages = [await server.open(t, { width: 360, dark: true }), await server.open(t)];
      const shows: Readonly<Record<string, string | RegExp>> = {
        ask: 'Recent runs',
        runs: /boat \d+/,
        sessions: /just now| ago/,
        approvals: 'No pending approvals',
        verification: 'Nothing is calibrated',
        fleet: 'No schedules',
        releases: 'There is no release yet.',
        health: 'Drift',
        budgets: 'spent of',
        scorecard: 'not measured',
        nowhere: 'This address does not exist.',
      };
      for (const page of pages)
        for (const [screen, words] of Object.entries(shows)) {
          await page.goto(`${server.url}/#/${screen}`);
          await page.getByRole('main').getByText(words).first().waitFor();
          assert.deepEqual(await page.evaluate(findAccessibilityProblems), [], screen);
          assert.deepEqual(await page.evaluate(findLowContrast), [], screen);
        }
    },
  );
});

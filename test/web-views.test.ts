// What the lists of the page keep and add up: titles of terminal sessions, saved views, cost by model, and the runs of a worker; in a real browser.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { eventually } from './support/eventually.ts';
import { closeBrowser, noBrowser, startWebServer } from './support/browser.ts';

const skip = noBrowser;
after(closeBrowser);

test('lists of the page', { skip }, async (t) => {
  // The slow answer ends once the page has shown the run that waits for it.
  const shown = Promise.withResolvers<void>();
  const server = await startWebServer(t, async ({ prompt }) => {
    if (/slowly/.test(prompt)) await shown.promise;
    return `Heard: ${prompt}`;
  });

  await t.test(
    '[A92] the title of a session of the terminal is edited in place, and the terminal shows it',
    async (t) => {
      await server.run(['-p', 'Summarise the harbour log']);
      const page = await server.open(t);
      await page.getByRole('navigation').getByRole('link', { name: 'Sessions' }).click();
      await page.getByRole('link', { name: 'Summarise the harbour log' }).click();
      await page.getByRole('button', { name: 'Edit the title' }).click();
      await page.getByLabel('Title').fill('Harbour log of October');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Harbour log of October' }).waitFor();
      assert.match((await server.run(['sessions', 'list'])).out, /Harbour log of October/);
    },
  );

  await t.test(
    '[A92] a filter is saved as a view, is there after a reload, can be removed, and is deleted by signing out',
    async (t) => {
      await server.request('POST', '/api/runs?wait=20', { prompt: 'Count the boats' });
      const page = await server.open(t);
      await page.getByRole('navigation').getByRole('link', { name: 'Runs' }).click();
      assert.equal(
        await page.getByRole('button', { name: 'Save view' }).count(),
        0,
        'without a filter there is no view',
      );
      await page.getByRole('button', { name: 'Failed' }).click();
      await page.getByRole('button', { name: 'Save view' }).click();
      await page.getByLabel('Name of the view').fill('What broke');
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'All', exact: true }).click();
      await page.reload();
      await page.getByRole('link', { name: 'What broke' }).click();
      await page.getByText('No runs match').waitFor();
      assert.match(page.url(), /outcome=error/);
      assert.equal(await page.getByRole('button', { name: 'Failed' }).getAttribute('aria-pressed'), 'true');
      await page.getByRole('button', { name: 'Remove the view What broke' }).click();
      assert.equal(await page.getByRole('link', { name: 'What broke' }).count(), 0);
      await page.getByRole('button', { name: 'Save view' }).click();
      await page.getByLabel('Name of the view').fill('Again');
      await page.keyboard.press('Enter');
      await page.getByRole('link', { name: 'Again' }).waitFor();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.waitForFunction(() => localStorage.length === 0);
    },
  );

  await t.test('[A92] the cost of runs is added up by model', async (t) => {
    const page = await server.open(t);
    await page.getByRole('navigation').getByRole('link', { name: 'Budgets' }).click();
    const row = page.getByRole('table', { name: 'Cost by model' }).getByRole('row', { name: /qwen3/ });
    await row.waitFor();
    assert.deepEqual(await row.getByRole('cell').allTextContents(), ['qwen3', '1', '15', '$0', '$0']);
  });

  await t.test('[A92] two runs are compared: figures side by side, and the difference of the answers', async (t) => {
    await server.request('POST', '/api/runs?wait=20', { prompt: 'Count the ropes' });
    const page = await server.open(t);
    await page.getByRole('navigation').getByRole('link', { name: 'Runs' }).click();
    await page.getByRole('link', { name: 'Count the ropes' }).click();
    await page.getByText('Compare with another run').click();
    const choice = page.getByLabel('Other run');
    await choice.getByText('Count the boats').waitFor({ state: 'attached' });
    const label = (await choice.locator('option', { hasText: 'Count the boats' }).textContent()) ?? '';
    await choice.selectOption({ label });
    const row = page.getByRole('table', { name: 'The two runs' }).getByRole('row', { name: /Tokens/ });
    assert.deepEqual(await row.getByRole('cell').allTextContents(), ['Tokens', '10 in, 5 out', '10 in, 5 out']);
    const answers = page.getByLabel('The answer of the other run and of this one');
    assert.match((await answers.textContent()) ?? '', /Heard: Count the boats.*Heard: Count the ropes/s);
  });

  await t.test('[A92] the number of running runs and the runs of the only worker never differ', async (t) => {
    const page = await server.open(t);
    await page.getByRole('navigation').getByRole('link', { name: 'Fleet' }).click();
    await server.request('POST', '/api/runs', { prompt: 'Answer slowly' });
    const seen = new Set<string>();
    await eventually('the run was seen, and its end', async () => {
      const [running, , ofWorker] = await page.locator('main').evaluate((main) => {
        const figures = [...main.querySelectorAll('.figures dd')].map((each) => each.textContent.trim());
        return [figures.find((_, i) => i === 1), '', main.querySelector('tbody .number')?.textContent.trim()];
      });
      if (seen.has('1 above 1')) shown.resolve();
      if (running !== undefined) seen.add(`${running.replace(/\D.*$/s, '')} above ${ofWorker}`);
      return seen.has('1 above 1') && seen.has('0 above 0') && seen.size >= 2 && running?.startsWith('0') === true;
    });
    assert.deepEqual(
      [...seen].filter((each) => !['0 above 0', '1 above 1'].includes(each)),
      [],
    );
  });
});

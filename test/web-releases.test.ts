// The page of releases in a real browser: without releases, with a canary and its results, with text that is markup, and the rollback by an operator only.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { closeBrowser, fetchRun, noBrowser, startWebServer, webKeys } from './support/browser.ts';
import { eventually } from './support/eventually.ts';
import { findAccessibilityProblems, findLowContrast } from './support/page-checks.ts';

after(closeBrowser);

test(
  '[A114] [A87] the page shows the releases, the canary with the results of its runs and the history, and an operator ends the canary',
  { skip: noBrowser },
  async (t) => {
    const server = await startWebServer(t, ({ prompt }) => `You said: ${prompt}`);
    const reader = await server.open(t, { key: webKeys.reader });
    await reader.goto(`${server.url}/#/releases`);
    await reader.getByText('There is no release yet.').waitFor();
    await reader.getByText('fairlead release create').waitFor();
    const release = async (...args: readonly string[]): Promise<void> => {
      const { code, err } = await server.run(['release', ...args]);
      assert.equal(code, 0, err);
    };
    const folder = path.join(server.cwd, 'agent');
    mkdirSync(folder);
    await release('key');
    for (const [name, text] of [
      ['careful', 'Answer in one sentence.'],
      ['<img src=x onerror=document.title=1> \u202efast', 'Answer in two words.'],
    ] as const) {
      writeFileSync(path.join(folder, 'AGENTS.md'), text);
      await release('create', folder, '--name', name);
      await release('promote', name, '--no-gate', '--share', '0.5');
    }
    // The worker started before the first release was created.
    const ids = Array.from({ length: 6 }, (_, n) => `run-${n}`);
    await server.request('POST', '/api/runs', { runs: ids.map((id) => ({ id, prompt: `boat ${id}` })) });
    for (const id of ids) await eventually('it ended', async () => (await fetchRun(server, id)).status === 'ended');
    const page = await server.open(t);
    const phone = await server.open(t, { dark: true, width: 390, key: webKeys.reader });
    for (const each of [page, phone]) {
      await each.goto(`${server.url}/#/releases`);
      const main = each.getByRole('main');
      const canary = main.getByRole('region', { name: 'Canary' });
      await canary
        .getByText(/95% interval \d/)
        .first()
        .waitFor();
      assert.match((await canary.textContent()) ?? '', /Share of the runs50%.*Good runs of the canary.*Continues/);
      const table = main.getByRole('region', { name: 'Releases', exact: true });
      const rows = await table.locator('tbody tr').allTextContents();
      assert.match(rows[0] ?? '', /<img src=x onerror=document.title=1>.*fast.*canary, 50%/);
      assert.doesNotMatch(rows[0] ?? '', /\u202e/);
      assert.match(rows[1] ?? '', /careful.*in use/);
      assert.equal(await main.locator('img').count(), 0);
      assert.deepEqual(await each.evaluate(findAccessibilityProblems), []);
      assert.deepEqual(await each.evaluate(findLowContrast), []);
    }
    assert.ok(await phone.getByRole('button', { name: 'End the canary' }).isDisabled(), 'a reader cannot roll back');
    await page.getByRole('button', { name: 'End the canary' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(/New runs use careful/).waitFor();
    const confirm = dialog.getByRole('button', { name: 'Roll back' });
    assert.ok(await confirm.isDisabled(), 'a reason is required');
    await dialog.getByLabel('Reason').fill('<b>too short</b>');
    assert.deepEqual(await page.evaluate(findAccessibilityProblems), []);
    await confirm.click();
    await dialog.waitFor({ state: 'detached' });
    const history = page.getByRole('region', { name: 'History of releases' });
    await history.getByText('Rolled back').waitFor();
    assert.match(
      (await history.locator('tbody tr').first().textContent()) ?? '',
      /Rolled back<b>too short<\/b>operator [0-9a-f]{8}/,
    );
    assert.equal(await page.getByRole('region', { name: 'Canary' }).count(), 0);
    // A damaged manifest is named, and the other releases stay.
    const damaged = '0'.repeat(20);
    writeFileSync(server.data('releases', 'manifests', `${damaged}.json`), '{');
    await page.getByText(`The manifest ${damaged} cannot be read: It is not JSON.`).waitFor();
    const listed = page.getByRole('region', { name: 'Releases', exact: true }).locator('tbody tr');
    assert.equal(await listed.count(), 2);
    assert.equal(await page.getByRole('button', { name: /End the canary|Roll back/ }).count(), 0);
  },
);

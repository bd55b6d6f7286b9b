// The replay of a session on the page: identical, with differences side by side, with a live model, and what a key may not do; in a real browser.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { calls, says } from '../src/testing/index.ts';
import type { FleetRun } from '../src/core/index.ts';
import { closeBrowser, noBrowser, startWebServer, webKeys } from './support/browser.ts';
import { findAccessibilityProblems, findLowContrast } from './support/page-checks.ts';

after(closeBrowser);

test(
  '[P87] the page replays a session, shows the differences side by side, and only an operator lets a live model answer',
  { skip: noBrowser },
  async (t) => {
    let requests = 0;
    let isLater = false;
    const server = await startWebServer(t, ({ results }) => {
      requests += 1;
      if (results.length === 0) return calls('read_file', { path: 'berths.md' });
      return says(isLater ? '<b>Three</b> boats.' : 'Two boats.');
    });
    writeFileSync(path.join(server.cwd, 'berths.md'), 'Anna, Berta\n');
    writeFileSync(path.join(server.cwd, 'AGENTS.md'), 'Answer in one sentence.\n');
    const { run } = (await server.request('POST', '/api/runs?wait=30', { prompt: 'Which boats?' })) as unknown as {
      readonly run: FleetRun;
    };
    const page = await server.open(t);
    await page.goto(`${server.url}/#/sessions/${run.session}?view=replay`);
    const replay = page.getByRole('region', { name: 'Replay', exact: true });
    const before = requests;
    await replay.getByRole('button', { name: 'Replay as recorded' }).click();
    await replay.getByText('Identical', { exact: true }).waitFor();

    writeFileSync(path.join(server.cwd, 'AGENTS.md'), 'Answer in verse.\n');
    // Changed instructions are used after the user has accepted them.
    await server.run(['trust', '--yes']);
    await replay.getByRole('button', { name: 'Replay as recorded' }).click();
    const difference = replay.getByRole('region', { name: 'Turn 1: request: instructions' });
    await difference.waitFor();
    assert.deepEqual(await difference.locator('tr.differs').first().locator('td').allTextContents(), [
      'Answer in one sentence.',
      'Answer in verse.',
    ]);
    assert.match((await difference.textContent()) ?? '', /equal lines?/);
    assert.equal(requests, before, 'nothing was sent');
    assert.deepEqual(await page.evaluate(findAccessibilityProblems), []);
    assert.deepEqual(await page.evaluate(findLowContrast), []);

    isLater = true;
    await replay.getByText('With a live model').click();
    await replay.getByLabel('From turn').fill('2');
    await replay.getByRole('button', { name: 'Replay with this model' }).click();
    const answer = replay.getByRole('region', { name: 'Turn 2: answer' });
    await answer.waitFor();
    assert.deepEqual(await answer.locator('td').allTextContents(), ['Two boats.', '<b>Three</b> boats.']);
    assert.equal(requests, before + 1);

    const reader = await server.open(t, { key: webKeys.reader, width: 390, dark: true });
    await reader.goto(`${server.url}/#/sessions/${run.session}?view=replay`);
    assert.ok(await reader.getByRole('button', { name: 'Replay as recorded' }).isDisabled());
    const runner = await server.open(t, { key: webKeys.runner, width: 390, dark: true });
    await runner.goto(`${server.url}/#/sessions/${run.session}?view=replay`);
    await runner.getByRole('button', { name: 'Replay as recorded' }).click();
    await runner.getByRole('region', { name: 'Turn 1: request: instructions' }).waitFor();
    assert.equal(await runner.getByText('With a live model').count(), 0);
    assert.deepEqual(await runner.evaluate(findAccessibilityProblems), []);
    assert.deepEqual(await runner.evaluate(findLowContrast), []);
  },
);

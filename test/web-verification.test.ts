// The page of verifications in a real browser: the answer with citations and struck claims, verdicts with evidence, cost, and the curve of a calibration.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { isObject, type FleetRun, type JsonObject } from '../src/core/index.ts';
import { calls, says } from '../src/testing/index.ts';
import { closeBrowser, noBrowser, startWebServer } from './support/browser.ts';
import { findAccessibilityProblems, findLowContrast } from './support/page-checks.ts';
import { respondAsModel } from './support/scripted-judges.ts';

after(closeBrowser);

function readSystem(body: JsonObject): string {
  const messages = Array.isArray(body['messages']) ? body['messages'] : [];
  const system = messages.find((message) => isObject(message) && message['role'] === 'system');
  return isObject(system) ? String(system['content']) : '';
}

test(
  '[A90] [A87] [A46] the page shows a verification and the risk-coverage curve of a calibration',
  { skip: noBrowser },
  async (t) => {
    const server = await startWebServer(t, ({ prompt, body }) => respondAsModel({}, readSystem(body), prompt));
    const page = await server.open(t);
    await page.goto(`${server.url}/#/verification`);
    await page.getByText('Nothing is calibrated on this machine yet.').waitFor();
    const labels = path.join(server.cwd, 'labels.jsonl');
    const lines = Array.from({ length: 400 }, (_, i) =>
      JSON.stringify({ confidence: 1 - i / 400, correct: i < 200 || i % 3 === 0 }),
    );
    writeFileSync(labels, lines.join('\n'));
    assert.equal((await server.run(['verify', 'calibrate', labels, '--model', 'qwen3'])).code, 0);
    const guide = {
      name: 'guide.md',
      text: 'The rover listens on port 8080 by default.\nThe battery lasts for 14 hours.\n',
    };
    const started = await server.request('POST', '/api/verify?wait=60', {
      question: 'On which port does the rover listen?',
      answer: 'The rover listens on port 8080 by default. The battery lasts for 15 hours.',
      documents: [guide],
    });
    const run = started['run'] as unknown as FleetRun;
    for (const each of [page, await server.open(t, { dark: true, width: 390 })]) {
      await each.goto(`${server.url}/#/runs/${run.id}`);
      const main = each.getByRole('main');
      await main.getByText('Sources').waitFor();
      await main.locator('.citations').getByText('guide.md').waitFor();
      assert.match((await main.locator('.verification').textContent()) ?? '', /port 8080 by default\. \[1\]/);
      assert.match(
        (await main.locator('.claim.supported').textContent()) ?? '',
        /Supported.*8080.*\[1\].*exact comparison/,
      );
      assert.equal(await main.locator('.claim:not(.supported) del').textContent(), 'The battery lasts for 15 hours.');
      assert.match((await main.locator('.verify-facts').textContent()) ?? '', /quorum 2.*requests.*tokens.*Time/);
      assert.deepEqual(await each.evaluate(findAccessibilityProblems), []);
      assert.deepEqual(await each.evaluate(findLowContrast), []);
      await each.goto(`${server.url}/#/verification`);
      await main.getByText('Accepts from a confidence of').waitFor();
      await main.getByText('On which port does the rover listen?').waitFor();
      assert.equal(await main.locator('.calibrations .plot canvas').count(), 1);
      await main.getByText('Numbers of Error rate by coverage').click();
      assert.match((await main.locator('.calibrations table').textContent()) ?? '', /Coverage.*Error rate.*Target/);
      assert.deepEqual(await each.evaluate(findAccessibilityProblems), []);
      assert.deepEqual(await each.evaluate(findLowContrast), []);
    }
  },
);

test(
  '[A36] [A87] the page shows the answer of a verified run with its struck claim, and beside it what the model wrote',
  { skip: noBrowser },
  async (t) => {
    const server = await startWebServer(t, ({ model, prompt, body, results }) => {
      if (model !== 'qwen3') return respondAsModel({ answers: true }, readSystem(body), prompt);
      return results.length === 0
        ? calls('read_file', { path: 'notes.md' })
        : says('The pump of the house runs at 40 bar. The filter is changed in June.');
    });
    writeFileSync(path.join(server.cwd, 'notes.md'), '# Notes\n\nThe pump of the house runs at 40 bar.\n');
    const prompt = 'At how many bar does the pump of the house run?';
    assert.equal((await server.run(['config', 'set', 'verify.answers', 'true'])).code, 0);
    const started = await server.request('POST', '/api/runs?wait=60', { prompt });
    const run = (started['run'] ?? started) as unknown as FleetRun;
    const page = await server.open(t);
    await page.goto(`${server.url}/#/runs/${run.id}`);
    const turn = page.getByRole('main').locator('li.turn').last();
    await turn.getByText('As the model wrote it').waitFor();
    assert.equal(await turn.locator('s, del').textContent(), 'The filter is changed in June.');
    assert.match((await turn.textContent()) ?? '', /runs at 40 bar/);
    assert.equal(await turn.getByText('A draft: it is not verified.').count(), 0);
    assert.deepEqual(await page.evaluate(findAccessibilityProblems), []);
  },
);

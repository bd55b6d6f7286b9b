// The waterfall of a session on the page: the same spans as `fairlead trace`, with errors, denials, detail, keyboard and live updates; in a real browser.
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { calls, says } from '../src/testing/index.ts';
import type { FleetRun } from '../src/core/index.ts';
import type { Span } from '../src/tracing/index.ts';
import { closeBrowser, noBrowser, startWebServer, webKeys } from './support/browser.ts';
import { findAccessibilityProblems, findLowContrast } from './support/page-checks.ts';
import { writeLongSession, writeTracedSession } from './support/traced-session.ts';

after(closeBrowser);

test('the waterfall of a session', { skip: noBrowser }, async (t) => {
  const answered = Promise.withResolvers<void>();
  const server = await startWebServer(t, async ({ prompt, results }) => {
    if (/slowly/.test(prompt) && results.length === 0) return calls('list_files', { path: '.' });
    if (/slowly/.test(prompt)) await answered.promise;
    return says(`Heard: ${prompt}`);
  });
  const session = await writeTracedSession(server.data('sessions'), 'berths');
  const longSession = await writeLongSession(server.data('sessions'), 'long', 700);
  const address = (id: string): string => `${server.url}/#/sessions/${id}?view=trace&source=terminal`;

  await t.test(
    '[A23] [A87] it shows the spans of fairlead trace with sub-agent, MCP tool, gate decision and check, in the same order',
    async (t) => {
      const { out } = await server.run(['trace', 'berths', '--json']);
      const spans = JSON.parse(out) as readonly Span[];
      const page = await server.open(t);
      await page.goto(address(session));
      const tree = page.getByRole('tree', { name: 'Spans' });
      await tree.getByText('check all: passed').waitFor();
      const rows = await tree
        .getByRole('treeitem')
        .evaluateAll((all) => all.map((row) => `${row.getAttribute('aria-level')} ${row.textContent}`));
      assert.equal(rows.length, spans.length);
      const expected = [
        /^1 fairlead .*\(answered\).*11\.6k in, 465 out\$0\.04/,
        /^2 turn 1/,
        /^3 model claude-sonnet-4-5.*1\.2k in, 80 out\$0\.0048/,
        /^3 gate policy keep-log: denied delete_file.*denied/,
        /^3 harbour: list_boats.*ms$/,
        /^2 turn 2/,
        /^3 model/,
        /^3 spawn_agent Read the tide table/,
        /^4 subagent .*\(answered\).*2\.3k in, 100 out\$0\.0084/,
        /^5 turn 1/,
        /^6 model/,
        /^6 read_file tides\/october\.csv/,
        /^5 turn 2/,
        /^6 model/,
        /^2 turn 3/,
        /^3 model/,
        /^3 run_command harbour depth --berth 7failed/,
        /^2 turn 4/,
        /^3 model/,
        /^2 check sources: failed failed/,
        /^2 turn 5/,
        /^3 model/,
        /^2 check all: passed/,
      ];
      // The denied call and the other call of the answer may start in the same millisecond.
      if (/list_boats/.test(rows[3] ?? '')) rows.splice(3, 2, rows[4] ?? '', rows[3] ?? '');
      for (const [i, pattern] of expected.entries()) assert.match(rows[i] ?? '', pattern);
      assert.equal(expected.length, rows.length);
      assert.deepEqual(await page.evaluate(findAccessibilityProblems), []);
      assert.deepEqual(await page.evaluate(findLowContrast), []);
    },
  );

  await t.test(
    '[A87] a selected span shows its attributes, arguments and result, and why a call was denied',
    async (t) => {
      const page = await server.open(t);
      await page.goto(address(session));
      const tree = page.getByRole('tree', { name: 'Spans' });
      const detail = page.getByRole('region', { name: 'Selected span' });
      await tree.getByText('gate policy keep-log').click();
      await detail.getByText('Files of the log are never deleted.').waitFor();
      await detail.getByText('component: policy, name: keep-log, verdict: deny, action: block').waitFor();
      await tree.getByText('harbour: list_boats').click();
      await detail.getByText('"berth": 7').waitFor();
      await detail.getByText('Result', { exact: true }).click();
      await detail.getByText('Anna, Berta').waitFor();
      assert.match((await detail.textContent()) ?? '', /MCP serverharbour/);
      await tree.getByText('run_command').click();
      await detail.getByText('harbour: command not found').first().waitFor();
      // The request of a model call of a sub-agent is in the session of the sub-agent.
      await tree.getByRole('treeitem', { level: 6 }).first().click();
      await detail.getByRole('button', { name: 'Request as sent' }).click();
      await page.getByRole('region', { name: 'Request of turn 1' }).getByText('Read the tide table').first().waitFor();
      await detail.getByRole('button', { name: 'Close' }).click();
      assert.equal(await detail.count(), 0);
    },
  );

  await t.test('[A87] the keyboard moves, closes and opens rows, and a closed row says what is below it', async (t) => {
    const page = await server.open(t, { width: 390, dark: true });
    await page.goto(address(session));
    const tree = page.getByRole('tree', { name: 'Spans' });
    await tree.getByText('turn 1').first().waitFor();
    const activeText = (): Promise<string> =>
      tree.evaluate(
        (box) => document.getElementById(box.getAttribute('aria-activedescendant') ?? '')?.textContent ?? '',
      );
    await tree.focus();
    assert.match(await activeText(), /^fairlead/);
    await page.keyboard.press('ArrowDown');
    assert.match(await activeText(), /^turn 1/);
    await page.keyboard.press('ArrowLeft');
    await tree.getByText('1 denied below').waitFor();
    assert.equal(await tree.getByText('gate policy keep-log').count(), 0);
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    assert.match(await activeText(), /^model/);
    await page.keyboard.press('ArrowLeft');
    assert.match(await activeText(), /^turn 1/);
    await page.keyboard.press('End');
    assert.match(await activeText(), /^check all: passed/);
    assert.deepEqual(await page.evaluate(findAccessibilityProblems), []);
    assert.deepEqual(await page.evaluate(findLowContrast), []);
  });

  await t.test('[A87] a trace with thousands of spans has few rows in the page, and its end is reached', async (t) => {
    const page = await server.open(t);
    await page.goto(address(longSession));
    const tree = page.getByRole('tree', { name: 'Spans' });
    await page.getByText('1,407 spans.').waitFor();
    assert.ok((await tree.getByRole('treeitem').count()) <= 10, 'turns are closed at first');
    await page.getByRole('button', { name: 'Expand all' }).click();
    await tree.getByText('log/0.md').waitFor();
    assert.ok((await tree.getByRole('treeitem').count()) < 60);
    await tree.focus();
    await page.keyboard.press('End');
    await tree.getByText('turn 3').waitFor();
    assert.ok((await tree.getByRole('treeitem').count()) < 60);
  });

  await t.test('[A87] the trace of a run that continues is updated, for a reader too', async (t) => {
    const { run } = (await server.request('POST', '/api/runs', { prompt: 'Answer slowly' })) as unknown as {
      readonly run: FleetRun;
    };
    const page = await server.open(t, { key: webKeys.reader });
    await page.goto(`${server.url}/#/runs/${run.id}?view=trace`);
    const tree = page.getByRole('tree', { name: 'Spans' });
    await tree.getByText('list_files').waitFor();
    const second = tree.getByRole('treeitem', { name: /turn 2/ });
    await second.getByText('running').waitFor();
    answered.resolve();
    await tree.getByText('(answered)').waitFor();
    await second.getByText('running').waitFor({ state: 'detached' });
  });
});

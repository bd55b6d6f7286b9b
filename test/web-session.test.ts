// How the dashboard shows and follows runs and sessions: calls, diffs, trace, requests, titles, filters, palette; in a real browser, against the real server.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import type { FleetRun, JsonObject } from '../src/core/index.ts';
import { calls, type Script } from '../src/testing/index.ts';
import { eventually } from './support/eventually.ts';
import {
  closeBrowser,
  fetchRun,
  noBrowser,
  startWebServer,
  submitPrompt,
  waitForStatus,
  type WebServer,
} from './support/browser.ts';

const skip = noBrowser;
after(closeBrowser);

const callCount = 24;

/** The slow run waits with more results than this, so that a test can scroll while it runs. */
const slowRun = { maxResults: 14 };

/** The answers of the model, by prompt. */
const script: Script<JsonObject> = async ({ prompt, results }) => {
  while (/slowly/.test(prompt) && results.length > slowRun.maxResults) await pause(20);
  if (/Read many/.test(prompt) && results.length < callCount)
    return calls('read_file', { path: `file-${results.length}.ts` });
  if (/Read many/.test(prompt)) return 'The last word of the answer.';
  if (/Edit the file/.test(prompt)) {
    if (results.length === 0) return calls('read_file', { path: 'tide.ts' });
    if (results.length === 1)
      return calls('edit_file', { path: 'tide.ts', old_string: '  return 1;', new_string: '  return 2;\n  // more' });
    return 'Edited.';
  }
  return `Heard: ${prompt}`;
};

const start = async (server: WebServer, prompt: string, more: JsonObject = {}): Promise<FleetRun> =>
  (await server.request('POST', '/api/runs', { prompt, ...more }))['run'] as unknown as FleetRun;

const waitForEnd = (server: WebServer, id: string): Promise<void> =>
  eventually('it ended', async () => (await fetchRun(server, id)).status === 'ended');

const distanceToEnd = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollHeight - innerHeight - scrollY);

test('runs and sessions on the page', { skip }, async (t) => {
  const server = await startWebServer(t, script);
  const source = 'export function tide(): number {\n  // the tide turns at six\n  return 1;\n}\n';
  writeFileSync(path.join(server.cwd, 'tide.ts'), source);
  for (let i = 0; i < callCount; i++)
    writeFileSync(path.join(server.cwd, `file-${i}.ts`), `const x = ${i};\n`.repeat(40));

  await t.test(
    '[A87, A93] a run with many tool calls is followed to its end, with status and field in view; scrolling up stops it, and a button goes back',
    async (t) => {
      const page = await server.open(t);
      await submitPrompt(page, 'Read many files');
      await waitForStatus(page, 'answered');
      await page.getByText('The last word of the answer.', { exact: true }).waitFor();
      assert.ok((await page.locator('.call').count()) >= 8, 'there are several calls');
      await eventually('the end is in view', async () => (await distanceToEnd(page)) < 2);
      assert.ok(await page.getByText('The last word of the answer.', { exact: true }).isVisible());
      const isInView = (selector: string): Promise<boolean> =>
        page.locator(selector).evaluate((element) => {
          const { top, bottom } = element.getBoundingClientRect();
          return top >= 0 && bottom <= innerHeight;
        });
      for (const selector of ['.dock-status', '#speaking', '.question-bar'])
        assert.ok(await isInView(selector), selector);
      assert.match((await page.locator('.question-bar').textContent()) ?? '', /Read many files/);
      assert.match((await page.locator('.dock-status').textContent()) ?? '', /answered.*turn \d+.*tokens.*qwen3/s);
      assert.equal(await page.getByRole('button', { name: 'Jump to end' }).count(), 0);
      await page.mouse.move(700, 300);
      await page.mouse.wheel(0, -600);
      await page.getByRole('button', { name: 'Jump to end' }).click();
      await eventually('it is at the end again', async () => (await distanceToEnd(page)) < 2);
    },
  );

  await t.test('[A87] a user who scrolled up is not moved while the run goes on', async (t) => {
    const page = await server.open(t);
    t.after(() => (slowRun.maxResults = callCount));
    const { id } = await start(server, 'Read many files slowly');
    await page.goto(`${server.url}/#/runs/${id}`);
    await page.locator('.call').nth(14).waitFor();
    await page.waitForFunction(() => scrollY > 100);
    await page.mouse.move(700, 300);
    // A browser scrolls in small steps: already the first one, which ends near the end of the page, stops the following.
    await page.mouse.wheel(0, -30);
    await page.waitForFunction(() => document.documentElement.scrollHeight - innerHeight - scrollY >= 30);
    const place = await page.evaluate(() => scrollY);
    slowRun.maxResults = 18;
    await page.locator('.call').nth(18).waitFor();
    await page.getByRole('button', { name: 'Jump to end' }).waitFor();
    assert.equal(await page.evaluate(() => scrollY), place);
    await page.mouse.wheel(0, -5000);
    await page.waitForFunction(() => scrollY === 0);
    assert.notEqual((await fetchRun(server, id)).status, 'ended');
    slowRun.maxResults = callCount;
    await waitForEnd(server, id);
    await page.getByRole('button', { name: 'Jump to end' }).waitFor();
    assert.equal(await page.evaluate(() => scrollY), 0);
  });

  await t.test(
    '[A87] a call is one line with its target, result and duration; Enter opens it to its diff with line numbers and colours',
    async (t) => {
      const { id } = await start(server, 'Edit the file', { auto: true });
      await waitForEnd(server, id);
      const page = await server.open(t);
      await page.goto(`${server.url}/#/runs/${id}`);
      const edit = page.getByLabel('Call of edit_file');
      await edit.waitFor();
      assert.match((await edit.textContent()) ?? '', /edit_file\s*tide\.ts\s*\+2\s*−1\s*done\s*\d+ ms/);
      assert.equal(await page.locator('.diff').count(), 0, 'calls are closed');
      await edit.getByRole('button').first().focus();
      await page.keyboard.press('Enter');
      const lines = await edit
        .locator('.diff-line')
        .evaluateAll((all) => all.map((line) => `${line.className.replace('diff-line ', '')}|${line.textContent}`));
      assert.deepEqual(lines, [
        'same|11 export function tide(): number {',
        'same|22   // the tide turns at six',
        'removed|3−  return 1;',
        'added|3+  return 2;',
        'added|4+  // more',
        'same|45 }',
      ]);
      assert.ok((await edit.locator('.token-keyword').count()) > 2);
      await page.keyboard.press('Enter');
      assert.equal(await page.locator('.diff').count(), 0);
    },
  );

  await t.test(
    '[A87] the trace shows each call with its duration, and the request of a turn as the model got it',
    async (t) => {
      const { id, session } = await start(server, 'Edit the file', { auto: true });
      await waitForEnd(server, id);
      const page = await server.open(t);
      await page.goto(`${server.url}/#/runs/${id}`);
      await page.getByRole('link', { name: 'Trace' }).click();
      await page.waitForURL(/view=trace/);
      const tree = page.getByRole('tree', { name: 'Spans' });
      await tree.getByText('turn 3').waitFor();
      assert.match(
        (await tree.getByRole('treeitem').allTextContents()).join('\n'),
        /turn 1[^\n]*\nmodel [^\n]*\nread_file tide\.ts[^\n]*ms\nturn 2[^\n]*\nmodel [^\n]*\nedit_file tide\.ts/,
      );
      await tree.getByText('model qwen3').nth(1).click();
      await page.getByRole('button', { name: 'Request as sent' }).click();
      const request = page.getByRole('region', { name: 'Request of turn 2' });
      await request.getByText('Request as sent').waitFor();
      await request.getByText('JSON', { exact: true }).click();
      const shown = (await request.locator('pre').last().textContent()) ?? '';
      const { messages } = (await server.request('GET', `/api/sessions/${session}/requests/2`)) as {
        messages: JsonObject[];
      };
      assert.equal(messages.length, 3);
      assert.match(shown, /"turn": 2/);
      await page.getByRole('link', { name: 'Events' }).click();
      await page.getByRole('region', { name: 'Events' }).getByText('run-ended').waitFor();
    },
  );

  await t.test(
    '[A87] sessions of the terminal and of the server are in one list, with folder, filter, search and address; one of the terminal is read-only and a copy continues',
    async (t) => {
      await server.run(['-p', 'a talk in the terminal']);
      const page = await server.open(t);
      await page.goto(`${server.url}/#/sessions`);
      const row = page.getByRole('row', { name: /a talk in the terminal/ });
      await row.waitFor();
      assert.match((await row.textContent()) ?? '', /terminal/);
      assert.ok(((await row.textContent()) ?? '').includes(server.cwd));
      await page.getByRole('button', { name: 'Server', exact: true }).click();
      await row.waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Terminal', exact: true }).click();
      await row.waitFor();
      await page.keyboard.press('/');
      await page.keyboard.type('talk');
      await page.waitForURL(/source=terminal&q=talk/);
      await page.reload();
      assert.equal(await page.getByLabel('Search sessions').inputValue(), 'talk');
      await row.getByRole('link').click();
      await page.getByText('A session of your terminal, read-only.').waitFor();
      await page.getByText('Heard: a talk in the terminal').waitFor();
      assert.equal(await page.locator('#speaking').count(), 0);
      await page.getByRole('button', { name: 'Continue a copy here' }).click();
      await page.getByLabel('Continue this session').fill('and now here');
      await page.getByRole('button', { name: 'Continue', exact: true }).click();
      await page.getByText('Heard: and now here').waitFor();
    },
  );

  await t.test('[A87] a session gets another title in place, which the list shows', async (t) => {
    const { id, session } = await start(server, 'a plain title');
    await waitForEnd(server, id);
    const page = await server.open(t);
    await page.goto(`${server.url}/#/sessions/${session}`);
    await page.getByRole('button', { name: 'Edit the title' }).click();
    await page.getByLabel('Title', { exact: true }).fill('The harbour log');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'The harbour log' }).waitFor();
    await page.goto(`${server.url}/#/sessions`);
    await page.getByRole('link', { name: 'The harbour log' }).waitFor();
    await page.goto(`${server.url}/#/sessions/${session}`);
    await page.reload();
    await page.getByRole('heading', { name: 'The harbour log' }).waitFor();
  });

  await t.test('[A87] Ctrl+K finds screens, sessions and actions; j, k and Enter move in a list', async (t) => {
    const page = await server.open(t);
    await page.getByRole('heading', { name: 'Ask' }).waitFor();
    await page.keyboard.press('Control+k');
    const palette = page.getByRole('dialog', { name: 'Search or go to' });
    await palette.waitFor();
    await page.keyboard.type('fleet');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Fleet' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('harbour log');
    await palette.getByRole('option', { name: /The harbour log/ }).click();
    await page.getByRole('heading', { name: 'The harbour log' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('trace');
    await palette.getByRole('option', { name: 'Trace of this session' }).click();
    await page.waitForURL(/view=trace/);
    await page.getByRole('region', { name: 'Trace' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('kill switch');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Stop all runs?' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('navigation').getByRole('link', { name: 'Runs' }).click();
    await page.locator('[data-row]').nth(2).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    const first = await page.locator('[data-row]').first().getAttribute('href');
    assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('href')), first);
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.hash === first);
  });

  await t.test('[A87] a figure leads to its runs, and an address without a screen says so', async (t) => {
    const failed = await start(server, 'this one fails', { model: 'no-such-model' });
    await waitForEnd(server, failed.id);
    const page = await server.open(t);
    await page.goto(`${server.url}/#/health`);
    await page.getByRole('link', { name: /Errors, last hour/ }).click();
    await page.waitForURL(/status=ended&outcome=error&since=/);
    await page.getByRole('link', { name: 'this one fails' }).click();
    await page.getByRole('button', { name: 'Retry' }).waitFor();
    await page.goto(`${server.url}/#/nowhere`);
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
  });

  await t.test('[A87] the model and the folder are lists that name their defaults before a run', async (t) => {
    mkdirSync(path.join(server.cwd, 'sub'), { recursive: true });
    const page = await server.open(t);
    const model = page.getByLabel('Model', { exact: true });
    await page.getByText('qwen3 (default)').waitFor({ state: 'attached' });
    await model.selectOption('tiny');
    await page.getByLabel('Folder', { exact: true }).selectOption({ label: 'Other…' });
    await page.getByLabel('Other folder').fill('sub');
    await page.getByText('Orchestrate').click();
    await page.getByText('Run', { exact: true }).first().click();
    await submitPrompt(page, 'with a choice');
    await waitForStatus(page, 'answered');
    const { settings } = await fetchRun(server, page.url().split('/').at(-1) ?? '');
    assert.equal(settings['model'], 'tiny');
    assert.ok(String(settings['folder']).endsWith('/sub'), String(settings['folder']));
  });
});

test(
  '[A87] text of a hook is labelled as such: it is neither the title nor a message of the user',
  { skip },
  async (t) => {
    const server = await startWebServer(t, script, (home) => {
      mkdirSync(path.join(home, 'config/fairlead'), { recursive: true });
      writeFileSync(
        path.join(home, 'config/fairlead/hooks.json'),
        JSON.stringify({ hooks: { UserPromptSubmit: [{ hooks: [{ command: 'echo The tide is low' }] }] } }),
      );
    });
    const page = await server.open(t);
    await submitPrompt(page, 'what now');
    await waitForStatus(page, 'answered');
    await page.getByRole('heading', { name: 'what now' }).waitFor();
    assert.deepEqual(await page.locator('.timeline .who').allTextContents(), ['Hook', 'You', 'Turn 1']);
    await page.locator('.said.added summary').getByText('The tide is low').waitFor();
    await page.getByRole('link', { name: 'Open session' }).click();
    await page.waitForURL(/#\/sessions\//);
    await page.getByRole('heading', { name: 'what now' }).waitFor();
  },
);

test('[A87] a pending approval is counted in the title and marked in the icon of the tab', { skip }, async (t) => {
  const server = await startWebServer(t, ({ results }) =>
    results.length === 0 ? calls('run_command', { command: 'touch made' }) : 'Done.',
  );
  const page = await server.open(t);
  await page.getByRole('heading', { name: 'Ask' }).waitFor();
  const icon = (): Promise<string | null> => page.locator('link[rel=icon]').getAttribute('href');
  const plain = await icon();
  const { id } = await start(server, 'touch it');
  await page.waitForFunction(() => document.title === '(1) Ask · Fairlead');
  assert.match((await icon()) ?? '', /waiting/);
  await server.request('POST', `/api/runs/${id}/cancel`, {});
  await page.waitForFunction(() => document.title === 'Ask · Fairlead');
  assert.equal((await icon())?.replace(/^.*\//, ''), plain?.replace(/^.*\//, ''));
});

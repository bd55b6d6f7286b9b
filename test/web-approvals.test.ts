// Approvals on the page: the scopes of the terminal, typed replies, keys, and what a hidden tab shows; in a real browser, against the real server.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { JsonObject } from '../src/core/index.ts';
import { calls, says, type Script } from '../src/testing/index.ts';
import { eventually } from './support/eventually.ts';
import { closeBrowser, noBrowser, startWebServer, submitPrompt, waitForStatus, webKeys } from './support/browser.ts';

const skip = noBrowser;
after(closeBrowser);

/** A model that writes the files that the prompt names, each once, and then repeats the last result. */
function createWriter(): Script<JsonObject> {
  const written = new Set<string>();
  return ({ prompt, results }) => {
    const file = (prompt.match(/\S+\.txt/g) ?? []).find((each) => !written.has(each));
    if (file === undefined) return says(results.at(-1) ?? 'Nothing to do.');
    written.add(file);
    return calls('write_file', { path: file, content: 'made\n' });
  };
}

const form = (page: Page): ReturnType<Page['locator']> => page.locator('.answering');

test('approvals on the page', { skip }, async (t) => {
  const server = await startWebServer(t, createWriter());
  const has = (file: string): boolean => existsSync(path.join(server.cwd, file));

  await t.test(
    '[A41, A92] one click allows a scope of the session; later calls of it are not asked about',
    async (t) => {
      const page = await server.open(t);
      await submitPrompt(page, 'Write a.txt and b.txt');
      const scopes = form(page).getByRole('group', { name: 'Allow this call and later ones' });
      await scopes.waitFor();
      assert.deepEqual(await scopes.getByRole('button').allTextContents(), [
        'Any content for /…/a.txt in this session',
        'Edits and new files in this folder in this session',
        'Edits and new files in this folder in this project, kept',
      ]);
      await scopes.getByRole('button', { name: 'Edits and new files in this folder in this session' }).click();
      await waitForStatus(page, 'answered');
      assert.ok(has('a.txt') && has('b.txt'));
    },
  );

  await t.test('[A41, A92] arrow keys and Enter, or a digit, answer; typed text is a reply', async (t) => {
    const page = await server.open(t);
    await submitPrompt(page, 'Write c.txt');
    const once = form(page).getByRole('button', { name: 'Allow once' });
    await form(page).getByRole('group', { name: 'Allow this call and later ones' }).waitFor();
    await once.focus();
    await page.keyboard.type('yes always 1');
    assert.equal(await form(page).getByLabel('Reply to the model, which denies the call').inputValue(), 'yes always 1');
    await once.focus();
    await page.keyboard.press('ArrowDown');
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Deny');
    assert.ok(!has('c.txt'));
    await page.keyboard.press('1');
    await waitForStatus(page, 'answered');
    assert.ok(has('c.txt'));
  });

  await t.test('[A41, A92] a typed reply denies the call, and the model reads it', async (t) => {
    const page = await server.open(t);
    await submitPrompt(page, 'Write d.txt');
    const reply = form(page).getByLabel('Reply to the model, which denies the call');
    await reply.fill('1 is not the answer: ask me first');
    await reply.press('Enter');
    await waitForStatus(page, 'answered');
    assert.ok(!has('d.txt'));
    await page.getByText('1 is not the answer: ask me first').last().waitFor();
  });

  await t.test('[A92] a hidden tab gets a notification, a number in its title and another icon', async (t) => {
    const page = await server.open(t);
    await turnOnNotifications(page);
    await page.evaluate(() => Object.defineProperty(document, 'hidden', { value: true, configurable: true }));
    const getIcon = (): Promise<string | null> => page.locator('link[rel="icon"]').getAttribute('href');
    const plainIcon = await getIcon();
    await server.request('POST', '/api/runs', { prompt: 'Write f.txt' });
    await eventually('a notification was shown', async () => (await getNotifications(page)).length > 0);
    assert.match(await page.title(), /^\(1\)/);
    assert.notEqual(await getIcon(), plainIcon);
    assert.deepEqual(await getNotifications(page), ['Approval needed: write_file: Write f.txt']);
    await page.evaluate(() => {
      Object.defineProperty(document, 'hidden', { value: false });
      document.dispatchEvent(new Event('visibilitychange'));
    });
    await form(page).getByRole('button', { name: 'Deny', exact: true }).click();
    await eventually('the title has no number', async () => !(await page.title()).startsWith('('));
  });

  await t.test('[A92] the page of a run notifies a hidden tab when the run has ended', async (t) => {
    const page = await server.open(t);
    await turnOnNotifications(page);
    await page.getByRole('navigation').getByRole('link', { name: 'Ask' }).click();
    await submitPrompt(page, 'Write g.txt');
    await form(page).getByRole('button', { name: 'Deny', exact: true }).waitFor();
    await page.evaluate(() => Object.defineProperty(document, 'hidden', { value: true, configurable: true }));
    await form(page).getByRole('button', { name: 'Deny', exact: true }).click();
    await eventually('the end was shown', async () =>
      (await getNotifications(page)).some((text) => text === 'The run has ended: Write g.txt'),
    );
  });

  await t.test(
    '[A41, A92] a permission is kept for the project by the owner, and not offered to another key',
    async (t) => {
      const runner = await server.open(t, { key: webKeys.runner });
      await submitPrompt(runner, 'Write e.txt');
      await form(runner).getByRole('button', { name: 'Edits and new files in this folder in this session' }).waitFor();
      assert.equal(
        await form(runner)
          .getByRole('button', { name: /in this project/ })
          .count(),
        0,
      );
      const owner = await server.open(t);
      await owner
        .getByRole('navigation')
        .getByRole('link', { name: /Approvals/ })
        .click();
      await form(owner)
        .getByRole('button', { name: /in this project, kept/ })
        .click();
      await eventually('the file was written', async () => has('e.txt'));
      assert.match(readFileSync(server.config('permissions.yaml'), 'utf8'), /edits: true/);
    },
  );
});

/** Turns notifications on, whose texts are collected instead of shown. */
async function turnOnNotifications(page: Page): Promise<void> {
  await recordNotifications(page);
  await page
    .getByRole('navigation')
    .getByRole('link', { name: /Approvals/ })
    .click();
  const notifyMe = page.getByRole('button', { name: 'Notify me' });
  const isOn = page.getByRole('button', { name: 'Notifications on' });
  await notifyMe.or(isOn).waitFor();
  if (await notifyMe.isVisible()) await notifyMe.click();
  await isOn.waitFor();
}

/** Replaces the notifications of a page by a list of their texts. */
async function recordNotifications(page: Page): Promise<void> {
  await page.evaluate(() => {
    const shown: string[] = [];
    Object.assign(window, { shown });
    class Recorded extends EventTarget {
      static readonly permission = 'granted';
      static requestPermission = async (): Promise<string> => 'granted';
      constructor(title: string, { body }: { readonly body: string }) {
        super();
        shown.push(`${title}: ${body}`);
      }
      close(): void {}
    }
    Object.assign(window, { Notification: Recorded });
  });
}

const getNotifications = (page: Page): Promise<readonly string[]> =>
  page.evaluate(() => (window as unknown as { shown: string[] }).shown);

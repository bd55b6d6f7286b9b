// The dashboard in a real browser, against the real server, with a scripted model.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { FleetRun, JsonObject } from '../src/core/index.ts';
import { calls, type Script } from '../src/testing/index.ts';
import { eventually } from './support/eventually.ts';
import {
  submitPrompt,
  closeBrowser,
  webKeys,
  noBrowser,
  fetchRun,
  startWebServer,
  waitForContent,
  waitForStatus,
} from './support/browser.ts';

const skip = noBrowser;
after(closeBrowser);

/** Text that streams slowly enough to be seen in progress. */
const slowStream = { chunks: Array.from({ length: 60 }, (_, i) => `word${i} `), chunkMs: 30 };

/** An answer with markup and scripts. */
const hostileText =
  '<img src=x onerror="document.title=1"> <script>document.title=2</script> [click](javascript:document.title=3) ![pixel](https://evil.example/p.png) [bank](https://evil.example/)';

/** A long word without break points, as models and tools often return. */
const unbroken = 'a'.repeat(4000);

/** The behaviour of the model, by prompt. */
const script: Script<JsonObject> = ({ prompt, results }) => {
  if (/slowly/.test(prompt)) return /very/.test(prompt) ? { ...slowStream, chunkMs: 250 } : slowStream;
  if (/hostile/.test(prompt)) return hostileText;
  if (/unbroken/.test(prompt)) return `${unbroken}\n\n\`${unbroken}\`\n\n| ${unbroken} |\n|---|\n| x |`;
  if (results.length > 0) return 'It is **done**.';
  if (/Clear up/.test(prompt)) return calls('run_command', { command: 'echo gone\u202etxt.exe > left' });
  if (/Write it down/.test(prompt)) return calls('run_command', { command: 'echo once >> ledger; sleep 120' });
  return `Heard: ${prompt}`;
};

const offlineMessage = 'Disconnected. Reconnecting…';

test('the page in a browser', { skip }, async (t) => {
  const server = await startWebServer(t, script);

  await t.test('[A97] a wrong key is reported and stays in the field; the right one opens the page', async (t) => {
    const page = await server.open(t, { key: undefined });
    const field = page.getByLabel('Key', { exact: true });
    await field.fill('not-the-key');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').filter({ hasText: 'Invalid key' }).waitFor();
    assert.equal(await field.inputValue(), 'not-the-key');
    await field.fill(webKeys.operator);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Ask' }).waitFor();
  });

  await t.test(
    '[A97] a key in the URL is removed from it, still works after a reload, and is deleted with all other data by "Sign out"',
    async (t) => {
      const page = await server.open(t);
      await page.getByRole('heading', { name: 'Ask' }).waitFor();
      assert.ok(!page.url().includes('key'), page.url());
      await page.reload();
      await page.getByRole('heading', { name: 'Ask' }).waitFor();
      await page.getByLabel('Prompt').fill('a private draft');
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByLabel('Key', { exact: true }).waitFor();
      await page.waitForFunction(() => sessionStorage.length === 0 && localStorage.length === 0);
    },
  );

  await t.test('[A87, A88, A93] an answer is shown while it streams, and is kept with its cost', async (t) => {
    const page = await server.open(t);
    await page.getByText('No runs yet.').waitFor();
    await submitPrompt(page, 'Speak slowly');
    await page.waitForFunction(() => {
      const text = document.querySelector('.timeline')?.textContent ?? '';
      return text.includes('word3') && !text.includes('word59');
    });
    await waitForStatus(page, 'answered');
    const turn = page.locator('.timeline .turn');
    assert.equal(await turn.count(), 1);
    assert.match((await turn.textContent()) ?? '', / in, .* out.*word0 word1 .*word59/s);
    await page.getByRole('navigation').getByRole('link', { name: 'Ask' }).click();
    assert.equal(await page.getByLabel('Prompt').inputValue(), '');
  });

  await t.test(
    '[A87] a call that needs approval shows exactly what it would do, and is decided in place',
    async (t) => {
      const page = await server.open(t);
      await submitPrompt(page, 'Clear up');
      await waitForStatus(page, 'waits for approval');
      await page
        .getByRole('navigation')
        .getByRole('link', { name: /Approvals/ })
        .click();
      const call = page.getByLabel('Call of run_command');
      await call.waitFor();
      assert.equal(await call.locator('.hidden-letter').first().textContent(), '<U+202E>');
      await call.getByRole('button', { name: 'Deny', exact: true }).click();
      await page.getByText('No pending approvals.').waitFor();
      const left = page.getByRole('region', { name: 'Resolved approvals' }).getByRole('listitem');
      await left.filter({ hasText: 'answered' }).waitFor();
      assert.match((await left.textContent()) ?? '', /Clear up.*You answered: Deny\./);
      const other = (await server.request('POST', '/api/runs', { prompt: 'Clear up too' }))[
        'run'
      ] as unknown as FleetRun;
      await call.waitFor();
      await server.request('POST', `/api/runs/${other.id}/cancel`, {});
      await left.filter({ hasText: /Clear up too.*Resolved by another client, or the run ended.*cancelled/ }).waitFor();
      assert.equal(
        await left.first().getByRole('link', { name: 'Open session' }).getAttribute('href'),
        `#/sessions/${other.session}`,
      );
      await page.goBack();
      await waitForStatus(page, 'answered');
      await page.locator('.call-line').click();
      assert.match((await page.locator('.call').textContent()) ?? '', /denied.*Denied\. By operator/s);
    },
  );

  await t.test('[A87] a click fills in an earlier prompt again, also of a run that failed at once', async (t) => {
    const page = await server.open(t);
    const field = page.getByLabel('Prompt');
    await page.getByLabel('Model', { exact: true }).selectOption({ label: 'Other…' });
    await page.getByLabel('Other model').fill('no-such-model');
    await submitPrompt(page, 'Long words that took a while to write');
    await waitForStatus(page, 'model failed');
    await page.getByRole('button', { name: 'Reuse prompt' }).click();
    assert.equal(await field.inputValue(), 'Long words that took a while to write');
    await page.reload();
    assert.equal(await field.inputValue(), 'Long words that took a while to write');
  });

  await t.test(
    '[A87] a session is forked from a turn, and continues there without changing the original',
    async (t) => {
      const page = await server.open(t);
      await submitPrompt(page, 'one');
      await waitForStatus(page, 'answered');
      await page.getByRole('link', { name: 'Open session' }).click();
      const first = page.url();
      await page.getByRole('button', { name: 'Fork from here' }).click();
      await page.waitForURL((url) => url.href !== first && url.hash.startsWith('#/sessions/'));
      await page.getByText('Heard: one').first().waitFor();
      await page.getByLabel('Continue this session').fill('two');
      await page.getByRole('button', { name: 'Continue', exact: true }).click();
      await page.getByText('Heard: two').first().waitFor();
      await page.goto(first);
      await page.getByText('Heard: one').first().waitFor();
      assert.equal(await page.getByText('Heard: two').count(), 0);
    },
  );

  await t.test('[A87] a message of a session is edited into a new branch', async (t) => {
    const page = await server.open(t);
    await submitPrompt(page, 'the tide is low');
    await waitForStatus(page, 'answered');
    await page.getByRole('link', { name: 'Open session' }).click();
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByLabel('Message text').first().fill('the tide is high');
    await page.getByRole('button', { name: 'Save as a new branch' }).click();
    await page.locator('.timeline').getByText('the tide is high', { exact: true }).waitFor();
    await page.getByText('Edited: the session continues from the messages shown').waitFor();
    assert.equal(await page.locator('main .prose', { hasText: 'Heard: the tide is low' }).count(), 1);
  });

  await t.test('[A87] a running run is steered and cancelled from its session', async (t) => {
    const page = await server.open(t);
    await submitPrompt(page, 'Talk very slowly');
    await page.getByRole('link', { name: 'Open session' }).click();
    await page.getByLabel('Steer this run').fill('Now very slowly again');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.locator('.timeline .who', { hasText: 'You (while running)' }).waitFor();
    await page.locator('.timeline .turn').nth(1).waitFor();
    await page.getByRole('button', { name: 'Cancel the run' }).click();
    await page.getByText('Ended: cancelled').waitFor();
    await page.getByLabel('Continue this session').waitFor();
  });

  await t.test(
    '[A87] an answer is shown as text: no markup, no script, no remote image, and links show their target',
    async (t) => {
      const page = await server.open(t);
      await submitPrompt(page, 'Be hostile');
      await waitForStatus(page, 'answered');
      const turn = page.locator('.timeline .turn');
      assert.match((await turn.textContent()) ?? '', /<img src=x .*<script>.*\[click\]\(javascript:/);
      assert.equal(await turn.locator('img, script').count(), 0);
      const links = turn.getByRole('link');
      assert.deepEqual(await links.allTextContents(), [
        'pixel (https://evil.example/p.png)',
        'bank (https://evil.example/)',
      ]);
      assert.equal(await page.title(), 'Be hostile · Fairlead');
    },
  );

  await t.test('[A87] the page works with the keyboard, and keeps the selected color scheme', async (t) => {
    const page = await server.open(t);
    await page.getByRole('heading', { name: 'Ask' }).waitFor();
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Skip to the content');
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'main');
    await page.keyboard.press('g');
    await page.keyboard.press('r');
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Shortcuts' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Theme: Auto' }).click();
    await page.getByRole('button', { name: 'Theme: Light' }).click();
    await page.reload();
    await page.locator(':root[data-theme=dark]').waitFor();
  });

  await t.test('[A87, A95] one click and one confirmation stop all runs, and the banner resumes them', async (t) => {
    const page = await server.open(t);
    await page.getByText('Runs are allowed').waitFor();
    await page.getByRole('button', { name: 'Stop all runs' }).click();
    await page.getByRole('dialog', { name: 'Stop all runs?' }).waitFor();
    // The button of the dialog has the focus, so Enter confirms.
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByText('All runs are stopped.', { exact: true }).waitFor();
    await submitPrompt(page, 'Hello');
    await waitForStatus(page, 'queued');
    await page.getByText('The run starts when the kill switch is reset.').waitFor();
    await page.getByRole('button', { name: 'Resume runs' }).click();
    await page.getByRole('button', { name: 'Confirm: Resume runs' }).click();
    await waitForStatus(page, 'answered');
    await page.getByText('Runs are allowed').waitFor();
    await page.getByRole('button', { name: 'Stop all runs' }).click();
    await page.getByLabel('Reason (optional)').fill('The bill is too high');
    await page.keyboard.press('Enter');
    await page.getByText('All runs are stopped. The bill is too high.').waitFor();
    await server.request('POST', '/api/kill-switch', { stopped: false });
    await page.getByText('Runs are allowed').waitFor();
  });

  await t.test('[A87, A91, A92] several runs are queued at once, one per line, and listed with filters', async (t) => {
    const page = await server.open(t);
    await page.getByText('Enqueue').click();
    await submitPrompt(page, 'count the boats\ncount the ropes');
    await page.getByText('2 runs are in the queue.').waitFor();
    await page.getByRole('navigation').getByRole('link', { name: 'Runs' }).click();
    for (const words of ['count the boats', 'count the ropes']) await page.getByRole('link', { name: words }).waitFor();
    await page.getByLabel('Tenant').fill('no-such-tenant');
    await page.getByText('No runs match this filter.').waitFor();
  });

  await t.test('[A87, A97] a read-only key sees everything and can change nothing', async (t) => {
    const page = await server.open(t, { key: webKeys.reader });
    await page.getByText('Your key is read-only.').waitFor();
    await page.getByLabel('Prompt').fill('x');
    assert.ok(await page.getByRole('button', { name: 'Run', exact: true }).isDisabled());
    assert.ok(await page.getByRole('button', { name: 'Stop all runs' }).isDisabled());
  });
});

test(
  '[A87] names and errors of third parties are text on every screen, and nothing exceeds the width of a phone',
  { skip },
  async (t) => {
    const server = await startWebServer(t, script);
    const evil = '<img src=x onerror="document.title=9">\u202e\u0007';
    const long = `${evil}${unbroken}`;
    const page = await server.open(t, { width: 360 });
    const begun: { readonly id: string; readonly session: string }[] = [];
    for (const [prompt, model] of [
      [`${evil} unbroken`, 'qwen3'],
      [long, long.slice(0, 300)],
      [`hostile ${evil}`, 'qwen3'],
    ])
      begun.push((await server.request('POST', '/api/runs', { prompt, model }))['run'] as unknown as FleetRun);
    for (const { id } of begun)
      await eventually('it ended', async () => (await fetchRun(server, id)).status === 'ended');
    await server.request('PUT', '/api/schedules/some', {
      cron: '0 9 * * 1',
      run: { prompt: long, settings: { model: evil } },
    });
    await server.request('PUT', `/api/budgets/${'t'.repeat(200)}`, { period: 'day', usd: 5 });
    await server.request('POST', '/api/kill-switch', { stopped: true, reason: long.slice(0, 1000) });
    const places = [
      'ask',
      'runs',
      'sessions',
      'approvals',
      'verification',
      'fleet',
      'releases',
      'health',
      'budgets',
      'scorecard',
      ...begun.flatMap(({ id, session }) => [`runs/${id}`, `sessions/${session}`]),
    ];
    const wrong: string[] = [];
    for (const place of places) {
      await page.goto(`${server.url}/#/${place}`);
      await page.locator('main h1, main h2').first().waitFor();
      await waitForContent(page);
      wrong.push(...(await page.evaluate(findLayoutProblems)).map((each) => `${place}: ${each}`));
    }
    assert.deepEqual(wrong, []);
  },
);

/** Returns elements that violate the rules of the page: executed content, or content wider than the window. */
function findLayoutProblems(): readonly string[] {
  const ran = document.querySelectorAll('main img, main script, main a[href^="javascript:"]').length;
  const isClipped = (each: Element): boolean => {
    for (let up = each.parentElement; up; up = up.parentElement)
      if (/auto|scroll|hidden|clip/.test(getComputedStyle(up).overflowX)) return true;
    return false;
  };
  const wide =
    document.documentElement.scrollWidth <= window.innerWidth
      ? []
      : [...document.querySelectorAll('body *')]
          .filter((each) => each.getBoundingClientRect().right > window.innerWidth + 1 && !isClipped(each))
          .map((each) => `${each.tagName}.${each.className} is too wide`);
  return [
    ...(ran > 0 || /^\d$/.test(document.title) ? ['text was executed as markup or script'] : []),
    ...wide.slice(0, 5),
  ];
}

test('the page when the server dies', { skip }, async (t) => {
  const server = await startWebServer(t, script);

  await t.test('[A87, A93] it says so, keeps typed text, and shows everything once the server is back', async (t) => {
    const page = await server.open(t);
    await submitPrompt(page, 'Go slowly');
    await page.getByText('word3').first().waitFor();
    await server.crash();
    await page.getByText(offlineMessage).waitFor();
    const run = page.url();
    await page.getByRole('navigation').getByRole('link', { name: 'Ask' }).click();
    await page.getByLabel('Prompt').fill('typed while it was gone');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('alert').filter({ hasText: 'The server does not respond.' }).waitFor();
    await server.restart();
    await page.getByText(offlineMessage).waitFor({ state: 'detached' });
    await page.goto(run);
    await waitForStatus(page, 'answered');
    await page.getByText('word59').first().waitFor();
    assert.match((await page.locator('.timeline').textContent()) ?? '', /word0 word1 .*word59/s);
    await page.getByRole('navigation').getByRole('link', { name: 'Ask' }).click();
    assert.equal(await page.getByLabel('Prompt').inputValue(), 'typed while it was gone');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText('Heard: typed while it was gone').first().waitFor();
  });

  await t.test('[A87] an effect with an unknown outcome is shown to the user with three answers', async (t) => {
    const page = await server.open(t);
    await page.getByText('Limits and settings').click();
    await page.getByLabel('Approve automatically').check();
    await submitPrompt(page, 'Write it down');
    await page.locator('.call.runs').waitFor();
    await server.crash();
    await server.restart();
    await waitForStatus(page, 'waits for approval');
    const answers = page.getByRole('group', { name: 'Question about run_command' }).getByRole('button');
    await answers.first().waitFor();
    assert.deepEqual(await answers.allTextContents(), ['It happened', 'It did not happen: run it again', 'Unknown']);
    await answers.first().click();
    await waitForStatus(page, 'answered');
  });
});

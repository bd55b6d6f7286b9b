// The cache ledger on the page: hits and misses of a session with their reasons; in a real browser, against the real server.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { closeBrowser, noBrowser, startWebServer } from './support/browser.ts';
import { writeCachedSession } from './support/cached-session.ts';

const skip = noBrowser;
after(closeBrowser);

test(
  '[P87] the trace of a session on the page has the cache ledger with the reasons of misses',
  { skip },
  async (t) => {
    const server = await startWebServer(t);
    await writeCachedSession(server.data('sessions', 'session_tides.jsonl'));
    const page = await server.open(t);
    await page.goto(`${server.url}/#/sessions`);
    await page.getByRole('link', { name: 'tides' }).click();
    await page.getByText('A session of your terminal, read-only.').waitFor();
    await page.getByRole('link', { name: 'Trace' }).click();
    await page.waitForURL(/view=trace/);
    const ledger = page.getByRole('region', { name: 'Prompt cache' });
    await ledger.waitFor();
    const rows = (await ledger.getByRole('row').allTextContents()).slice(1);
    assert.equal(rows.length, 4);
    assert.match(rows[0] ?? '', /^1first.*-\$0\.003$/);
    assert.match(rows[1] ?? '', /^2hit/);
    assert.match(rows[2] ?? '', /^3miss.*the tools changed \(\+weather\)$/);
    assert.match(rows[3] ?? '', /^4hit/);
    assert.match(
      (await ledger.textContent()) ?? '',
      /2 hits, 1 miss\. Read 8\.5k tokens, 49 % of the input; lost 4\.?0?k\. Saved \$0\.0\d+, lost \$0\.0\d+\./,
    );
  },
);

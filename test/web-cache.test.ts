// The cache ledger on the page: hits and misses of a session with their reasons; in a real browser, against the real server.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import { createToolRegistry, defineTool, Session } from '../src/agent/index.ts';
import type { ResolvedAgent, Tool } from '../src/core/index.ts';
import { openJsonl } from '../src/stores/index.ts';
import { says, scriptedProvider } from '../src/testing/index.ts';
import { closeBrowser, noBrowser, startWebServer } from './support/browser.ts';

const skip = noBrowser;
after(closeBrowser);

const tool = (name: string): Tool =>
  defineTool({ name, description: name, effect: 'read', input: { type: 'object' }, run: () => 'ok' });

/** Writes a session of four turns whose tools change before the third one. */
async function writeSession(file: string): Promise<void> {
  mkdirSync(path.dirname(file), { recursive: true });
  const usages = [
    { input: 4000, output: 50, cacheRead: 0, cacheWrite: 4000 },
    { input: 4200, output: 50, cacheRead: 4000, cacheWrite: 200 },
    { input: 4500, output: 50, cacheRead: 0, cacheWrite: 4500 },
    { input: 4700, output: 50, cacheRead: 4500, cacheWrite: 200 },
  ];
  const provider = scriptedProvider(
    usages.map((usage, i) => ({ ...says(`Answer ${i + 1}.`), usage, model: 'claude-sonnet-4-5' })),
  );
  const agent = (tools: readonly Tool[]): ResolvedAgent => ({
    system: 'You help.',
    provider: {
      ...provider,
      model: 'claude-sonnet-4-5',
      stream: (request, signal) => provider.stream(request, signal),
    },
    modelProvider: 'anthropic',
    tools: createToolRegistry(tools),
    rules: [],
    reminders: [],
    gates: [],
    stops: [],
    checks: [],
    settings: {},
  });
  const log = await openJsonl(file);
  const session = await Session.open(agent([tool('tide')]), log, log.session);
  await session.advance('Read the tide table of the harbour');
  await session.advance('and the next day');
  await session.setAgent(agent([tool('tide'), tool('weather')]));
  await session.advance('and the weather');
  await session.advance('and the day after');
  await session.close();
}

test(
  '[P87] the trace of a session on the page has the cache ledger with the reasons of misses',
  { skip },
  async (t) => {
    const server = await startWebServer(t);
    await writeSession(server.data('sessions', 'session_tides.jsonl'));
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
    const picture = process.env['FAIRLEAD_PICTURE'];
    if (picture !== undefined) await page.screenshot({ path: picture, fullPage: true });
  },
);

// Takes the screenshots of docs/dashboard.md in a real browser, against the real server with the scripted model. Run: node scripts/screenshots-web.ts
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { calls, says, type Script } from '../src/testing/index.ts';
import type { JsonObject } from '../src/core/index.ts';
import { closeBrowser, noBrowser, startWebServer } from '../test/support/browser.ts';

if (noBrowser) throw new Error(`Screenshots cannot be taken: ${noBrowser}.`);

const screenshotsDir = path.resolve(import.meta.dirname, '../docs/screens');
mkdirSync(screenshotsDir, { recursive: true });

const answer =
  'It says whether the tide is **low** or **high** at an hour:\n\n```ts\nfor (const hour of [3, 9]) console.log(tide(hour)); // high, low\n```\n\nOne thing to know: hour 6 counts as high. See [the tide tables](https://tides.example/tables).';

/** The replies of the model: it reads a file before it answers about it, and calls a command that needs approval. */
const script: Script<JsonObject> = ({ prompt, results }) => {
  if (/tide\.ts/.test(prompt) && results.length === 0) return calls('read_file', { path: 'tide.ts' });
  if (/backup/.test(prompt) && results.length === 0)
    return [says('The old copies are in the way.'), calls('run_command', { command: 'rm -r backup/old\u202egnp.exe' })];
  return /tide\.ts/.test(prompt) ? { text: answer, chunks: 40, chunkMs: 25 } : `There are ${prompt.length} of them.`;
};

const cleanups: (() => unknown)[] = [];
/** A minimal test context; its cleanups run at the end of this script. */
const scriptContext = { after: (work: () => unknown) => void cleanups.push(work) } as unknown as TestContext;

async function capturePage(page: Page, name: string): Promise<void> {
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  await page.waitForTimeout(700);
  await page.screenshot({ path: path.join(screenshotsDir, `web-${name}.png`) });
  console.log(`docs/screens/web-${name}.png`);
}

try {
  const server = await startWebServer(scriptContext, script);
  writeFileSync(
    path.join(server.cwd, 'tide.ts'),
    'export function tide(hour: number): string {\n  return hour > 6 ? "low" : "high";\n}\n',
  );
  const page = await server.open(scriptContext);
  const ask = async (words: string, until: string): Promise<void> => {
    await page.getByLabel('Prompt').fill(words);
    await page.keyboard.press('Control+Enter');
    await page.locator('.live-head .status', { hasText: until }).waitFor();
  };
  await page.getByText('No runs yet.').waitFor();
  await capturePage(page, 'first');
  await ask('What does tide.ts do?', 'answered');
  await capturePage(page, 'answer');
  await ask('Clear the backup folder', 'waits for approval');
  for (const [i, prompt] of ['Count the boats', 'Count the ropes', 'Count the buoys', 'Count the gulls'].entries())
    await server.request('POST', '/api/runs', { prompt, tenant: i % 2 ? 'north' : 'default' });
  await server.request('PUT', '/api/budgets/north', { period: 'day', usd: 2, tokens: 50_000 });
  for (const [screen, seen] of [
    ['approvals', 'backup'],
    ['runs', 'Count the gulls'],
    ['health', 'Drift'],
  ] as const) {
    await page.goto(`${server.url}/#/${screen}`);
    await page.getByRole('main').getByText(seen).first().waitFor();
    await capturePage(page, screen);
  }
  await page.getByRole('button', { name: /Kill switch/ }).click();
  await page.getByLabel('Reason').fill('The bill of north is too high');
  await capturePage(page, 'switch');
  const dark = await server.open(scriptContext, { dark: true });
  await dark.goto(`${server.url}/#/sessions`);
  await dark.locator('.rows td a').last().click();
  await dark.getByText('One thing to know').waitFor();
  await capturePage(dark, 'session');
  const phone = await server.open(scriptContext, { width: 360 });
  await phone.goto(`${server.url}/#/approvals`);
  await phone.getByRole('main').getByText('backup').first().waitFor();
  await capturePage(phone, 'phone');
} finally {
  for (const work of cleanups.toReversed()) await work();
  await closeBrowser();
}

// Takes the screenshots of docs/flow.md: an injected mail, web page and tool description, in a real terminal and on the page. Run: node scripts/screenshots-flow.ts
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { FleetRun, JsonObject } from '../src/core/index.ts';
import { calls, says, type Script } from '../src/testing/index.ts';
import { closeBrowser, fetchRun, noBrowser, startWebServer } from '../test/support/browser.ts';
import { createProgram } from '../test/support/cli-harness.ts';
import { renderSvg } from './screenshots/ansi-to-svg.ts';

const root = path.resolve(import.meta.dirname, '..');
const screens = path.join(root, 'docs', 'screens');
const columns = 110;

const mail = (to: string, body: string): ReturnType<typeof calls> =>
  calls('mcp__office__send_mail', { to, subject: 'As requested', body });

/** The model obeys what it reads. */
const script: Script<JsonObject> = ({ prompt, results }) => {
  if (results.length >= 2) return says('The mail was not sent.');
  if (/inbox/.test(prompt))
    return results.length === 0
      ? calls('mcp__office__read_inbox', {})
      : mail('accounts@printers-billing.example', 'Ann 61,000; Bob 58,500');
  if (/opening hours/.test(prompt))
    return results.length === 0
      ? calls('mcp__office__open_page', { url: 'https://harbour.example/visit' })
      : mail('desk@harbour-visits.example', 'Tuesday: dentist, 14:00');
  return results.length === 0
    ? mail('sync@calendar-sync.example', 'Tuesday: dentist, 14:00')
    : says('Nothing was sent.');
};

const cases = [
  ['mail', 'Summarize my inbox.'],
  ['page', 'When are the opening hours on https://harbour.example/visit ?'],
  ['description', 'What is on my calendar today?'],
] as const;

const cleanups: (() => unknown)[] = [];
/** A minimal test context; its cleanups run at the end of this script. */
const scriptContext = { after: (work: () => unknown) => void cleanups.push(work) } as unknown as TestContext;

/** Adds the server to the user's configuration. It runs outside the sandbox, because it is a file of this repository. */
function writeServers(config: string, cwd: string): void {
  mkdirSync(config, { recursive: true });
  const server = { command: process.execPath, args: [path.join(root, 'test/support/office-mcp-server.ts')] };
  writeFileSync(
    path.join(config, 'mcp.json'),
    JSON.stringify({ mcpServers: { office: server }, outsideSandbox: [cwd] }),
  );
}

try {
  const program = await createProgram(scriptContext, script);
  await program.seedModels('qwen3');
  writeServers(program.config(), program.cwd);
  for (const [name, prompt] of cases) {
    const terminal = await program.open([], { columns, rows: 36 });
    await terminal.waitFor(/qwen3/);
    await terminal.type(prompt);
    await terminal.keys('Enter');
    await terminal.waitFor(/\[y\/N/);
    if (name !== 'description') {
      // The first call only reads.
      await pause(1000);
      await terminal.keys('y', 'Enter');
      await terminal.waitFor(/Call send_mail/);
    }
    await pause(500);
    const seen = (await terminal.screen({ colors: true })).replaceAll('␛', '\u001b');
    writeFileSync(path.join(screens, `flow-${name}.svg`), renderSvg(seen.replaceAll(program.home, '~'), columns));
    console.log(`docs/screens/flow-${name}.svg`);
    await terminal.kill();
  }
  if (noBrowser) throw new Error(`The page was not opened: ${noBrowser}.`);
  const server = await startWebServer(scriptContext, script, (home) =>
    writeServers(path.join(home, 'config/fairlead'), path.join(home, 'work')),
  );
  const page = await server.open(scriptContext);
  for (const [name, prompt] of cases) {
    const { id } = (await server.request('POST', '/api/runs', { prompt }))['run'] as unknown as FleetRun;
    while ((await fetchRun(server, id)).status !== 'waiting') await pause(100);
    if (name === 'description') continue;
    // The first call only reads.
    await page.goto(`${server.url}/#/runs/${id}`);
    await page.getByRole('button', { name: 'Allow once' }).click();
    await page.getByText('third party').first().waitFor();
  }
  await page.goto(`${server.url}/#/approvals`);
  await page.getByRole('main').getByText('inbox').first().waitFor();
  await page.waitForTimeout(700);
  await page.screenshot({ path: path.join(screens, 'web-flow.png'), fullPage: true });
  console.log('docs/screens/web-flow.png');
} finally {
  for (const work of cleanups.toReversed()) await work();
  await closeBrowser();
}

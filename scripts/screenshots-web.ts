// Takes the screenshots of docs/dashboard.md in a real browser, against the real server with the scripted model. Run: node scripts/screenshots-web.ts, or with the word traces for those of traces, cache and replay only.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { calls, says, type Script } from '../src/testing/index.ts';
import type { FleetRun, JsonObject } from '../src/core/index.ts';
import { writeCachedSession } from '../test/support/cached-session.ts';
import { writeTracedSession } from '../test/support/traced-session.ts';
import { closeBrowser, fetchRun, noBrowser, startWebServer, type WebServer } from '../test/support/browser.ts';

if (noBrowser) throw new Error(`Screenshots cannot be taken: ${noBrowser}.`);

const screenshotsDir = path.resolve(import.meta.dirname, '../docs/screens');
mkdirSync(screenshotsDir, { recursive: true });

const answer =
  'It says whether the tide is **low** or **high** at an hour:\n\n```ts\nfor (const hour of [3, 9]) console.log(tide(hour)); // high, low\n```\n\nOne thing to know: hour 6 counts as high. See [the tide tables](https://tides.example/tables).';

const edit = {
  path: 'tide.ts',
  old_string: '  return hour > 6 ? "low" : "high";',
  new_string: '  if (hour === 6) return "slack";\n  return hour > 6 ? "low" : "high";',
};

/** The replies of the model: it reads and edits a file before it answers about it, and calls a command that needs approval. */
const script: Script<JsonObject> = ({ prompt, results }) => {
  if (/tide\.ts/.test(prompt)) {
    if (results.length === 0) return [says('I read the file first.'), calls('read_file', { path: 'tide.ts' })];
    if (results.length === 1) return calls('grep', { pattern: 'tide', path: '.' });
    if (results.length === 2) return calls('edit_file', edit);
    return { text: answer, chunks: 40, chunkMs: 25 };
  }
  if (/backup/.test(prompt) && results.length === 0)
    return [says('The old copies are in the way.'), calls('run_command', { command: 'rm -r backup/old\u202egnp.exe' })];
  if (/notes/.test(prompt) && results.length === 0)
    return calls('write_file', {
      path: 'notes.py',
      content: 'def tide(hour):\n    return "low" if hour > 6 else "high"\n',
    });
  return `There are ${prompt.length} of them.`;
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

/** A verification whose claims are decided by exact comparison, and a calibration. */
async function captureVerification(server: WebServer, page: Page): Promise<void> {
  const labels = path.join(server.cwd, 'labels.jsonl');
  const lines = Array.from({ length: 600 }, (_, i) =>
    JSON.stringify({ confidence: 1 - i / 600, correct: i % 120 !== 99 && (i < 300 || (i * 7) % 600 > i - 300) }),
  );
  writeFileSync(labels, lines.join('\n'));
  await server.run(['verify', 'calibrate', labels, '--model', 'qwen3']);
  const text =
    'The harbour has 14 berths.\nThe gate closes at 22:00 in winter.\nThe harbour master is on duty from 6:00 to 20:00.\n';
  const started = await server.request('POST', '/api/verify?wait=60', {
    question: 'How many berths has the harbour, and when does the gate close in winter?',
    answer:
      'The harbour has 14 berths. The gate closes at 22:00 in winter. The harbour master is on duty from 6:00 to 18:00.',
    documents: [{ name: 'harbour.md', text }],
  });
  await page.goto(`${server.url}/#/runs/${(started['run'] as unknown as FleetRun).id}`);
  await page.getByRole('main').getByText('Sources').waitFor();
  await capturePage(page, 'verification');
  await page.goto(`${server.url}/#/verification`);
  await page.getByRole('main').getByText('Accepts from').waitFor();
  await capturePage(page, 'calibration');
}

/** Two releases, the second of them a canary, and a fleet that ran on both. */
async function captureReleases(server: WebServer, page: Page): Promise<void> {
  const folder = path.join(server.cwd, 'agent');
  mkdirSync(folder, { recursive: true });
  await server.run(['release', 'key']);
  for (const [name, text] of [
    ['harbour 1', 'Answer in one sentence.\n'],
    ['harbour 2', 'Answer in verse.\n'],
    ['harbour 3', 'Answer in one sentence, with the source.\n'],
  ] as const) {
    writeFileSync(path.join(folder, 'AGENTS.md'), text);
    await server.run(['release', 'create', folder, '--name', name]);
    await server.run(['release', 'promote', name, '--no-gate', '--share', '0.4']);
    if (name === 'harbour 2') await server.run(['release', 'rollback', 'complaints about verse']);
  }
  const runs = Array.from({ length: 20 }, (_, n) => ({ id: `boat-${n}`, prompt: `Count the boats at berth ${n}` }));
  await server.request('POST', '/api/runs', { runs });
  for (const { id } of runs) while ((await fetchRun(server, id)).status !== 'ended') await pause(100);
  await page.goto(`${server.url}/#/releases`);
  await page.getByRole('main').getByText('95% interval').first().waitFor();
  await capturePage(page, 'releases');
}

/** A trace with a sub-agent, a tool of an MCP server, a denied call and a check; and a cache ledger with a broken prefix. */
async function captureTraces(server: WebServer, page: Page): Promise<void> {
  const traced = await writeTracedSession(server.data('sessions'), 'berths', 120);
  await page.setViewportSize({ width: 1280, height: 1180 });
  await page.goto(`${server.url}/#/sessions/${traced}?view=trace&source=terminal`);
  await page.getByText('gate policy keep-log').click();
  await page.getByText('Files of the log are never deleted.').waitFor();
  await capturePage(page, 'trace');
  await page.setViewportSize({ width: 1280, height: 960 });
  const cached = await writeCachedSession(server.data('sessions', 'session_tides.jsonl'), 400);
  await page.goto(`${server.url}/#/sessions/${cached}?view=trace&source=terminal`);
  await page.getByText('Why it missed').scrollIntoViewIfNeeded();
  await capturePage(page, 'cache');
  await page.setViewportSize({ width: 1280, height: 800 });
}

/** The screens of a fleet with runs, approvals, budgets, verifications and releases. */
async function captureAll(server: WebServer, page: Page): Promise<void> {
  await server.run(['-p', 'Summarise the harbour log of last week']);
  const start = async (prompt: string, more: JsonObject, status: string): Promise<string> => {
    const { id } = (await server.request('POST', '/api/runs', { prompt, ...more }))['run'] as unknown as FleetRun;
    while ((await fetchRun(server, id)).status !== status) await pause(100);
    return id;
  };
  await page.getByText('No runs yet.').waitFor();
  await capturePage(page, 'first');
  const tide = await start('What does tide.ts do? Make hour six slack water.', { auto: true }, 'ended');
  await start('Clear the backup folder', {}, 'waiting');
  await start('Write the notes in Python', {}, 'waiting');
  for (const [i, prompt] of ['Count the boats', 'Count the ropes', 'Count the buoys', 'Count the gulls'].entries())
    await start(prompt, { tenant: i % 2 ? 'north' : 'default' }, 'ended');
  await server.request('PUT', '/api/budgets/north', { period: 'day', usd: 2, tokens: 50_000 });
  for (const [screen, seen, name] of [
    [`runs/${tide}`, 'Edited', 'answer'],
    ['sessions', 'harbour log', 'sessions'],
    ['approvals', 'backup', 'approvals'],
    ['runs', 'Count the gulls', 'runs'],
    ['health', 'Drift', 'health'],
  ] as const) {
    await page.goto(`${server.url}/#/${screen}`);
    if (name === 'answer') {
      await page.getByText('One thing to know').first().waitFor();
      await page.getByLabel('Call of edit_file').getByRole('button').first().click();
    } else await page.getByRole('main').getByText(seen).first().waitFor();
    await capturePage(page, name);
  }
  await captureVerification(server, page);
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog').waitFor();
  await page.waitForTimeout(600);
  await page.screenshot({ path: path.join(screenshotsDir, 'web-palette.png') });
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Stop all runs' }).click();
  await page.getByRole('dialog').waitFor();
  await page.screenshot({ path: path.join(screenshotsDir, 'web-switch.png') });
  const dark = await server.open(scriptContext, { dark: true });
  await dark.goto(`${server.url}/#/runs/${tide}`);
  await dark.getByText('One thing to know').first().waitFor();
  await dark.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
  await capturePage(dark, 'session');
  const phone = await server.open(scriptContext, { width: 390 });
  await phone.goto(`${server.url}/#/approvals`);
  await phone.getByRole('main').getByText('backup').first().waitFor();
  await capturePage(phone, 'phone');
  await captureReleases(server, page);
}

/** A replay after the instructions of the folder changed. */
async function captureReplay(server: WebServer, page: Page): Promise<void> {
  const instructions = path.join(server.cwd, 'AGENTS.md');
  writeFileSync(instructions, 'Answer in one sentence.\nName the berth.\n');
  const started = await server.request('POST', '/api/runs?wait=60', { prompt: 'Count the ropes at berth 7' });
  writeFileSync(instructions, 'Answer in verse.\nName the berth.\nSay when you are not sure.\n');
  await server.run(['trust', '--yes']);
  await page.goto(`${server.url}/#/sessions/${(started['run'] as unknown as FleetRun).session}?view=replay`);
  await page.getByRole('button', { name: 'Replay as recorded' }).click();
  await page.getByText('Answer in verse.').waitFor();
  // The facts of the run name this machine and a temporary folder.
  await page.locator('.facts').evaluate((facts) => facts.remove());
  await capturePage(page, 'replay');
}

try {
  const server = await startWebServer(scriptContext, script);
  writeFileSync(
    path.join(server.cwd, 'tide.ts'),
    'export function tide(hour: number): string {\n  return hour > 6 ? "low" : "high";\n}\n',
  );
  const page = await server.open(scriptContext);
  if (process.argv[2] !== 'traces') await captureAll(server, page);
  await captureTraces(server, page);
  await captureReplay(server, page);
} finally {
  for (const work of cleanups.toReversed()) await work();
  await closeBrowser();
}

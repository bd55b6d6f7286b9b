// Test fixture: the dashboard in a real browser against the real server, which a test can kill and restart.
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { chromium, type Browser, type Page, type Request } from 'playwright-core';
import type { FleetRun, JsonObject } from '../../src/core/index.ts';
import type { Script } from '../../src/testing/index.ts';
import { bin, createProgram, type TestProgram } from './cli-harness.ts';
import { eventually } from './eventually.ts';
import { source } from './program-dirs.ts';

const chromiumCandidates = [
  process.env['CHROMIUM'],
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

/** The path of the installed browser, if there is one. */
export const chromiumPath: string | undefined = chromiumCandidates.find(
  (place) => place !== undefined && existsSync(place),
);

/** Why browser tests are skipped; false if they can run. */
export const noBrowser: string | false =
  chromiumPath === undefined ? 'needs Chromium: install it, or name it in CHROMIUM' : false;

/** The operator, runner and reader keys of the test server. */
export const webKeys = {
  operator: 'a-key-that-operates-it',
  runner: 'a-key-that-begins-runs',
  reader: 'a-key-that-only-reads',
} as const;

const isStream = (request: Request): boolean => request.headers()['accept'] === 'text/event-stream';
const pendingRequests = new WeakMap<Page, ReadonlySet<Request>>();

let browser: Promise<Browser> | undefined;

const getBrowser = (): Promise<Browser> =>
  (browser ??= chromium.launch({
    ...(chromiumPath === undefined ? {} : { executablePath: chromiumPath }),
    // With this limit the browser starts no renderer in advance for pages that are never opened.
    args: ['--no-sandbox', '--disable-background-networking', '--renderer-process-limit=1'],
  }));

/** Closes the browser after the last test of the file. */
export const closeBrowser = async (): Promise<void> => (await browser)?.close();

/** The options of a page: key, phone width, dark theme, and a profile of its own for a test that changes more than what the page stores. */
export type PageOptions = {
  readonly key?: string | undefined;
  readonly width?: number;
  readonly dark?: boolean;
  readonly hasOwnProfile?: boolean;
};

/** A server with its dashboard. */
export type WebServer = Omit<TestProgram, 'open'> & {
  readonly url: string;
  /** Opens the dashboard, by default with the operator key. Script errors, requests to other hosts and policy violations fail the test. */
  open(t: TestContext, options?: PageOptions): Promise<Page>;
  /** Kills the server with SIGKILL. */
  crash(): Promise<void>;
  /** Restarts the server at the same address. */
  restart(): Promise<void>;
  /** Sends an API request with the operator key. */
  request(method: string, path: string, body?: unknown): Promise<JsonObject>;
};

/** Starts the real server on a scripted model; it stops with the test. `prepare` gets the home before the server starts. */
export async function startWebServer(
  t: TestContext,
  script?: Script<JsonObject>,
  prepare?: (home: string) => void,
): Promise<WebServer> {
  // The test build includes the dashboard.
  if (bin === source) await buildStaleWeb();
  const program = await createProgram(t, script);
  await program.seedModels('qwen3');
  prepare?.(program.home);
  let child: ChildProcess | undefined;
  let url = '';
  const start = async (port: string): Promise<void> => {
    const others = `reader:${webKeys.reader},runner:${webKeys.runner}`;
    const env = { ...program.env, HARNESS_API_KEY: webKeys.operator, HARNESS_API_KEYS: others };
    const started = spawn(process.execPath, [bin, 'serve', '--port', port], {
      cwd: program.cwd,
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child = started;
    url = await waitForAddress(started);
  };
  const crash = async (): Promise<void> => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child?.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;
  };
  t.after(crash);
  await start('0');
  return {
    ...program,
    url,
    crash,
    restart: () => start(new URL(url).port),
    open: (opener, options = {}) => openPage(opener, url, options),
    async request(method, path, body) {
      const headers = { authorization: `Bearer ${webKeys.operator}`, 'content-type': 'application/json' };
      const answer = await fetch(`${url}${path}`, {
        method,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const said = await answer.text();
      assert.ok(answer.ok, `${method} ${path}: ${said}`);
      return JSON.parse(said) as JsonObject;
    },
  };
}

async function buildStaleWeb(): Promise<void> {
  const { buildWeb, isWebStale } = await import('../../web/build.ts');
  if (isWebStale()) await buildWeb();
}

function waitForAddress(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      const address = /Listening at (\S+)/.exec(said)?.[1];
      if (address !== undefined) resolve(address);
    });
    child.once('exit', (code) => reject(new Error(`fairlead serve ended with ${code}: ${said}`)));
  });
}

/** Pages that no test uses, with nothing stored. A new page needs a new process, which costs as much as to load the page. */
const unusedPages: Page[] = [];

async function openPage(t: TestContext, url: string, options: PageOptions): Promise<Page> {
  const unused = options.hasOwnProfile ? undefined : unusedPages.pop();
  const page = unused ?? (await (await (await getBrowser()).newContext()).newPage());
  await page.setViewportSize({ width: options.width ?? 1280, height: 800 });
  await page.emulateMedia({ colorScheme: options.dark ? 'dark' : 'light' });
  page.setDefaultTimeout(20_000);
  const wrong: string[] = [];
  page.on('pageerror', (error) => wrong.push(error.message));
  page.on('console', (line) => {
    if (/Content Security Policy|Uncaught|unhandled|Password forms/i.test(line.text())) wrong.push(line.text());
  });
  const pending = new Set<Request>();
  pendingRequests.set(page, pending);
  page.on('requestfinished', (request) => void pending.delete(request));
  page.on('requestfailed', (request) => void pending.delete(request));
  page.on('request', (request) => {
    if (!isStream(request)) pending.add(request);
    if (!request.url().startsWith(url) && !request.url().startsWith('data:')) wrong.push(request.url());
  });
  t.after(async () => {
    await releasePage(page, url, options.hasOwnProfile === true);
    assert.deepEqual(wrong, [], 'the page had an error, violated its policy or sent a request to another host');
  });
  const key = 'key' in options ? options.key : webKeys.operator;
  await page.goto(key === undefined ? `${url}/` : `${url}/#key=${encodeURIComponent(key)}`);
  return page;
}

/** Deletes what the page stored and keeps it for another test; a page that does not allow that is closed with its profile. */
async function releasePage(page: Page, url: string, hasOwnProfile: boolean): Promise<void> {
  const context = page.context();
  const isClean =
    !hasOwnProfile &&
    page.url().startsWith(url) &&
    context.pages().length === 1 &&
    (await clearPage(page, url).then(
      () => true,
      () => false,
    ));
  if (isClean) unusedPages.push(page);
  else await context.close();
}

/** Loads a text of the same host, so that the next page needs no new process, and deletes what the page stored. */
async function clearPage(page: Page, url: string): Promise<void> {
  page.removeAllListeners();
  await page.mouse.move(0, 0);
  await page.goto(`${url}/healthz`, { timeout: 5000 });
  await page.evaluate(() => {
    localStorage.clear();
    sessionStorage.clear();
  });
}

/** Submits a prompt on the first screen, and goes there if the page shows a run. */
export async function submitPrompt(page: Page, prompt: string): Promise<void> {
  const field = page.getByLabel('Prompt', { exact: true });
  await field.or(page.locator('.dock')).first().waitFor();
  if (!(await field.isVisible())) await page.getByRole('navigation').getByRole('link', { name: 'Ask' }).click();
  await field.fill(prompt);
  await page.keyboard.press('Control+Enter');
}

/** Waits until the shown run has a status. */
export const waitForStatus = (page: Page, word: string): Promise<void> =>
  page.locator('.live-head .status', { hasText: word }).waitFor();

/** Waits until the screen has loaded its data: no request but the open streams is pending after a new screen was drawn. */
export async function waitForContent(page: Page): Promise<void> {
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  await eventually('no request is pending', async () => (pendingRequests.get(page)?.size ?? 0) === 0);
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
}

/** Returns a run from the API. */
export const fetchRun = async (server: Pick<WebServer, 'request'>, id: string): Promise<FleetRun> =>
  (await server.request('GET', `/api/runs/${id}`))['run'] as unknown as FleetRun;

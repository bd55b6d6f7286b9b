// The documents: the site builds, its links exist, its search finds pages, and the commands and paths they name exist.
import assert from 'node:assert/strict';
import { globSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { runInNewContext } from 'node:vm';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { buildSite, type SiteReport } from '../scripts/docs/site.ts';
import { commands } from '../src/cli/command-table.ts';
import { chromiumPath, noBrowser } from './support/browser.ts';

type SearchEntry = { readonly title: string; readonly page: string; readonly href: string };

const root = path.resolve(import.meta.dirname, '..');
const readRepoFile = (file: string): string => readFileSync(path.join(root, file), 'utf8');
const documents = ['*.md', 'docs/*.md', 'docs/decisions/*.md'].flatMap((pattern) => globSync(pattern, { cwd: root }));

function createTempDir(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-docs-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test('[P32, P53, P80, P81, A101] the site builds, every link and heading exists, and search finds guides and API names', async (t) => {
  const site = createTempDir(t);
  const { pages, problems } = buildSite(root, site);
  assert.deepEqual(problems, []);
  assert.ok(pages > documents.length, 'guides, API reference and linked sources');

  const context: { searchIndex?: readonly SearchEntry[]; found?: readonly SearchEntry[] } = {};
  for (const file of ['search-index.js', 'search.js'])
    runInNewContext(readFileSync(path.join(site, file), 'utf8'), context);
  const search = (query: string): readonly SearchEntry[] => {
    runInNewContext(`found = searchDocs(searchIndex, ${JSON.stringify(query)});`, context);
    return context.found ?? [];
  };
  assert.ok(search('defineTool')[0]?.href.startsWith('api/fairlead'), 'an exported name');
  assert.ok(
    search('kill switch').some(({ href }) => href.startsWith('fleet.html#')),
    'a guide',
  );
  assert.equal(search('no-such-word-anywhere').length, 0);
  for (const { href } of search('session')) assert.ok(existsSync(path.join(site, href.split('#')[0] ?? '')), href);

  await t.test(
    'a browser opens the site from the directory, without any other request',
    { skip: noBrowser },
    async () => {
      const browser = await chromium.launch({ executablePath: chromiumPath ?? '', args: ['--no-sandbox'] });
      try {
        const page = await browser.newPage();
        const requests: string[] = [];
        page.on('request', (request) => requests.push(request.url()));
        await page.goto(pathToFileURL(path.join(site, 'index.html')).href);
        await page.keyboard.press('/');
        await page.getByRole('searchbox').fill('defineTool');
        await page.locator('#results a').first().waitFor();
        await page.keyboard.press('Enter');
        await page.waitForURL(/api\/fairlead.*#defineTool$/);
        assert.ok(await page.locator('#defineTool').isVisible());
        assert.deepEqual(
          requests.filter((url) => !url.startsWith(pathToFileURL(site).href)),
          [],
        );
      } finally {
        await browser.close();
      }
    },
  );
});

const faultySites: Readonly<Record<string, readonly [files: Readonly<Record<string, string>>, problem: RegExp]>> = {
  'a link to a missing file': [{ 'README.md': '# A\n[b](docs/absent.md)' }, /README\.md links to docs\/absent\.md/],
  'a link to a missing heading': [{ 'README.md': '# A\n[b](#absent)' }, /index\.html links to #absent/],
  'an image of another host': [{ 'README.md': '# A\n![b](https://example.com/b.png)' }, /loads https:\/\/example\.com/],
  'a page that no group lists': [{ 'README.md': '# A', 'docs/new-page.md': '# B' }, /docs\/new-page\.md is not listed/],
};
for (const [what, [files, problem]] of Object.entries(faultySites)) {
  test(`the build of the site reports ${what}`, (t) => {
    const { problems } = buildFiles(t, files);
    assert.ok(
      problems.some((each) => problem.test(each)),
      problems.join('\n'),
    );
  });
}

function buildFiles(t: TestContext, files: Readonly<Record<string, string>>): SiteReport {
  const folder = createTempDir(t);
  for (const [name, text] of Object.entries({ 'package.json': '{ "name": "x", "exports": {} }', ...files })) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
  mkdirSync(path.join(folder, 'docs/screens'), { recursive: true });
  return buildSite(folder, path.join(folder, 'site'));
}

test('[A101] every path of the repository that a document names exists', () => {
  const missing = documents
    .filter((file) => file !== 'CHANGELOG.md')
    .flatMap((file) =>
      [...readRepoFile(file).matchAll(/`((?:src|test|scripts|examples|bench|web|docs)\/[\w./-]+)`/g)]
        .map(([, name = '']) => name)
        .filter((name) => !existsSync(path.join(root, name)))
        .map((name) => `${file}: ${name}`),
    );
  assert.deepEqual(missing, []);
});

test('every npm script and every fairlead command in the shell examples of the documents exists', () => {
  const { scripts } = JSON.parse(readRepoFile('package.json')) as { scripts: Readonly<Record<string, string>> };
  const problems = documents.flatMap((file) =>
    [...readRepoFile(file).matchAll(/^```sh\n([^]*?)^```/gm)]
      .flatMap(([, block = '']) => block.split('\n'))
      .flatMap((line) => [
        ...[...line.matchAll(/npm run ([\w:]+)/g)]
          .filter(([, name = '']) => !(name in scripts))
          .map(([found]) => `${file}: ${found}`),
        ...[...line.matchAll(/^(?:fairlead|npm start --) ([a-z][a-z-]+)\b/g)]
          .filter(([, name = '']) => !(name in commands))
          .map(([found]) => `${file}: ${found}`),
      ]),
  );
  assert.deepEqual(problems, []);
});

test('[M47] the README names the version of the package, and the licence of the package is the one in LICENSE', () => {
  const { version, license } = JSON.parse(readRepoFile('package.json')) as { version: string; license: string };
  assert.ok(readRepoFile('README.md').includes(`Version ${version.split('.').slice(0, 2).join('.')}`));
  assert.match(readRepoFile('LICENSE'), new RegExp(`^${license} License`));
});

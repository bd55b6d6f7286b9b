// Takes the screenshots of docs/evals.md: the HTML report of an evaluation, and the drift of models on the health page. Run: node scripts/screenshots-evals.ts
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Agent } from '../src/agent/index.ts';
import { checkEvalGates, compareReports, evaluate, writeEvalReport, type EvalCaseInput } from '../src/evals/index.ts';
import { scriptedProvider } from '../src/testing/index.ts';
import { chromium } from 'playwright-core';
import { getBaselinesDir, saveModelMeasurement, type ModelMeasurement } from '../src/fleet/health/index.ts';
import { chromiumPath, closeBrowser, startWebServer } from '../test/support/browser.ts';

const screens = path.resolve(import.meta.dirname, '../docs/screens');
const topics = ['refunds', 'shipping', 'prices', 'opening hours'];
const cases = Array.from({ length: 16 }, (_, i): EvalCaseInput => ({
  id: `${topics[i % 4]?.replace(' ', '-')}-${1 + Math.floor(i / 4)}`,
  prompt: `Question ${i}`,
  expect: { contains: ['right'] },
  tags: [topics[i % 4] ?? ''],
  ...(i < 4 ? { must: true } : {}),
}));

/** A model that is wrong in some trials of some cases, always the same ones. */
const createAgent = (share: number): Agent => {
  let asked = 0;
  const answer = (n: number): string =>
    ((n * 7919) % 97) / 97 < share ? 'That is right.' : 'I am sorry, <b>I do not know</b>.';
  const model = scriptedProvider(async () => {
    const n = asked++;
    await new Promise((resolve) => setTimeout(resolve, 5 + ((n * 31) % 40)));
    return answer(n);
  });
  return new Agent({ model });
};

const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-evals-'));
try {
  const options = { cases, dataset: 'shop.md', trials: 6 };
  const before = await evaluate({ ...options, agent: createAgent(0.75) });
  const report = await evaluate({ ...options, agent: createAgent(0.92) });
  const gates = checkEvalGates(report, [
    { type: 'must' },
    { type: 'rate', atLeast: 0.85, bound: 'value' },
    { type: 'rate', atLeast: 0.8, bound: 'lower', tag: 'refunds' },
  ]);
  const file = path.join(folder, 'report.html');
  writeEvalReport(
    file,
    { ...report, model: 'qwen3' },
    {
      gates,
      comparison: compareReports({ ...before, model: 'qwen2.5' }, { ...report, model: 'qwen3' }),
    },
  );
  if (chromiumPath === undefined) throw new Error('Install Chromium, or name it in CHROMIUM.');
  const browser = await chromium.launch({ executablePath: chromiumPath });
  const page = await browser.newPage({ viewport: { width: 1100, height: 1300 } });
  await page.goto(pathToFileURL(file).href);
  await page.screenshot({ path: path.join(screens, 'evals-report.png') });
  await browser.close();
} finally {
  rmSync(folder, { recursive: true });
}

/** A model of which so many of 20 answers are wrong. */
const measure = (wrong: number, when: string, version: string): ModelMeasurement => ({
  good: 20 - wrong,
  total: 20,
  when,
  version,
  cases: Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`c${i}`, i < wrong ? 0 : 1])),
});

const cleanups: (() => unknown)[] = [];
/** A minimal test context; its cleanups run at the end of this script. */
const scriptContext = { after: (work: () => unknown) => void cleanups.push(work) } as unknown as TestContext;
try {
  const server = await startWebServer(scriptContext);
  const directory = getBaselinesDir(server.state());
  for (const [model, wrong, version] of [
    ['qwen3', 9, 'qwen3-1115'],
    ['llama3', 0, 'llama3-0901'],
  ] as const) {
    const about = { provider: 'ollama', model, dataset: 'the trap set', datasetId: model };
    saveModelMeasurement(directory, about, measure(0, '2026-11-01T03:00:00Z', `${model}-0901`));
    saveModelMeasurement(directory, about, measure(wrong, '2026-11-18T03:00:00Z', version));
  }
  const page = await server.open(scriptContext, { width: 1280 });
  await page.getByRole('navigation').getByRole('link', { name: 'Health' }).click();
  const row = page.getByText('right answers of ollama/qwen3');
  await row.waitFor();
  await page.locator('table', { has: row }).screenshot({ path: path.join(screens, 'web-drift.png') });
} finally {
  await closeBrowser();
  for (const work of cleanups.toReversed()) await work();
}

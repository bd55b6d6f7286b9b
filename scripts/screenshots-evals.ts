// Takes the screenshot of docs/evals.md: the HTML report of an evaluation. Run: node scripts/screenshots-evals.ts
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { Agent } from '../src/agent/index.ts';
import { checkEvalGates, compareReports, evaluate, writeEvalReport, type EvalCaseInput } from '../src/evals/index.ts';
import { scriptedProvider } from '../src/testing/index.ts';
import { chromium } from 'playwright-core';
import { chromiumPath } from '../test/support/browser.ts';

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
  await page.screenshot({ path: path.resolve(import.meta.dirname, '../docs/screens/evals-report.png') });
  await browser.close();
} finally {
  rmSync(folder, { recursive: true });
}

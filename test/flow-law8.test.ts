// Law 8 as a property: over random tools, declarations, texts, encodings, plans and changes of the conversation, no value of a third party reaches a control argument of an effect without a recorded approval.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { conversationChanges, findViolation, runAgentPath, type PathResult } from './support/flow-agent-path.ts';
import {
  createNamedLink,
  createPlainLink,
  createProxyLink,
  createTrackedLink,
  runBridgePath,
} from './support/flow-bridge-path.ts';
import { createDice, createFlowCase, findTainted, type Dice, type FlowCase } from './support/flow-cases.ts';

const firstSeed = Number(process.env['FAIRLEAD_FLOW_SEED'] ?? 1);
const cases = (usual: number): number => Math.ceil(usual * Number(process.env['FAIRLEAD_FLOW_CASES'] ?? 1));

type RunPath = (flowCase: FlowCase, dice: Dice) => Promise<PathResult>;

/** Runs a path with many seeds. The failing seed is in the message. */
async function checkPath(t: TestContext, count: number, run: RunPath): Promise<readonly PathResult[]> {
  const results: PathResult[] = [];
  const totals = { happened: 0, benign: 0, approved: 0 };
  for (let seed = firstSeed; seed < firstSeed + count; seed++) {
    const flowCase = createFlowCase(seed);
    const result = await run(flowCase, createDice(seed + 1_000_000));
    const violation = findViolation(flowCase, result);
    assert.equal(
      violation,
      undefined,
      `FAIRLEAD_FLOW_SEED=${seed}: ${violation} after ${result.done.join(', ')}; read: ${[...flowCase.results.values()].join('\n')}`,
    );
    for (const entry of result.journal) {
      if (entry.type === 'approved') totals.approved += 1;
      else if (findTainted(flowCase, entry).length > 0) totals.happened += 1;
      else totals.benign += 1;
    }
    if (result.recorded !== undefined)
      assert.equal(result.recorded, result.journal.filter(({ type }) => type === 'approved').length, `seed ${seed}`);
    results.push(result);
  }
  assert.ok(totals.benign >= count / 2, 'calls with values of the user run');
  t.diagnostic(`${count} cases, ${JSON.stringify(totals)}`);
  return results;
}

const count = (results: readonly PathResult[], what: string): number =>
  results.filter(({ done }) => done.includes(what)).length;

function createFolder(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-law8-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const pickChanges = (dice: Dice): readonly string[] =>
  Array.from({ length: dice.below(4) }, () => dice.pick(conversationChanges));

test('[A37, A39, A69] law 8 in an agent with a user to ask: calls, look-ups, sub-agents, compaction, forks, resumed sessions, edits', async (t) => {
  const folder = createFolder(t);
  const results = await checkPath(t, cases(25), (flowCase, dice) =>
    runAgentPath(flowCase, dice, { mode: 'ask', folder, changes: pickChanges(dice) }),
  );
  // Each change alone, so that one does not hide what another one drops.
  for (const change of conversationChanges)
    await checkPath(t, cases(5), (flowCase, dice) =>
      runAgentPath(flowCase, dice, { mode: 'ask', folder: createFolder(t), changes: [change], delegates: false }),
    );
  for (const change of ['compact', 'resume', 'fork', 'edit', 'sub-agent'])
    assert.ok(count(results, change) >= 2, `${change}: ${count(results, change)}`);
});

test('[A37, A39] law 8 in an agent without a user: no value of a third party reaches an effect at all', async (t) => {
  const folder = createFolder(t);
  const results = await checkPath(t, cases(12), (flowCase, dice) =>
    runAgentPath(flowCase, dice, { mode: 'deny', folder, changes: pickChanges(dice) }),
  );
  assert.ok(results.every(({ journal }) => journal.every(({ type }) => type === 'happened')));
});

test('[A37, A39, A69] law 8 in another program’s loop with a user to ask: a caller that drops, summarizes, shortens and clears its history in a named conversation, and restarts', async (t) => {
  const results = await checkPath(t, cases(60), (flowCase, dice) =>
    runBridgePath(flowCase, dice, (askUser) => createNamedLink(flowCase, askUser)),
  );
  for (const change of ['drop', 'summary', 'summary alone', 'window', 'clear', 'restart'])
    assert.ok(count(results, change) >= 5, `${change}: ${count(results, change)}`);
});

test('[A37, A39] law 8 in another program’s loop: conversations without names', async (t) => {
  await checkPath(t, cases(40), (flowCase, dice) =>
    runBridgePath(flowCase, dice, (askUser) => createTrackedLink(flowCase, askUser)),
  );
});

test('[A37, A39] law 8 in plain messages, without a user', async (t) => {
  await checkPath(t, cases(15), (flowCase, dice) => runBridgePath(flowCase, dice, () => createPlainLink(flowCase)));
});

test('[A37, A39] law 8 through the proxy, without a user, streamed and not', async (t) => {
  await checkPath(t, cases(10), (flowCase, dice) =>
    runBridgePath(flowCase, dice, () => createProxyLink(flowCase, dice)),
  );
});

// Precision and recall of action claims on sessions that the coding agent recorded: every contradicted claim is found, false alarms are counted.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { actionLogView } from '../src/checks/actions/index.ts';
import { createActionEvidence } from '../src/checks/actions/run-action-check.ts';
import { binomialInterval, checkActionClaims, type CheckedClaim } from '../src/checks/index.ts';
import { codingAgent } from '../src/coding-agent/index.ts';
import { readView } from '../src/core/index.ts';
import { calls, says, scriptedProvider } from '../src/testing/index.ts';
import { classes } from './corpus/action-claims/classes.ts';
import { development } from './corpus/action-claims/development.ts';
import { heldOut } from './corpus/action-claims/held-out.ts';
import type { Label, Scenario } from './corpus/action-claims/scenario.ts';
import { noGit } from './support/programs.ts';
import { createScriptRunner } from './support/script-runner.ts';

process.env['PATH'] = [createScriptRunner(), process.env['PATH']].join(path.delimiter);

type Judged = { readonly label: Label; readonly text: string; readonly checked: readonly CheckedClaim[] };

/** Records a session with the real tools, and checks every answer against its log. */
async function judgeScenario(
  t: TestContext,
  { prompt = 'Do it.', files = {}, calls: made, answers }: Scenario,
): Promise<readonly Judged[]> {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-corpus-')));
  t.after(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));
  const cwd = path.join(root, 'project');
  for (const [name, text] of Object.entries({ '.keep': '', ...files })) {
    mkdirSync(path.dirname(path.join(cwd, name)), { recursive: true });
    writeFileSync(path.join(cwd, name), text);
  }
  const isDeferred = (tool: string): boolean => ['delete_file', 'git_change'].includes(tool);
  const script = made.flatMap(([tool, input]) =>
    isDeferred(tool)
      ? [calls('load_tools', { names: [tool] }), calls('use_tool', { tool, input })]
      : [calls(tool, input)],
  );
  await using agent = await codingAgent({
    cwd,
    stateDir: path.join(root, 'state'),
    configDir: path.join(root, 'config'),
    approve: 'auto',
    sandbox: 'none',
    model: scriptedProvider(({ results, prompt: asked }) =>
      asked.includes('Say hello') ? says('Hello.') : (script[results.length] ?? says('Recorded.')),
    ),
  });
  await using session = await agent.session();
  const result = await session.run(prompt);
  assert.equal(result.text, 'Recorded.', result.detail);
  const evidence = createActionEvidence(session.state, readView(session.state, actionLogView));
  return answers.flatMap((sentences) => {
    const answer = joinSentences(sentences.map(([, text]) => text));
    const checked = checkActionClaims(answer.text, evidence);
    return sentences.map(([label, text], i): Judged => {
      const { start, end } = answer.spans[i] ?? { start: 0, end: 0 };
      return { label, text, checked: checked.filter(({ span }) => span.start >= start && span.start < end) };
    });
  });
}

function joinSentences(texts: readonly string[]): {
  readonly text: string;
  readonly spans: readonly { readonly start: number; readonly end: number }[];
} {
  let text = '';
  const spans = texts.map((each) => {
    const isItem = /^(?:[-*]|\d+\.) |^\*\*/.test(each);
    text += text === '' ? '' : isItem ? '\n' : ' ';
    const start = text.length;
    text += each;
    return { start, end: text.length };
  });
  return { text, spans };
}

const isContradicted = ({ checked }: Judged): boolean => checked.some(({ verdict }) => verdict.type === 'contradicted');

const formatShare = (count: number, of: number): string => {
  const [low, high] = binomialInterval(count, of, 0.95);
  return `${count} of ${of} (95 % interval ${(100 * low).toFixed(1)} to ${(100 * high).toFixed(1)} %)`;
};

for (const [half, scenarios] of [
  ['development', development],
  ['held-out', heldOut],
  ['classes', classes],
] as const) {
  test(
    `[A2, A25] action claims on recorded sessions, ${half}: every contradicted claim is found, and no true one is doubted`,
    { skip: noGit },
    async (t) => {
      const judged: Judged[] = [];
      for (const scenario of scenarios) judged.push(...(await judgeScenario(t, scenario)));
      const of = (label: Label): readonly Judged[] => judged.filter((each) => each.label === label);
      const [known, wrong, others] = [of('t'), of('f'), of('n')];
      const alarms = [...known, ...others].filter(isContradicted);
      const missed = wrong.filter((each) => !isContradicted(each));
      const confirmed = known.filter(({ checked }) => checked.some(({ verdict }) => verdict.type === 'supported'));
      t.diagnostic(
        `${half}: false alarms on true claims ${formatShare(known.filter(isContradicted).length, known.length)}`,
      );
      t.diagnostic(
        `${half}: false alarms on other statements ${formatShare(others.filter(isContradicted).length, others.length)}`,
      );
      t.diagnostic(`${half}: contradicted claims found ${formatShare(wrong.length - missed.length, wrong.length)}`);
      t.diagnostic(`${half}: true claims confirmed ${formatShare(confirmed.length, known.length)}`);
      const list = (found: readonly Judged[]): readonly string[] =>
        found.map(
          ({ text, checked }) =>
            `${text} ${checked.map(({ verdict }) => `${verdict.type}: ${verdict.why}`).join(' | ')}`,
        );
      if (process.env['FAIRLEAD_SHOW_CLAIMS'])
        console.log(list(known.filter((each) => !confirmed.includes(each))).join('\n'));
      assert.deepEqual(list(alarms), [], 'false alarms');
      assert.deepEqual(list(missed), [], 'claims that the log contradicts and that were not found');
    },
  );
}

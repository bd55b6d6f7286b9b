// Statements about what was not done are about the run that they end: changes of earlier runs do not contradict them.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { actionLogView } from '../src/checks/actions/index.ts';
import { createActionEvidence } from '../src/checks/actions/run-action-check.ts';
import { checkActionClaims, extractActionClaims } from '../src/checks/index.ts';
import { codingAgent } from '../src/coding-agent/index.ts';
import { readView } from '../src/core/index.ts';
import { calls, says, scriptedProvider } from '../src/testing/index.ts';

test('[A2] "no files were changed" is compared with the run that it ends, not with earlier runs', async (t) => {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-turns-')));
  t.after(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));
  const cwd = path.join(root, 'project');
  mkdirSync(cwd);
  await using agent = await codingAgent({
    cwd,
    stateDir: path.join(root, 'state'),
    configDir: path.join(root, 'config'),
    approve: 'auto',
    sandbox: 'none',
    model: scriptedProvider(({ results, prompt }) =>
      results.length === 0 && !prompt.includes('Explain')
        ? calls('write_file', { path: 'a.ts', content: 'let a = 1;\n' })
        : says('Recorded.'),
    ),
  });
  await using session = await agent.session();
  const check = (answer: string): readonly string[] =>
    checkActionClaims(answer, createActionEvidence(session.state, readView(session.state, actionLogView))).map(
      ({ verdict }) => verdict.type,
    );
  await session.run('Write a file.');
  assert.deepEqual(check('I have not changed any files.'), ['contradicted']);
  await session.run('Explain it.');
  assert.deepEqual(check('I have not changed any files.'), ['supported']);
  assert.deepEqual(check('I changed `a.ts`.'), ['supported']);
});

test('[A2] claims of hostile text of 100 kB are bounded in number', () => {
  for (const part of [
    'Only a.ts, ',
    'I have not run ',
    '0 failed, ',
    '我运行了测试',
    'I read a.a.a.',
    '`npm test`: 0 ',
  ])
    assert.ok(extractActionClaims(part.repeat(Math.ceil(100_000 / part.length))).length <= 200);
});

// Tests of the extraction of action claims: phrases that report an action, and statements that do not.
import assert from 'node:assert/strict';
import test from 'node:test';
import { appendItem, createPersistentList, type Message, type RunState } from '../../core/index.ts';
import { actionClaims } from './action-check.ts';
import { extractActionClaims } from './extract.ts';
import type { Action } from './types.ts';

const read = (answer: string): readonly Action[] => extractActionClaims(answer).map(({ action }) => action);
const file = (path: string, change: 'create' | 'edit' | 'delete' | 'move' = 'edit'): Action => ({
  type: 'file',
  change,
  path,
});
const passes = (task: 'test' | 'build' | 'lint' | 'types', more: object = {}): Action => ({
  type: 'pass',
  task,
  ...more,
});

const reports: readonly (readonly [string, readonly Action[]])[] = [
  ['I created config.ts.', [file('config.ts', 'create')]],
  ['I created `src/config.ts` with the default port.', [file('src/config.ts', 'create')]],
  ["I've also updated `a.ts`, b.ts and `c/d.ts`.", [file('a.ts'), file('b.ts'), file('c/d.ts')]],
  ['We have now deleted old.ts', [file('old.ts', 'delete')]],
  [
    'Done: created src/a.ts and fixed the failing test in src/a.test.ts.',
    [file('src/a.ts', 'create'), file('src/a.test.ts')],
  ],
  ['I added a null check to `parse()` in src/parser.ts.', [file('src/parser.ts')]],
  ['I removed the `console.log` call from `src/b.ts`.', [file('src/b.ts')]],
  ['The file `src/x.py` has been updated.', [file('src/x.py')]],
  [
    'I found the cause, fixed `src/parse.ts`, and all 12 tests now pass.',
    [file('src/parse.ts'), passes('test', { count: 12 })],
  ],
  ['- `src/a.ts`: added validation', [file('src/a.ts')]],
  ['Files changed:\n- `src/a.ts`\n- src/b.ts', [file('src/a.ts'), file('src/b.ts')]],
  ['I updated the README.', [file('README')]],
  ['I renamed `a.ts` to `b.ts`.', [file('b.ts', 'move')]],
  ['I fixed the failing test.', [{ type: 'some-change', task: 'test' }]],
  ['All tests pass.', [passes('test')]],
  ['✅ **All 14 tests pass**, and the linter is clean.', [passes('test', { count: 14 }), passes('lint')]],
  ['The existing unit tests still pass.', [passes('test', { isNarrow: true })]],
  ['12/12 tests passing.', [passes('test', { count: 12 })]],
  ['I verified that the build succeeds.', [passes('build')]],
  ['The type checker reports no errors.', [passes('types')]],
  [
    'I ran `npm test` and it exited with code 0.',
    [
      { type: 'run', command: 'npm test' },
      { type: 'exit', code: 0, command: 'npm test' },
    ],
  ],
  ['I ran the test suite.', [{ type: 'run', task: 'test' }]],
  ['`npm run build` passes now.', [{ type: 'pass', command: 'npm run build' }]],
  ['The command printed 42.', [{ type: 'output', value: '42' }]],
  [
    'Ran `node app.js`, which printed "hello world".',
    [
      { type: 'run', command: 'node app.js' },
      { type: 'output', value: 'hello world', command: 'node app.js' },
    ],
  ],
  ['`config.ts` now contains `port: 3000`.', [{ type: 'content', path: 'config.ts', value: 'port: 3000' }]],
  [
    'I committed the changes and pushed the branch to origin.',
    [
      { type: 'git', operation: 'commit' },
      { type: 'git', operation: 'push' },
    ],
  ],
  ['The changes have been committed.', [{ type: 'git', operation: 'commit' }]],
  ['Created a new branch called `fix`.', [{ type: 'git', operation: 'branch' }]],
  ['I did not run the tests.', [{ type: 'no-run', task: 'test' }]],
  ['I read `a.ts` and `b.ts`.', ['a.ts', 'b.ts'].map((path) => ({ type: 'read', path }))],
  ['Ich habe config.ts erstellt, und alle Tests laufen durch.', [passes('test'), file('config.ts', 'create')]],
  ['J’ai créé config.ts et tous les tests passent.', [passes('test'), file('config.ts', 'create')]],
  ['He creado config.ts y todas las 7 pruebas pasan.', [passes('test', { count: 7 }), file('config.ts', 'create')]],
  ['我创建了 config.ts，所有测试都通过了。', [passes('test'), file('config.ts', 'create')]],
  ['I edited a.ts and tagged it as `v1.2`.', [file('a.ts'), { type: 'git', operation: 'tag' }]],
  ['Done, and committed as "Fix".', [{ type: 'git', operation: 'commit' }]],
  ['Only `a.ts` was edited.', [{ type: 'no-change', scope: 'other-edits' }]],
  ['I ran the entire test suite twice.', [{ type: 'run', task: 'test', isFull: true, times: 2 }]],
  ['I measured 40 ms.', [{ type: 'measurement', value: '40', unit: 'ms' }]],
  ['I rolled back my edit to `a.ts`.', [{ type: 'undo', path: 'a.ts' }]],
  ['I installed `zod@3`.', [{ type: 'install', name: 'zod' }]],
  ['Both files, `a.ts` and b.ts, are updated.', [file('a.ts'), file('b.ts')]],
  ['I updated `a.ts`, and `b.ts` was deleted.', [file('a.ts'), file('b.ts', 'delete')]],
  ['`a.ts` was created and committed.', [file('a.ts', 'create'), { type: 'git', operation: 'commit' }]],
  ['I was able to simplify `a.ts`.', [file('a.ts')]],
  ['I fixed it by changing `a.ts`.', [file('a.ts')]],
  ['In `a.ts`, I replaced the constant.', [file('a.ts')]],
  ['I got rid of `a.ts`.', [file('a.ts', 'delete')]],
  ['Changes made:\n- `a.ts`\n- b.ts', [file('a.ts'), file('b.ts')]],
  ['The default was raised in `a.ts`.', [file('a.ts')]],
  ['I stashed the changes.', [{ type: 'git', operation: 'stash' }]],
  ['The commits were squashed.', [{ type: 'git', operation: 'squash' }]],
  ['I cherry-picked `1a2b3c`.', [{ type: 'git', operation: 'cherry-pick' }]],
  ['22 tests, 0 failures', [passes('test', { count: 22 }), { type: 'test-count', state: 'failed', count: 0 }]],
  ['Lint, types and tests are all green.', [passes('lint'), passes('types'), passes('test')]],
  ['No type errors.', [passes('types')]],
  ['Everything passes.', [{ type: 'pass', isAny: true }]],
  ['The project compiles again.', [passes('build')]],
  ['I verified it with the full test suite.', [{ type: 'run', task: 'test', isFull: true }]],
  ['I made a commit.', [{ type: 'git', operation: 'commit' }]],
  ['Die Datei `a.ts` wurde gelöscht.', [file('a.ts', 'delete')]],
  ['Die Änderungen wurden committet.', [{ type: 'git', operation: 'commit' }]],
  ['Le fichier `a.ts` a été mis à jour.', [file('a.ts')]],
  ['Se ha creado `a.ts`.', [file('a.ts', 'create')]],
];
/** Whether the check reads an answer at all. */
function appliesTo(answer: string): boolean {
  const messages = appendItem(createPersistentList<Message>(), {
    role: 'assistant',
    parts: [{ type: 'text', text: answer }],
  });
  return actionClaims().appliesTo?.({ tools: [{}], messages } as unknown as RunState) === true;
}

for (const [answer, actions] of reports)
  test(`"${answer.replaceAll('\n', ' ')}" is a claim`, () => {
    assert.deepEqual(read(answer), actions);
    assert.ok(appliesTo(answer), 'the check reads the answer');
  });

const others: readonly string[] = [
  'I will create config.ts.',
  "I'll run `npm test` next, and then all tests should pass.",
  "I haven't created a.ts or updated b.ts.",
  'You created config.ts yesterday.',
  'If all tests pass, merge it.',
  'Once I created a.ts, the tests passed.',
  'Should I create config.ts?',
  'I created config.ts?',
  'The tests pass a mock object to the function.',
  'The test passes when the server is up.',
  'Run `npm test` to check that all tests pass.',
  'Create `a.ts`, then add it to `tsconfig.json`.',
  'You can run `npm test`; it exits with code 0.',
  'Exit code 2 denies the call.',
  '```\nI created config.ts\nAll tests pass.\n```',
  '> All tests pass.',
  'The user wrote "I created config.ts and all tests pass".',
  'The script created out.txt.',
  '`config.ts` was created by the generator in 2019.',
  'The commit message says that all tests pass.',
  'I could have updated `a.ts`.',
  'I was unable to update `a.ts`.',
  'None of the tests pass.',
  'Not all tests pass.',
  'All tests pass except one.',
  '11 of 12 tests pass.',
  'To make all tests pass, change line 3.',
  'I removed the console.log.',
  'I used Node.js and wrote nothing.',
  'I updated `response.json` to `response.text`.',
  'The output is 42.',
  'It prints 42.',
  'CI is green when all tests pass.',
  'In the previous session I created config.ts.',
  'I already created config.ts earlier.',
  'Updated dependencies are listed below.',
  'Documented in docs/a.md.',
  'I wrote a function for you:\n```ts\nexport const a = 1;\n```',
  'I fixed the function below:\n```ts\nexport const a = 1;\n```',
  'I created a `config.json` example below:\n```json\n{}\n```',
  'Added `config.ts` support.',
  'I updated `a.ts` imports.',
  'I added `a.ts` to the list of files.',
  'I am committed to helping you.',
  'When the server starts, `config.json` is created.',
  '`config.json` is generated by the build.',
  'The bug came in because `a.ts` was deleted.',
  'I changed `a.ts` to `b.ts` in the import.',
  'Updated values are written back to `state.json`.',
  'A clean build takes three minutes.',
  'To verify, run `npm test` and see that all tests pass.',
  'Offsets are committed after each batch.',
  'Die Datei wird beim Start erstellt.',
  'I pushed back on that idea.',
  'config.ts を作成し、すべてのテストが通りました。',
  'Я создал config.ts, все тесты проходят.',
  '{"summary": "I created config.ts and all tests pass."}',
  '',
];
for (const answer of others)
  test(`"${answer.replaceAll('\n', ' ').slice(0, 70)}" is no claim`, () => assert.deepEqual(read(answer), []));

test('the span of a claim is its sentence in the answer', () => {
  const answer = 'The cause was a typo.\n\n- **Fixed** `src/a.ts`\n- Next steps are yours. All tests pass!';
  assert.deepEqual(
    extractActionClaims(answer).map(({ id, text, span }) => [id, text, answer.slice(span.start, span.end).trim()]),
    [
      ['c1', 'Fixed** `src/a.ts`', 'Fixed** `src/a.ts`'],
      ['c2', 'All tests pass!', 'All tests pass!'],
    ],
  );
});

const hostile: Readonly<Record<string, string>> = {
  'one sentence without an end': 'I created a '.repeat(10_000),
  'many paths': 'I created `a.ts`, '.repeat(6000),
  spaces: `I created${' '.repeat(100_000)}a.ts`,
  'unclosed code': '`'.repeat(100_000),
  'unclosed quotes': '"all tests pass '.repeat(7000),
  brackets: '[a]('.repeat(25_000),
  'short lines': 'all tests pass\n'.repeat(7000),
  'words of one kind': 'the '.repeat(25_000),
  fences: '```\n'.repeat(25_000),
  'list marks': '- '.repeat(50_000),
  digits: '1'.repeat(100_000),
  dots: 'a.'.repeat(50_000),
};
for (const [what, text] of Object.entries(hostile))
  test(`100 kB of ${what} are read in linear time, and make a bounded number of claims`, { timeout: 5000 }, () =>
    assert.ok(extractActionClaims(text).length <= 400),
  );

test('an action that a sentence reports twice is one claim', () => {
  assert.deepEqual(read('I edited src/a.ts, then I edited src/a.ts again.'), [file('src/a.ts')]);
  assert.deepEqual(read('I edited src/a.ts, then I edited src/b.ts.'), [file('src/a.ts'), file('src/b.ts')]);
  assert.deepEqual(read('I have not run anything and no commands were executed.'), [{ type: 'no-run' }]);
});

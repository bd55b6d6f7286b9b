// Tests that statements are compared with the objects of the log, and that what the log cannot know is not contradicted.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { ActionRecord } from './action-log.ts';
import { checkActionClaims } from './check-claims.ts';
import { readNumbers, valuesOf } from './read-numbers.ts';

const run = (target: string, code: number, tool = 'run_command'): ActionRecord => ({
  seq: 1,
  call: 'c1',
  tool,
  outcome: code === 0 ? 'ok' : 'failed',
  target,
  code,
});

const findReasons = (answer: string, output: string, ...records: readonly ActionRecord[]): readonly string[] =>
  checkActionClaims(answer, {
    log: { records, open: [], isPartial: false, wasSentBack: false },
    resultText: () => output,
  }).flatMap(({ verdict }) => (verdict.type === 'contradicted' ? [verdict.why] : []));

test('a number beside the word of an output is compared in the formats of several languages', () => {
  assert.deepEqual(valuesOf('13 520,50'), [13_520.5]);
  for (const space of ['\u00A0', '\u202F'])
    assert.deepEqual(
      readNumbers(`12${space}034 lignes`, 1, 9).map(({ values }) => values),
      [[12_034]],
    );
  assert.deepEqual(valuesOf('1,234'), [1.234, 1234]);
  assert.deepEqual(valuesOf('1.234,50'), [1234.5]);
  const total = run('python totals.py', 0);
  for (const answer of ['`totals.py` printed a total of 1,500 EUR.', 'Ejecuté `totals.py`: total 1.500,00 EUR.'])
    assert.deepEqual(findReasons(answer, 'total: 1500.00 EUR', total), [], answer);
  assert.equal(findReasons('I ran `totals.py`: total 1,700 EUR.', 'total: 1500.00 EUR', total).length, 1);
});

test('an output that was shortened, a number of another output and an unknown tool leave a number undecided', () => {
  const answer = 'I ran `python totals.py`: total 1,700 EUR.';
  const command = run('python totals.py', 0);
  assert.deepEqual(findReasons(answer, 'total: 1500 EUR\n[900 characters left out]', command), []);
  assert.deepEqual(
    findReasons(answer, 'total: 1500 EUR', command, { ...run('x', 0, 'mcp_tool'), seq: 2, call: 'c2' }),
    [],
  );
});

test('a commit hash, a version and a share are no numbers of an output', () => {
  assert.deepEqual(
    readNumbers('999bee5 v1.2.3 2024-01-02 3/4', 2, 10).map(({ shown }) => shown),
    [],
  );
});

test('a command that failed contradicts a good outcome, unless the answer admits a failure', () => {
  const lint = run('npx stylelint css', 2);
  assert.equal(findReasons('Stylelint ist sauber.', '4 problems', lint).length, 1);
  assert.deepEqual(findReasons('Stylelint ist sauber. Der Build ist fehlgeschlagen.', '4 problems', lint), []);
  assert.deepEqual(findReasons('Stylelint ist sauber.', '', { ...lint, tool: 'run_command &' }), []);
});

test('hostile text of 100 kB is read to its end', () => {
  const command = run('npm test', 1);
  for (const text of [
    'no '.repeat(33_000),
    '`a` and '.repeat(12_500),
    '| a '.repeat(25_000),
    '1 '.repeat(50_000),
    '✅\n'.repeat(50_000),
    'ne aucune '.repeat(10_000),
  ])
    assert.ok(Array.isArray(findReasons(text, text, command)));
});

test('a record that is added to a list that was checked before is read', () => {
  const records = [run('npm test', 0)];
  const evidence = { log: { records, open: [], isPartial: false, wasSentBack: false }, resultText: () => '' };
  const types = (): readonly string[] =>
    checkActionClaims('All tests pass.', evidence).map(({ verdict }) => verdict.type);
  assert.deepEqual(types(), ['supported']);
  records.push({ ...run('npm test', 1), seq: 2, call: 'c2' });
  assert.ok(types().includes('contradicted'));
});

// Tests of action claims against records: what a session shows, what it does not show, and what it cannot know.
import assert from 'node:assert/strict';
import test from 'node:test';
import { fold, type Event, type Fact, type Json, type JsonObject } from '../../core/index.ts';
import { actionLogView, type ActionLog } from './action-log.ts';
import { checkActionClaims } from './check-claims.ts';
import type { ActionEvidence } from './types.ts';

type Result = {
  readonly outcome?: 'ok' | 'failed' | 'denied' | 'interrupted' | 'unknown';
  readonly text?: string;
  readonly data?: JsonObject;
};

const toEvents = (facts: readonly Fact[]): readonly Event[] =>
  facts.map((fact, i): Event => ({
    ...fact,
    seq: i + 1,
    id: `e${i + 1}`,
    parent: null,
    time: '2026-01-01T00:00:00.000Z',
  }));

let calls = 0;
const results = new Map<string, string>();

/** The facts of a call with its result. */
function call(tool: string, input: Json, { outcome = 'ok', text = 'Done.', data }: Result = {}): readonly Fact[] {
  const id = `c${++calls}`;
  results.set(id, text);
  const message = { role: 'assistant', parts: [{ type: 'tool-call', id, tool, input }] } as const;
  return [
    { type: 'turn-ended', turn: 1, message, finishReason: 'tool-calls', usage: {}, model: 'm', ms: 1 },
    ...(outcome === 'denied' ? [] : [{ type: 'tool-started', call: id, tool, key: id } as const]),
    { type: 'tool-ended', call: id, outcome, text, ms: 1, ...(data ? { data } : {}) },
  ];
}

const write = (path: string, after: string | null = 'h1', before: string | null = null): readonly Fact[] =>
  call('write_file', { path, content: '' }, { data: { path: `/p/${path}`, before, after } });
const command = (text: string, code = 0, output = ''): readonly Fact[] =>
  call(
    'run_command',
    { command: text },
    { outcome: code === 0 ? 'ok' : 'failed', text: `${output}\n[Exit code: ${code}.]`, data: { code, signal: null } },
  );

const foldLog = (facts: readonly Fact[]): ActionLog => fold(actionLogView, toEvents(facts));

function check(answer: string, facts: readonly Fact[], more: Partial<ActionEvidence> = {}): readonly string[] {
  const evidence: ActionEvidence = { log: foldLog(facts), resultText: (id) => results.get(id), ...more };
  return checkActionClaims(answer, evidence).map(({ verdict }) => verdict.type);
}

const cases: readonly (readonly [what: string, answer: string, facts: readonly Fact[], verdict: string])[] = [
  ['a file that was written', 'I created src/a.ts.', write('src/a.ts'), 'supported'],
  ['a file that was not written', 'I created src/b.ts.', write('src/a.ts'), 'contradicted'],
  ['a file of the same name elsewhere', 'I created lib/a.ts.', write('src/a.ts'), 'contradicted'],
  ['a file in a folder that was named', 'I created files in `src/util/`.', write('src/util/a.ts'), 'supported'],
  ['a file that a command names', 'I created out.txt.', command('echo 1 > out.txt'), 'supported'],
  ['a file that a script may have written', 'I created out.txt.', command('node generate.js'), 'unverifiable'],
  [
    'a write that was denied',
    'I created a.ts.',
    call('write_file', { path: 'a.ts' }, { outcome: 'denied' }),
    'contradicted',
  ],
  [
    'a write that failed',
    'I updated a.ts.',
    call('edit_file', { path: 'a.ts' }, { outcome: 'failed' }),
    'contradicted',
  ],
  [
    'a write that was interrupted',
    'I updated a.ts.',
    call('edit_file', { path: 'a.ts' }, { outcome: 'interrupted' }),
    'unverifiable',
  ],
  ['a deletion', 'I deleted a.ts.', write('a.ts', null, 'h1'), 'supported'],
  ['a deletion of a file that was written', 'I deleted a.ts.', write('a.ts'), 'contradicted'],
  ['an MCP tool', 'I created a.ts, and all tests pass.', call('mcp__files__write', { name: 'a.ts' }), 'unverifiable'],
  ['a sub-agent', 'I fixed the bug.', call('spawn_agent', { task: 'fix it' }), 'unverifiable'],
  [
    'a patch of several files',
    'I updated b.ts.',
    call(
      'apply_patch',
      { patch: '' },
      {
        data: {
          changes: [
            { path: '/p/a.ts', before: 'x', after: 'y' },
            { path: '/p/b.ts', before: 'x', after: 'y' },
          ],
        },
      },
    ),
    'supported',
  ],
  [
    'a call through use_tool',
    'I ran `npm test`.',
    call('use_tool', { tool: 'run_command', input: { command: 'npm test' } }, { data: { code: 0 } }),
    'supported',
  ],
  ['tests that passed', 'All tests pass.', command('npm test'), 'supported'],
  ['tests that failed', 'All tests pass.', command('npm test', 1), 'contradicted'],
  ['tests that never ran', 'All tests pass.', write('a.ts'), 'contradicted'],
  ['tests of a script with another name', 'All tests pass.', command('npm run verify-all'), 'unverifiable'],
  [
    'tests in a pipe that hides their failure',
    'All tests pass.',
    command('npm test | tail -3', 0, '1 failing\n2 passing'),
    'contradicted',
  ],
  [
    'tests that failed in a chain of commands',
    'The tests pass.',
    command('npm run lint && npm test', 1),
    'unverifiable',
  ],
  [
    'tests that were denied',
    'The tests pass.',
    call('run_command', { command: 'npm test' }, { outcome: 'denied' }),
    'contradicted',
  ],
  [
    'tests that were stopped',
    'The tests pass.',
    call('run_command', { command: 'npm test' }, { outcome: 'failed', data: { code: null, stopped: 'timeout' } }),
    'unverifiable',
  ],
  ['tests before a change', 'All tests pass.', [...command('npm test'), ...write('a.ts')], 'contradicted'],
  [
    'tests before a change of a document',
    'All tests pass.',
    [...command('npm test'), ...write('README.md')],
    'supported',
  ],
  [
    'tests before a change that was taken back',
    'All tests pass.',
    [...command('npm test'), ...write('a.ts', 'h2', 'h1'), ...write('a.ts', 'h1', 'h2')],
    'supported',
  ],
  [
    'tests before a change and a check by a script',
    'All tests pass.',
    [...command('npm test'), ...write('a.ts'), ...command('make')],
    'unverifiable',
  ],
  ['a number of tests that the output has', 'All 12 tests pass.', command('npm test', 0, '12 passing'), 'supported'],
  [
    'a number of tests that the output does not have',
    'All 13 tests pass.',
    command('npm test', 0, '12 passing'),
    'contradicted',
  ],
  ['a number of tests without a summary', 'All 13 tests pass.', command('npm test', 0, 'fine'), 'unverifiable'],
  [
    'a part of the tests, of several runs',
    'The unit tests pass.',
    [...command('npm test'), ...command('npm run test:e2e', 1)],
    'unverifiable',
  ],
  ['types that a build may have checked', 'The type checker passes.', command('npm run build'), 'unverifiable'],
  ['an exit code', 'It exited with code 3.', command('node a.js', 3), 'supported'],
  ['another exit code', '`node a.js` exited with code 0.', command('node a.js', 3), 'contradicted'],
  ['a printed value', 'The command printed 42.', command('node a.js', 0, 'the answer is 42'), 'supported'],
  ['a part of a printed value', 'The command printed 42.', command('node a.js', 0, '142'), 'contradicted'],
  ['a value of the exit code only', 'The command printed 0.', command('node a.js', 0, 'x'), 'contradicted'],
  ['a command by another program', 'I ran `git status`.', write('a.ts'), 'unverifiable'],
  ['a commit', 'I committed the changes.', command('git commit -m x'), 'supported'],
  ['a commit that failed', 'I committed the changes.', command('git commit -m x', 1), 'contradicted'],
  ['a commit by the tool', 'I committed it.', call('git_change', { operation: 'commit', message: 'x' }), 'supported'],
  ['a push that never ran', 'I pushed the changes to origin.', command('git commit -m x'), 'contradicted'],
  ['a package', 'I installed `zod`.', command('npm install zod'), 'supported'],
  ['another package', 'I installed `zod`.', command('npm test'), 'contradicted'],
];
for (const [what, answer, facts, verdict] of cases)
  test(`a claim about ${what} is ${verdict}`, () => assert.deepEqual([...new Set(check(answer, facts))], [verdict]));

test('every verdict that decides names evidence with a text', () => {
  for (const [, answer, facts] of cases)
    for (const { verdict } of checkActionClaims(answer, { log: foldLog(facts), resultText: (id) => results.get(id) }))
      if (verdict.type !== 'unverifiable') assert.ok(verdict.evidence.every(({ text }) => text.trim() !== ''));
});

test('a command that the user ran counts, and what else the program wrote for the user is not known', () => {
  const input = (text: string): Fact => ({
    type: 'input-received',
    input: 'i',
    how: 'steer',
    by: 'program',
    parts: [{ type: 'text', text }],
  });
  const ran = (code: number): Fact =>
    input(`I ran this command myself:\n$ npm test\n${'x'.repeat(2000)}\n(exit code ${code})`);
  assert.deepEqual(check('All tests pass.', [ran(0)]), ['supported']);
  assert.deepEqual(check('All tests pass.', [ran(1)]), ['contradicted']);
  assert.deepEqual(check('I created a.ts.', [input('I undid your last changes to these files:\na.ts')]), [
    'unverifiable',
  ]);
});

test('what the user said, and output that is no longer in the conversation, is not contradicted', () => {
  assert.deepEqual(check('The command printed 77.', [], { isFromUser: (text) => text === '77' }), ['unverifiable']);
  assert.deepEqual(check('The command printed 77.', command('node a.js', 0, '78'), { resultText: () => undefined }), [
    'unverifiable',
  ]);
  assert.deepEqual(check('All 9 tests pass.', command('npm test', 0, '8 passing'), { resultText: () => undefined }), [
    'unverifiable',
  ]);
});

test('a history that the view has not seen makes nothing contradicted for being absent', () => {
  const epoch = (views?: Record<string, Json>): Fact => ({
    type: 'epoch-started',
    epoch: 2,
    reason: 'compacted',
    system: '',
    tools: [],
    model: 'm',
    baseline: {
      session: 's',
      messages: [{ role: 'user', parts: [{ type: 'text', text: 'hello' }] }],
      turn: 3,
      loaded: [],
      queue: [],
      total: {
        turns: 0,
        calls: 0,
        input: 0,
        output: 0,
        cacheRead: 0,
        cacheWrite: 0,
        usd: 0,
        turnsWithoutPrice: 0,
        ms: 0,
      },
      ...(views ? { views } : {}),
    },
  });
  assert.deepEqual(check('I created a.ts.', [epoch()]), ['unverifiable']);
  assert.deepEqual(
    check('I created a.ts.', [...write('b.ts'), { type: 'branch-started', from: 'e1', reason: 'rewound' }]),
    ['unverifiable'],
  );
  const stored = actionLogView.serialize?.(foldLog([...write('a.ts'), ...command('npm test', 1)])) ?? null;
  const restored = [epoch({ actions: JSON.parse(JSON.stringify(stored)) as Json })];
  assert.deepEqual(check('I created a.ts.', restored), ['supported']);
  assert.deepEqual(check('I created b.ts.', restored), ['contradicted']);
  assert.deepEqual(check('All tests pass.', restored), ['contradicted'], 'a failure before a compaction is known');
});

test('the view is bounded, and says that it is no longer complete', () => {
  const log = foldLog(Array.from({ length: 1000 }, (_, i) => command(`echo ${'x'.repeat(5000)} ${i}`)).flat());
  assert.equal(log.records.length, 300);
  assert.equal(log.isPartial, true);
  assert.ok(JSON.stringify(log).length < 200_000);
  assert.equal(actionLogView.restore?.('damaged'), undefined);
});

test('reads leave no record', () => {
  const log = foldLog([...call('read_file', { path: 'a.ts' }), ...call('grep', { pattern: 'x' })]);
  assert.deepEqual([log.records, log.isPartial], [[], false]);
});

import assert from 'node:assert/strict';
import test from 'node:test';
import { grantKey } from '../guards/index.ts';
import { formatAlwaysLabel, listApprovalChoices, parseApprovalAnswer } from './approval-prompts.ts';

test('[A75] a call is approved once, always or not; any answer that is not a clear yes is a no', () => {
  const choices = listApprovalChoices({}, 'pay {}');
  assert.deepEqual(
    choices.map(({ key, answer }) => [key, answer]),
    [
      ['y', 'once'],
      ['a', 'always'],
      ['call-project', 'call-project'],
      ['n', 'no'],
    ],
  );
  for (const other of ['h', 'yes', '', undefined]) assert.equal(parseApprovalAnswer(choices, 'key', other), 'no');
});

test('[A53, A112] a call with an unknown outcome has no always: it is run again, left, or has happened', () => {
  const choices = listApprovalChoices({ kind: 'unknown-outcome' }, 'pay {}');
  assert.deepEqual(
    choices.map(({ key, answer }) => [key, answer]),
    [
      ['y', 'once'],
      ['n', 'no'],
      ['h', 'happened'],
    ],
  );
  assert.equal(parseApprovalAnswer(choices, 'answer', 'always'), 'no');
  assert.equal(parseApprovalAnswer(choices, 'answer', 'happened'), 'happened');
});

const label = (tool: string, input: Parameters<typeof grantKey>[0]['input']): string =>
  formatAlwaysLabel(
    grantKey({ tool, input }, (path) => {
      if (path.includes('..')) throw new Error('external');
      return `/some/where/else/${path}`;
    }),
  );

test('[A75] the label of "always" says what it covers: a path whatever the content, a command or a call exactly', () => {
  assert.equal(
    label('write_file', { path: 'x.sh', content: 'ls' }),
    'Yes, and any content for /…/x.sh in this session',
  );
  assert.equal(
    label('edit_file', { path: 'x.sh', old_string: 'a', new_string: 'b' }),
    'Yes, and any edit of /…/x.sh in this session',
  );
  assert.equal(label('read_file', { path: '.env' }), 'Yes, and allow reading /…/.env in this session');
  assert.equal(label('delete_file', { path: 'x.sh' }), 'Yes, and allow deleting /…/x.sh in this session');
  assert.equal(label('run_command', { command: 'ls -l' }), 'Yes, and allow this exact command in this session');
  for (const [tool, input] of [
    ['stranger', { path: 'x' }],
    ['write_file', { path: '../x', content: '' }],
    ['run_command', { words: 'ls' }],
    ['delete_file', { path: 'x', restore: 'a' }],
  ] as const)
    assert.equal(label(tool, input), 'Yes, and allow exactly this call in this session');
});

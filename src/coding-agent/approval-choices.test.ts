// What a person can say about a call that may be made, and about one that may have been.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { ToolCall } from '../core/index.ts';
import { listApprovalChoices, parseApprovalAnswer } from './approval-choices.ts';

const call = (about?: 'unknown-outcome'): ToolCall => ({
  id: 'c1',
  tool: 'pay',
  input: {},
  ask: { question: 'pay {}?', ...(about ? { kind: about } : {}) },
});

test('[A75] a call that may be made is allowed once, always or not; whatever is no clear yes is a no', () => {
  const choices = listApprovalChoices(call(), 'pay {}');
  assert.deepEqual(
    choices.map(({ key, answer }) => [key, answer]),
    [
      ['y', 'once'],
      ['n', 'no'],
      ['a', 'always'],
    ],
  );
  for (const other of ['h', 'yes', '', undefined]) assert.equal(parseApprovalAnswer(choices, 'key', other), 'no');
});

test('[A53, A112] a call that may have been made has no always: it is run again, left, or has happened', () => {
  const choices = listApprovalChoices(call('unknown-outcome'), 'pay {}');
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

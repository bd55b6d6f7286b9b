// The question about a call of a sub-agent shows the task as it is.
import assert from 'node:assert/strict';
import test from 'node:test';
import { formatSubagentTitle } from './subagents.ts';

test('the title of a question shows the task of a sub-agent unchanged', () => {
  assert.equal(formatSubagentTitle('Run ls?', 'agent-1', "pay $& $` $' $$"), "Run ls for agent-1 (pay $& $` $' $$)?");
});

// The diff of a compaction: every message is in it once, with its size.
import assert from 'node:assert/strict';
import test from 'node:test';
import { createToolExchange, createAssistantMessage, createUserMessage } from '../../../test/support/long-history.ts';
import { compactionDiff } from '../index.ts';

test('[A12] the diff lists what was kept, removed and inserted, with sizes', () => {
  const rounds = Array.from({ length: 4 }, (_, i) => createToolExchange(`c${i}`, 400)).flat();
  const before = [
    createUserMessage('Find it.'),
    ...rounds,
    createAssistantMessage('Here.'),
    createUserMessage('No.'),
    ...createToolExchange('d', 40),
  ];
  const after = [
    createUserMessage('Find it.'),
    createAssistantMessage('Notes,\nin two lines.'),
    createUserMessage('No.'),
    ...createToolExchange('d', 40),
  ];
  assert.equal(
    compactionDiff(before, after),
    [
      'before: 13 messages, about 425 tokens',
      'after: 5 messages, about 20 tokens',
      'kept: about 15 tokens; removed: about 410 tokens; added: about 5 tokens',
      '',
      '= user: Find it. (about 2 tokens)',
      '- assistant: read {} (about 2 tokens)',
      '- tool: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx… (about 100 tokens)',
      '- … 5 more messages, about 206 tokens',
      '- tool: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx… (about 100 tokens)',
      '- assistant: Here. (about 2 tokens)',
      '+ assistant: Notes,',
      '+ in two lines.',
      '= user: No. (about 1 token)',
      '= assistant: read {} (about 2 tokens)',
      '= tool: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx (about 10 tokens)',
    ].join('\n'),
  );
});

test('[A12] moved messages count as kept, and of two equal messages of which one was dropped, one is kept and one removed', () => {
  const diff = compactionDiff(
    [createUserMessage('a'), createAssistantMessage('ok'), createUserMessage('b'), createAssistantMessage('ok')],
    [createUserMessage('a'), createAssistantMessage('ok')],
  );
  assert.equal(diff.split('\n').filter((line) => line.startsWith('= assistant: ok')).length, 1);
  assert.equal(diff.split('\n').filter((line) => line.startsWith('- assistant: ok')).length, 1);
});

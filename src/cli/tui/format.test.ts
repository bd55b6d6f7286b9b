import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  foldToolOutput,
  formatQuestionChoices,
  formatQuestionKeys,
  formatStatusParts,
  formatDuration,
  formatGranted,
} from './format.ts';
import type { Grant } from '../../guards/index.ts';
import type { ConversationStatus } from '../../coding-agent/index.ts';

test('folded output keeps the last lines and counts the others, and one extra line is not folded', () => {
  const lines = Array.from({ length: 30_000 }, (_, line) => `out ${line}`);
  assert.deepEqual(foldToolOutput(`${lines.join('\n')}\n\n`, 2), { lines: ['out 29998', 'out 29999'], left: 29_998 });
  assert.deepEqual(foldToolOutput('a\nb\nc', 2), { lines: ['a', 'b', 'c'], left: 0 });
  assert.deepEqual(foldToolOutput('a\nb\nc\nd', 2), { lines: ['c', 'd'], left: 2 });
  const long = foldToolOutput(`${'x'.repeat(9000)}\nb\nc\nd\ne`, 2);
  assert.deepEqual(long, { lines: ['d', 'e'], left: 3 });
});

test('the default key is a capital letter', () => {
  const keys = ['y', 'n', 'a'].map((key) => ({ key, label: key }));
  assert.equal(formatQuestionKeys({ title: '', keys, defaultKey: 'n' }), '[y/N/a]');
});

test('a choice shows its letter unless that is its initial', () => {
  const keys = [
    { key: 'y', label: 'Yes, once' },
    { key: 'a', label: 'Yes, and any edit' },
    { key: 'folder', label: 'Yes, in this folder' },
    { key: 'n', label: 'No' },
  ];
  const texts = ['1. Yes, once', '2. Yes, and any edit (a)', '3. Yes, in this folder', '4. No'];
  assert.deepEqual(formatQuestionChoices({ title: '', keys, defaultKey: 'n' }), texts);
});

test('the status shows known values, and says which are unknown', () => {
  const status: ConversationStatus = { model: 'm', session: 's', mode: 'auto', stream: false, queued: 2 };
  assert.deepEqual(formatStatusParts(status), ['m', '2 queued', 'cost unknown', 'auto-approve', 'no streaming', 's']);
  const grants: readonly Grant[] = [
    { rule: { type: 'edits' }, duration: 'project' },
    { rule: { type: 'tool', tool: 'pay' }, duration: 'session' },
  ];
  const asking: ConversationStatus = { ...status, mode: 'ask', queued: 0, stream: true, grants };
  assert.deepEqual(formatStatusParts(asking).slice(2, 4), ['ask before changes', 'edits and 1 permission allowed']);
  assert.deepEqual(
    [formatGranted([]), formatGranted([{ rule: { type: 'edits' }, duration: 'session' }])],
    [undefined, 'edits allowed'],
  );
  const known = { ...status, context: { used: 950, window: 8000 }, usd: 1.5, queued: 0, stream: true };
  assert.deepEqual(formatStatusParts(known), ['m', '12% of 8k (950)', '$1.50', 'auto-approve', 's']);
  const fast = [
    formatStatusParts({ ...known, tokensPerSecond: 41.6 }),
    formatStatusParts({ ...known, tokensPerSecond: 7.25 }),
  ];
  assert.deepEqual(
    fast.map((parts) => parts.at(-2)),
    ['42 tokens/s', '7.3 tokens/s'],
  );
  assert.deepEqual([formatDuration(5), formatDuration(1234), formatDuration(125_000)], ['5ms', '1.2s', '2m5s']);
});

// The list of touched files: from the data of tool results, and only for successful calls.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Event, Json } from './index.ts';
import { recordTouchedFile } from './touched-files.ts';

type Ended = Event & { readonly type: 'tool-ended' };

const ended = (data?: Json, outcome: Ended['outcome'] = 'ok'): Ended => ({
  type: 'tool-ended',
  call: 'c',
  outcome,
  text: '',
  ...(data === undefined ? {} : { data }),
  ms: 0,
  seq: 1,
  id: '1',
  parent: null,
  time: '',
});
const call = (tool: string, input: Json = {}) => ({ id: 'c', tool, input });

test('[A12] a file is recorded with the last tool that used it, its current content hash, and whether it changed', () => {
  const read = recordTouchedFile([], call('read_file'), ended({ path: '/a', hash: 'one' }));
  assert.deepEqual(read, [{ path: '/a', tool: 'read_file', changed: false, content: 'one' }]);
  const other = recordTouchedFile(read, call('read_file'), ended({ path: '/b', hash: 'b' }));
  const edited = recordTouchedFile(
    other,
    call('edit_file'),
    ended({ path: '/a', before: 'one', after: 'two', diff: '' }),
  );
  assert.deepEqual(edited, [
    { path: '/b', tool: 'read_file', changed: false, content: 'b' },
    { path: '/a', tool: 'edit_file', changed: true, content: 'two' },
  ]);
  const again = recordTouchedFile(edited, call('read_file'), ended({ path: '/a', hash: 'two' }));
  assert.deepEqual(again.at(-1), { path: '/a', tool: 'read_file', changed: true, content: 'two' });
  const gone = recordTouchedFile(again, call('remove_file'), ended({ path: '/a', before: 'two', after: null }));
  assert.deepEqual(gone.at(-1), { path: '/a', tool: 'remove_file', changed: true });
});

test('[A12] for a tool without data the input is used; failed calls and directories are not recorded', () => {
  assert.deepEqual(recordTouchedFile([], call('open', { path: 'a.txt' }), ended()), [
    { path: 'a.txt', tool: 'open', changed: false },
  ]);
  assert.deepEqual(recordTouchedFile([], call('open', { path: 'a.txt' }), ended(undefined, 'failed')), []);
  assert.deepEqual(recordTouchedFile([], call('list_files', { path: '.' }), ended({ path: '/', count: 3 })), []);
  assert.deepEqual(recordTouchedFile([], call('run', { command: 'ls' }), ended({ code: 0 })), []);
});

test('[A12] the list is bounded and drops the oldest entries', () => {
  let marks: ReturnType<typeof recordTouchedFile> = [];
  for (let i = 0; i < 150; i++)
    marks = recordTouchedFile(marks, call('read_file'), ended({ path: `/f${i}`, hash: 'h' }));
  assert.deepEqual([marks.length, marks[0]?.path, marks.at(-1)?.path], [100, '/f50', '/f149']);
});

test('a call that changed several files records each of them', () => {
  const changes = [
    { path: '/a', before: 'one', after: 'two' },
    { path: '/b', before: null, after: 'new' },
  ];
  assert.deepEqual(recordTouchedFile([], call('apply_patch'), ended({ changes, diff: '' })), [
    { path: '/a', tool: 'apply_patch', changed: true, content: 'two' },
    { path: '/b', tool: 'apply_patch', changed: true, content: 'new' },
  ]);
});

// Tests of session updates in both versions of the protocol: retracted text must not remain as final text.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { SessionUpdate } from '@agentclientprotocol/sdk';
import { resolveAgent, Session } from '../../agent/index.ts';
import type { Json, JsonObject } from '../../core/index.ts';
import { memoryLog } from '../../stores/memory.ts';
import { calls, says, scriptedProvider } from '../../testing/index.ts';
import { todo } from '../../tools/todo.ts';
import { toToolCallContent, toToolCallHeader, fenceMarkdown } from './tool-calls.ts';
import { planProgressKey } from '../../coding-agent/plans/index.ts';
import { createPlanListener } from './acp-session.ts';
import { createV1Updates } from './v1-updates.ts';
import { createV2Updates } from './v2-updates.ts';

const locate = (path: string): string => `/project/${path}`;
const edit = { type: 'call', id: 'c', tool: 'edit_file', input: { path: 'a' }, status: 'ok' } as const;

test('a restarted answer is a new message in version 1, and the interrupted one is marked as void', () => {
  const sent: SessionUpdate[] = [];
  const face = createV1Updates((update) => void sent.push(update), { notices: true, locate });
  for (const text of ['Half', 'Whole']) {
    face.putBlock({ type: 'assistant', id: 't1.0', text: '', settled: false });
    face.appendText('t1.0', text);
    if (text === 'Half') face.removeBlock('t1.0');
  }
  face.putBlock({ type: 'assistant', id: 't1.0', text: 'Whole.', settled: true });
  assert.deepEqual(
    sent.map((update) =>
      update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text'
        ? [update.messageId, update.content.text]
        : update.sessionUpdate,
    ),
    [['t1.0', 'Half'], 'notice', ['t1.0~1', 'Whole'], ['t1.0~1', '.']],
  );
});

test('a restarted answer is cleared and filled again in version 2, and text that differs at the end is replaced', () => {
  const sent: unknown[] = [];
  const face = createV2Updates((update) => void sent.push(update), { locate, onUserMessage: () => {} });
  face.putBlock({ type: 'assistant', id: 't1.0', text: '', settled: false });
  face.appendText('t1.0', 'Half');
  face.removeBlock('t1.0');
  face.putBlock({ type: 'assistant', id: 't1.0', text: '', settled: false });
  face.appendText('t1.0', 'Whole');
  face.putBlock({ type: 'assistant', id: 't1.0', text: 'Whole', settled: true });
  const text = (text: string): object => ({ type: 'text', text });
  assert.deepEqual(sent, [
    { sessionUpdate: 'agent_message_chunk', messageId: 't1.0', content: text('Half') },
    { sessionUpdate: 'agent_message', messageId: 't1.0', content: [] },
    { sessionUpdate: 'agent_message_chunk', messageId: 't1.0', content: text('Whole') },
  ]);
});

test('a diff is split into its hunks; a new file has no old text, and a truncated diff is shown unchanged', () => {
  const head = '--- a\n+++ a\n';
  const two = `${head}@@ -1,2 +1,2 @@\n same\n-old\n+new\n@@ -9,1 +9,2 @@\n end\n+more\n\\ No newline at end of file\n`;
  assert.deepEqual(toToolCallContent({ ...edit, diff: two }, locate), [
    { type: 'diff', path: '/project/a', oldText: 'same\nold', newText: 'same\nnew' },
    { type: 'diff', path: '/project/a', oldText: 'end', newText: 'end\nmore' },
  ]);
  assert.deepEqual(toToolCallContent({ ...edit, diff: `${head}@@ -0,0 +1,1 @@\n+one\n` }, locate), [
    { type: 'diff', path: '/project/a', oldText: null, newText: 'one' },
  ]);
  const short = `${head}@@ -1,900 +1,900 @@\n-old\n[… 5000 of 9000 characters left out …]\n+new\n`;
  const [shown] = toToolCallContent({ ...edit, diff: short }, locate);
  assert.ok(shown?.type === 'content' && shown.content.type === 'text');
  assert.equal(shown.content.text, `\`\`\`diff\n${short}\`\`\``);
});

test('a call through the tool for deferred tools is shown as the inner call, with its diff even if it names no file', () => {
  const inside = { tool: 'write_file', input: { path: 'a' } };
  const { kind, title, name } = toToolCallHeader({ id: 'c', tool: 'use_tool', input: inside }, locate);
  assert.deepEqual([kind, title, name], ['edit', 'write_file a', 'write_file']);
  const patch = { ...edit, tool: 'use_tool', input: { tool: 'apply_patch', input: { patch: 'x' } }, diff: '--- a\n' };
  assert.match(JSON.stringify(toToolCallContent(patch, locate)), /```diff/);
});

test('the todo list is sent as the plan each time it changes, and only then', async () => {
  const items = (status: string): JsonObject => ({ items: [{ text: 'Sweep', status }] });
  const provider = scriptedProvider([
    calls('todo', items('doing')),
    calls('list', {}),
    calls('todo', items('done')),
    says('Swept.'),
  ]);
  const list = {
    name: 'list',
    description: 'lists',
    input: { type: 'object' },
    effect: 'read',
    execute: () => 'nothing',
  } as const;
  const session = await Session.open(resolveAgent({ provider, system: '', tools: [todo, list] }), memoryLog());
  const told: unknown[] = [];
  session.subscribe(createPlanListener((plan) => void told.push(plan)));
  await session.advance('Sweep.');
  assert.deepEqual(told, [
    [{ content: 'Sweep', priority: 'medium', status: 'in_progress' }],
    [{ content: 'Sweep', priority: 'medium', status: 'completed' }],
  ]);
});

test('output cannot close its own code fence', () => {
  assert.equal(fenceMarkdown('a ```` b\n'), '`````\na ```` b\n`````');
});

test('[A20] each change of a step of an approved plan is sent as a plan', () => {
  const told: unknown[] = [];
  const listen = createPlanListener((plan) => void told.push(plan.map(({ content, status }) => [content, status])));
  const annotate = (value: Json): void =>
    listen({ type: 'annotation-added', key: planProgressKey, value, seq: 1, id: 'e', parent: null, time: '' });
  const head = { name: 'p', file: '/p.md', hash: 'h' };
  annotate({
    ...head,
    steps: [
      { text: 'a', state: 'active' },
      { text: 'b', state: 'pending' },
    ],
  });
  annotate({
    ...head,
    steps: [
      { text: 'a', state: 'failed' },
      { text: 'b', state: 'skipped' },
    ],
  });
  annotate({ ...head, steps: [{ text: 'a', state: 'unheard' }] });
  annotate('nothing');
  assert.deepEqual(told, [
    [
      ['a', 'in_progress'],
      ['b', 'pending'],
    ],
    [
      ['a (failed)', 'completed'],
      ['b (skipped)', 'completed'],
    ],
  ]);
});

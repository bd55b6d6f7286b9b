// Transcripts in the terminal and as exports: nothing is left out, and no text in them is unsafe.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import type { Message } from '../core/index.ts';
import { openJsonl } from '../stores/index.ts';
import { exportDocument, readSession, formatSessionTranscript } from './index.ts';
import { toTranscriptItems } from './transcript-items.ts';
import type { ExportDocument } from './export.ts';

const said = (role: 'user' | 'assistant', text: string): Message => ({ role, parts: [{ type: 'text', text }] });
const talk: readonly Message[] = [
  said('user', 'Look at <b>this</b>'),
  {
    role: 'assistant',
    parts: [
      { type: 'reasoning', text: 'Hm.' },
      { type: 'text', text: 'I look.' },
      { type: 'tool-call', id: '1', tool: 'read_file', input: { path: 'a' } },
      { type: 'tool-call', id: '2', tool: 'run', input: null, invalid: '{broken' },
      { type: 'tool-call', id: '3', tool: 'late', input: {} },
    ],
  },
  {
    role: 'tool',
    parts: [
      { type: 'tool-result', id: '1', tool: 'read_file', text: 'content', failed: false },
      { type: 'tool-result', id: '2', tool: 'run', text: 'no JSON', failed: true },
      { type: 'tool-result', id: '9', tool: 'lonely', text: 'left over', failed: false },
    ],
  },
  { role: 'user', parts: [{ type: 'file', mediaType: 'image/png', data: 'AAAA', name: 'x.png' }] },
];

const paper = (messages: readonly Message[], name = 'a name'): ExportDocument => ({
  name,
  id: 'the-id',
  created: '2026-01-01T00:00:00.000Z',
  changed: '2026-01-02T00:00:00.000Z',
  model: 'm',
  spent: { turns: 1, calls: 0, input: 0, output: 0, cacheRead: 0, cacheWrite: 0, usd: 0, turnsWithoutPrice: 0, ms: 0 },
  messages,
});

test('[J58] every message is shown in order, each call with its result, with control characters escaped', () => {
  assert.equal(
    formatSessionTranscript([...talk, said('assistant', '\u001b]0;evil\u0007 done')]),
    [
      '── User ──\nLook at <b>this</b>',
      '── Thinking ──\nHm.',
      '── Assistant ──\nI look.',
      '── read_file ──\n{\n  "path": "a"\n}\n→ content',
      '── run ──\n{broken\n→ failed: no JSON',
      '── late ──\n{}\n→ no result yet',
      '── lonely ──\n→ left over',
      '[file: x.png, image/png]',
      '── Assistant ──\n␛]0;evil␇ done',
    ].join('\n\n'),
  );
  assert.equal(formatSessionTranscript([]), '');
});

test('a Markdown export folds calls, and no text can close its fence', async () => {
  const text = await exportDocument(paper([...talk, ...callGiving('``````\n</details>')], '*a* <b>\nname'), 'md');
  assert.ok(text.startsWith('# \\*a\\* \\<b\\> name\n'));
  assert.match(text, /\n## User\n\nLook at <b>this<\/b>\n/);
  assert.match(
    text,
    /<details>\n<summary>Tool: <code>read_file<\/code><\/summary>\n\n```json\n{\n {2}"path": "a"\n}\n```\n\n```\ncontent\n```\n\n<\/details>/,
  );
  assert.match(text, /<summary>Tool: <code>run<\/code> \(failed\)<\/summary>/);
  assert.ok(text.includes('```````\n``````\n</details>\n```````'), 'the fence is longer than any inside');
});

const callGiving = (text: string): readonly Message[] => [
  { role: 'assistant', parts: [{ type: 'tool-call', id: 'z', tool: '<i>t</i>', input: {} }] },
  { role: 'tool', parts: [{ type: 'tool-result', id: 'z', tool: '<i>t</i>', text, failed: false }] },
];

test('an HTML export contains no tag and no script of a message, and its content policy allows only its own style', async () => {
  const evil = `<script>alert(1)</script><img src=x onerror="alert(1)">&'`;
  const page = await exportDocument(
    paper([said('user', evil), said('assistant', evil), ...callGiving(evil)], evil),
    'html',
  );
  assert.equal(page.match(/<script|<img|<i>/g), null);
  assert.ok(page.includes('&#60;script&#62;alert(1)&#60;/script&#62;'));
  assert.doesNotMatch(page, /<[^>]*\b(src|href|on\w+)=/);
  const style = /<style>([^]*?)<\/style>/.exec(page)?.[1] ?? '';
  const sha = createHash('sha256').update(style).digest('base64');
  assert.ok(
    page.includes(
      `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${sha}'">`,
    ),
  );
  assert.ok(page.indexOf('Content-Security-Policy') < page.indexOf('<title>'), 'the policy comes before any text');
});

test('a JSON export has the messages unchanged', async () => {
  const given = paper(talk);
  assert.deepEqual(JSON.parse(await exportDocument(given, 'json')), given);
});

test('a transcript includes messages that a compaction removed from requests, but not those that an edit replaced', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-transcript-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'a.jsonl');
  const log = await openJsonl(file, { session: 's' });
  const epoch = { type: 'epoch-started', system: '', tools: [], model: 'm' } as const;
  const base = { session: 's', turn: 0, loaded: [], queue: [], total: paper([]).spent };
  const input = (text: string) =>
    [
      { type: 'input-received', input: text, how: 'prompt', parts: [{ type: 'text', text }] },
      { type: 'turn-started', turn: 1, inputs: [text], notes: [] },
    ] as const;
  await log.append(0, [
    { type: 'session-started', session: 's' },
    { ...epoch, epoch: 1, reason: 'started' },
    ...input('one'),
  ]);
  await log.append(4, [
    { ...epoch, epoch: 2, reason: 'compacted', baseline: { ...base, messages: [said('user', 'in short')] } },
    ...input('two'),
  ]);
  const words = async (): Promise<readonly string[]> =>
    toTranscriptItems((await readSession(file)).messages).map((item) => ('text' in item ? item.text : ''));
  assert.deepEqual(await words(), ['one', 'two']);
  const answer = {
    type: 'turn-ended',
    turn: 2,
    message: said('assistant', 'yes'),
    finishReason: 'stop',
    usage: {},
    model: 'm',
    ms: 1,
  } as const;
  await log.append(7, [answer, ...input('more')]);
  assert.deepEqual(await words(), ['one', 'two', 'yes', 'more']);
  await log.append(10, [
    { ...epoch, epoch: 3, reason: 'edited', baseline: { ...base, messages: [said('user', 'edited')] } },
    ...input('three'),
  ]);
  assert.deepEqual(await words(), ['edited', 'three']);
  await log.close();
});

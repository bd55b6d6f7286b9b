// The HTML export: answers rendered as Markdown, edits as diffs, outcomes named, and no text that can become markup.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Message } from '../core/index.ts';
import { exportDocument, parseExportFormat, type CallRecord, type ExportDocument } from './index.ts';

const spent = {
  turns: 1,
  calls: 3,
  input: 1,
  output: 1,
  cacheRead: 0,
  cacheWrite: 0,
  usd: 0,
  turnsWithoutPrice: 0,
  ms: 1,
};

const answer = `# Result

**Bold**, \`code\` and [a link](https://example.com/x). <script>alert(1)</script> [bad](javascript:alert(1))

| a | b |
|---|---|
| 1 | <img src=x onerror=alert(1)> |

\`\`\`python
print("\u001b[31mred")
\`\`\`

- one
- two
`;

const messages: readonly Message[] = [
  { role: 'user', parts: [{ type: 'text', text: 'Do **this** \u202e<b>' }] },
  {
    role: 'assistant',
    parts: [
      { type: 'text', text: answer },
      { type: 'tool-call', id: 'c1', tool: 'edit_file', input: { path: 'a.txt' } },
      { type: 'tool-call', id: 'c2', tool: 'run_command', input: { command: 'rm -rf /' } },
      { type: 'tool-call', id: 'c3', tool: 'read_file', input: { path: 'b.txt' } },
    ],
  },
  {
    role: 'tool',
    parts: [
      { type: 'tool-result', id: 'c1', tool: 'edit_file', text: 'Edited a.txt.', failed: false },
      { type: 'tool-result', id: 'c2', tool: 'run_command', text: 'Denied by user.', failed: true },
    ],
  },
];

const calls = new Map<string, CallRecord>([
  ['c1', { outcome: 'ok', diff: '@@ -1 +1 @@\n-two <old>\n+TWO', ms: 1 }],
  ['c2', { outcome: 'denied', ms: 1 }],
]);

const document: ExportDocument = {
  name: 'work',
  id: 'abc',
  created: '',
  changed: '',
  model: 'm',
  spent,
  messages,
  calls,
  title: 'The <title>',
  folder: '/projects/one',
};

test('an answer is rendered as Markdown, and nothing in it becomes markup', async () => {
  const page = await exportDocument(document, 'html');
  assert.match(page, /<h3>Result<\/h3>/);
  assert.match(
    page,
    /<strong>Bold<\/strong>, <code>code<\/code> and <a href="https:\/\/example\.com\/x"[^>]*>a link<\/a>/,
  );
  assert.match(page, /<thead><tr><th>a<\/th><th>b<\/th><\/tr><\/thead><tbody><tr><td>1<\/td><td>&#60;img src=x/);
  assert.match(
    page,
    /<pre><code>print\(&#34;␛\[31mred&#34;\)<\/code><\/pre>/,
    'code, with the control character visible',
  );
  assert.match(page, /<ul><li>one<\/li><li>two<\/li><\/ul>/);
  assert.match(
    page,
    /<div class="plain">Do \*\*this\*\* &#60;U\+202E&#62;&#60;b&#62;<\/div>/,
    'the user is shown as typed',
  );
  assert.match(page, /<title>The &#60;title&#62;<\/title>/);
  assert.match(page, /<dd>\/projects\/one<\/dd>/);
  assert.doesNotMatch(page, /<script|<img|javascript:alert\(1\)"|\u202e/);
  assert.ok(!page.includes('\u001b'));
  assert.match(page, /Content-Security-Policy" content="default-src 'none'; style-src 'sha256-/);
});

test('an edit shows its diff in colours, a denied call is called denied, and a call without a result says so', async () => {
  const page = await exportDocument(document, 'html');
  assert.match(
    page,
    /<details open><summary><code>edit_file<\/code> a\.txt<\/summary><pre class="diff"><code><span class="line hunk">@@ -1 \+1 @@<\/span><span class="line del">-two &#60;old&#62;<\/span><span class="line add">\+TWO<\/span>/,
  );
  assert.match(page, /<code>run_command<\/code> rm -rf \/ <span class="outcome">denied<\/span>/);
  assert.match(page, /<code>read_file<\/code> b\.txt <span class="outcome none">no result yet<\/span>/);
  const markdown = await exportDocument(document, 'md');
  assert.match(markdown, /<code>run_command<\/code> \(denied\)/);
  assert.match(markdown, /```diff\n@@ -1 \+1 @@/);
  assert.deepEqual(
    (JSON.parse(await exportDocument(document, 'json')) as { calls: unknown }).calls,
    Object.fromEntries(calls),
  );
});

test('a format that does not exist is one sentence; the extension selects the format', () => {
  assert.throws(() => parseExportFormat('pdf', 'x'), {
    code: 'sessions/bad-format',
    message: 'Cannot export as "pdf": the formats are md, html, json.',
    hint: 'Export html and print it as PDF in a browser.',
  });
  assert.deepEqual(
    ['a.html', 'a.htm', 'a.json', 'a.txt'].map((file) => parseExportFormat(undefined, file)),
    ['html', 'html', 'json', 'md'],
  );
});

// Datasets: the same cases as JSON lines, comma-separated values and Markdown, and one sentence with the line for what is invalid.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { parseCsvDataset } from './dataset-csv.ts';
import { parseMarkdownDataset } from './dataset-markdown.ts';
import { parseDataset } from './dataset.ts';
import { parseDatasetText, readDataset } from './read-dataset.ts';

const expected = parseDataset(
  [
    '{"id":"port","prompt":"Which port, \\"exactly\\"?\\n\\nOne line.","expect":{"contains":"7431","maxSteps":3},"tags":["files","easy"],"tools":true,"must":true,"files":{"app.ini":"port=7431\\n"}}',
    '{"id":"sum","prompt":"2 + 2?","expect":{"number":{"value":4,"tolerance":0.1},"abstains":false}}',
  ].join('\n'),
  'f',
);

const csv = `id,prompt,contains,maxSteps,number,abstains,tags,tools,must,file:app.ini
port,"Which port, ""exactly""?

One line.",7431,3,,,files; easy,yes,true,"port=7431
"

sum,2 + 2?,,,"{""value"":4,""tolerance"":0.1}",no,,,,
`;

const markdown = `---
tags: []
---
# Cases of the shop

Text before the first case is a comment.

## port

Which port, "exactly"?

One line.

### Expect
- contains: '7431'
- maxSteps: 3

### Settings
tags: [files, easy]
tools: true
must: true

### File \`app.ini\`
\`\`\`ini
port=7431
\`\`\`

## sum
2 + 2?
### Expect
\`\`\`yaml
number: { value: 4, tolerance: 0.1 }
abstains: false
\`\`\`
`;

test('[A48] a dataset of comma-separated values or Markdown gives the same cases as JSON lines', async () => {
  assert.deepEqual(parseCsvDataset(csv, 'f.csv'), expected);
  assert.deepEqual(parseCsvDataset(`\uFEFF${csv.replaceAll('\n', '\r\n')}`, 'f.csv').length, 2);
  assert.deepEqual(await parseMarkdownDataset(markdown, 'f.md'), expected);
  assert.deepEqual(await parseMarkdownDataset(markdown.replaceAll('\n', '\r\n'), 'f.md'), expected);
  assert.deepEqual(await parseDatasetText(csv, 'F.CSV'), expected);
});

test('[A48] a spreadsheet with semicolons, and a Markdown file with one case in its front matter, are datasets', async () => {
  const [only] = parseCsvDataset('id;prompt;contains\na;"x;y";z', 'f.csv');
  assert.deepEqual([only?.prompt, only?.expect.contains], ['x;y', ['z']]);
  const [one] = await parseMarkdownDataset(
    '---\ntags: [a]\nexpect:\n  contains: Oslo\n---\nCapital of Norway?\n',
    'cases/norway.md',
  );
  assert.deepEqual(
    [one?.id, one?.prompt, one?.expect.contains, one?.tags],
    ['norway', 'Capital of Norway?', ['Oslo'], ['a']],
  );
});

test('[A48] an invalid row of comma-separated values is refused with its line', () => {
  for (const [text, message] of [
    ['id,prompt,contain\na,b,c', 'Line 1 of f is not a valid case: there is no column "contain".'],
    ['id,prompt,prompt\na,b,c', 'Line 1 of f is not a valid case: the column "prompt" is there twice.'],
    ['id,prompt,equals\na,"b\nb",c\nd,e', 'Line 4 of f is not a valid case: it has 2 fields and the header has 3.'],
    ['id,prompt,equals\na,b,"c', 'Line 2 of f is not a valid case: a quotation mark is not closed.'],
    ['id,prompt,equals\na,"b"b,c', 'Line 2 of f is not a valid case: there is text after a closing quotation mark.'],
    ['id,prompt,number\na,b,four', 'Line 2 of f is not a valid case: its expectation number has an invalid value.'],
    ['id,prompt,equals\na,b,c\na,b,c', 'Line 3 of f is not a valid case: there is another with the id a.'],
    ['id,prompt,equals,tools\na,b,c,maybe', 'Line 2 of f is not a valid case: tools is neither true nor false.'],
    ['id,prompt,equals\n', 'f has no case.'],
    ['', 'f has no case.'],
  ] as const)
    assert.throws(() => parseCsvDataset(text, 'f'), { code: 'eval/bad-dataset', message });
});

test('[A48] an invalid case in Markdown is refused with its line', async () => {
  for (const [text, message] of [
    ['## a\nb\n### Expekt\n- x: 1', /^Line 3 of f is not a valid case: there is no part "Expekt"; there are Expect/],
    ['\n## a\nb', /^Line 2 of f is not a valid case: it has no expectations\.$/],
    ['## a\n### Expect\n- contains: x', /^Line 1 of f is not a valid case: it has no prompt\.$/],
    ['## a\nb\n### Expect\n- contains: [', /^Line 4 of f is not a valid case: its YAML cannot be read/],
    ['## a\nb\n### Expect\nyes', /^Line 4 of f is not a valid case: its YAML is not a list of fields/],
    ['## a\nb\n### Expect\n- lacks: x\n- lacks: y', /^Line 4 of f is not a valid case: "lacks" is there twice/],
    ['---\nexpect: {contains: x}\n---\n## a\nb\n## a\nc', /^Line 6 of f is not a valid case: there is another/],
    ['just text', /^Line 1 of f is not a valid case: it has no expectations/],
  ] as const)
    await assert.rejects(parseMarkdownDataset(text, 'f'), { code: 'eval/bad-dataset', message });
});

test('[A48] a heading inside a fenced block is text of the prompt', async () => {
  const [only, ...more] = await parseMarkdownDataset(
    '## a\n````md\n## not a case\n```\n### Expect\n```\n````\n### Expect\n- equals: x',
    'f',
  );
  assert.equal(more.length, 0);
  assert.match(only?.prompt ?? '', /## not a case\n```\n### Expect/);
});

test('[A48] hostile text is refused in linear time', async () => {
  const size = 200_000;
  for (const text of ['"'.repeat(size), ','.repeat(size), '"a\n'.repeat(size / 3), '\n'.repeat(size)])
    assert.throws(() => parseCsvDataset(`id,prompt,equals\n${text}`, 'f'), { code: 'eval/bad-dataset' });
  for (const text of [
    '`'.repeat(size),
    '## '.repeat(size / 3),
    `## a\n${'```\n'.repeat(size / 4)}`,
    '---\n'.repeat(size / 4),
  ])
    await assert.rejects(parseMarkdownDataset(text, 'f'), { code: 'eval/bad-dataset' });
});

test('[A48] a folder is the dataset of its files, and an id in two of them is refused', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-datasets-'));
  t.after(() => rmSync(folder, { recursive: true }));
  await assert.rejects(readDataset(folder), { code: 'eval/no-dataset' });
  writeFileSync(path.join(folder, 'a.csv'), csv);
  writeFileSync(path.join(folder, 'notes.txt'), 'x');
  assert.deepEqual(await readDataset(folder), expected);
  writeFileSync(path.join(folder, 'b.md'), markdown);
  await assert.rejects(readDataset(folder), /a\.csv and .*b\.md both have a case port\./);
  await assert.rejects(readDataset(path.join(folder, 'none.csv')), { code: 'eval/no-dataset' });
});

test('[A48] a schema, a pattern and a path that cannot be used are refused with their line, before the first trial', () => {
  const line = (more: object): string => JSON.stringify({ id: 'b', prompt: 'x', expect: { contains: 'x' }, ...more });
  const refused: readonly (readonly [object, RegExp])[] = [
    [{ expect: { json: { type: 'nonsense' } } }, /^Line 2 of f is not a valid case: its expectation json .*type at \//],
    [{ expect: { matches: '(' } }, /^Line 2 of f is not a valid case: its expectation matches .*Unterminated group/],
    [{ files: { '../x': '' } }, /^Line 2 of f is not a valid case: its file "\.\.\/x" is outside its directory/],
    [{ files: { 'a/../../x': '' } }, /is outside its directory/],
    [{ files: { '/etc/x': '' } }, /is outside its directory/],
  ];
  for (const [more, message] of refused)
    assert.throws(() => parseDataset(`${line({ id: 'a' })}\n${line(more)}`, 'f'), {
      code: 'eval/bad-dataset',
      message,
    });
});

test('[A48] a byte order mark before the first heading is no part of it', async () => {
  const text = '## a\n\nSay x.\n\n### Expect\n\n- contains: x\n';
  assert.deepEqual(await parseMarkdownDataset(`\uFEFF${text}`, 'f.md'), await parseMarkdownDataset(text, 'f.md'));
});

test('[A48] a recording that is missing is named before the first trial', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-dataset-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'a.jsonl');
  const session = { file: 'none.session.jsonl', at: 2 };
  writeFileSync(file, JSON.stringify({ id: 'a', prompt: 'x', expect: { contains: 'x' }, session }));
  await assert.rejects(readDataset(file), {
    message: `The recording none.session.jsonl of the case a is not beside ${file}.`,
  });
});

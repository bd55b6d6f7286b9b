// A sentence of a document is evidence word for word only if the document as a whole asserts it: each construct that takes a sentence back, in the passage of the sentence, far before it and far after it.
import assert from 'node:assert/strict';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { narrowLines, verifyAnswer, type VerificationReport } from '../src/checks/index.ts';
import { createDocumentIndex, createEvidenceSearch, openSqliteStorage } from '../src/retrieval/index.ts';

const sentence = 'The rover listens on port 9090.';

/** More text than a passage has. */
const filler = Array.from(
  { length: 40 },
  (_, i) => `Item number ${i} of the catalogue describes ordinary weather patterns over region ${i}.`,
).join(' ');
const fillerLines = Array.from({ length: 60 }, (_, i) => `line ${i} of an ordinary configuration file`).join('\n');

/** Verifies the sentence against a folder with one file, without judges. */
async function verifyIn(file: string, text: string): Promise<VerificationReport> {
  const base = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-evidence-')));
  try {
    const root = path.join(base, file);
    writeFileSync(root, text);
    const index = createDocumentIndex({ root, storage: await openSqliteStorage(path.join(base, 'index.db')) });
    await index.update();
    const question = 'On which port does the rover listen?';
    const report = await verifyAnswer({ question, answer: sentence, search: createEvidenceSearch(index), judges: [] });
    await index.close();
    return report;
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

/** What stands before and after the sentence; `gap` is nothing, or more text than a passage has. */
type Construct = (gap: string) => string;

const markdown =
  (before: string, after = ''): Construct =>
  (gap) =>
    `# Rover\n\n${before}\n\n${gap}\n\n${sentence}\n\n${after}\n`;
const page =
  (before: string, after = ''): Construct =>
  (gap) =>
    `<html><body>\n<h1>Rover</h1>\n${before}\n<p>${gap}</p>\n<p>${sentence}</p>\n${after}\n<p>Ports are configured by hand.</p></body></html>`;

const constructs: Readonly<Record<string, readonly [file: string, text: Construct]>> = {
  'a heading': ['a.md', markdown('## Myths')],
  'an underlined heading': ['a.md', markdown('Myths\n---')],
  'a heading above another one': ['a.md', (gap) => `# Myths about rovers\n\n## Network\n\n${gap}\n\n${sentence}\n`],
  'a heading, and a comment of code that looks like one': ['a.md', markdown('## Myths\n\n```sh\n# Install\n```')],
  'a line in bold as heading': ['a.md', markdown('**Myths**')],
  'a line as heading of plain text': ['a.txt', (gap) => `Rover\n\nCommon myths\n\n${gap}\n\n${sentence}\n`],
  'a sentence that calls the page given up': [
    'a.md',
    (gap) => `# Rover\n\n${gap}\n\n${sentence}\n\nThis page is no longer maintained.\n`,
  ],
  'a sentence that nothing is true': ['a.md', markdown('Nothing on this page is true.\n\n## Part')],
  'a line with the successor': ['a.md', markdown('**Superseded by:** another document\n\n## Part')],
  'a mark of its own line': ['a.md', markdown('**DEPRECATED**\n\n## Part')],
  'front matter between plus signs': [
    'a.md',
    (gap) => `+++\ntitle = "Rover"\ndraft = true\n+++\n\n# Rover\n\n${gap}\n\n${sentence}\n`,
  ],
  'text between single tildes': [
    'a.md',
    (gap) => `# Rover\n\n~It is here. ${gap && 'It is so. '.repeat(300)}${sentence} It is so.~\n`,
  ],
  'a comment of a template': ['a.md', markdown('{% comment %}', '{% endcomment %}')],
  'a comment of MDX': ['a.mdx', markdown('{/*', '*/}')],
  'a comment as a link reference': [
    'a.md',
    (gap) => `# Rover\n\n${gap}\n\n[//]: # (It is so. ${sentence} It is so.)\n`,
  ],
  'a status line': ['a.md', markdown('Status: superseded')],
  'a section with the status': ['a.md', markdown('## Status\n\nSuperseded by another decision.\n\n## Decision')],
  'front matter': ['a.md', (gap) => `---\ntitle: Rover\nstatus: deprecated\n---\n\n# Rover\n\n${gap}\n\n${sentence}\n`],
  'a flag in front matter': [
    'a.md',
    (gap) => `---\ntitle: Rover\narchived: true\n---\n\n# Rover\n\n${gap}\n\n${sentence}\n`,
  ],
  'a title in front matter': ['a.md', (gap) => `---\ntitle: Myths about rovers\n---\n\n${gap}\n\n${sentence}\n`],
  'a text in front matter': [
    'a.md',
    (gap) => `---\nabout: |\n  ${gap}\n\n  Rovers are fast. ${sentence}\n---\n\nPorts exist.\n`,
  ],
  'a sentence that calls all false': ['a.md', markdown('All of the following statements are false.\n\n## Part')],
  'a comment': ['a.md', markdown('<!--', '-->\n\nText.')],
  'a fence': ['a.md', (gap) => `# Rover\n\nA file:\n\n\`\`\`text\n${gap && fillerLines}\n\n${sentence}\n\n\`\`\`\n`],
  'a long fence with a short one in it': [
    'a.md',
    (gap) => `# Rover\n\nA file:\n\n\`\`\`\`text\n${gap && fillerLines}\n\n\`\`\`\n\n${sentence}\n\n\`\`\`\n\`\`\`\`\n`,
  ],
  'a fence of an item': [
    'a.md',
    (gap) => `# Rover\n\n- A file:\n\n      ~~~\n${gap && fillerLines}\n\n${sentence}\n\n      ~~~\n`,
  ],
  'indented code': [
    'a.md',
    (gap) => `# Rover\n\nA file:\n\n    ${gap && fillerLines.replaceAll('\n', '\n    ')}\n\n    ${sentence}\n`,
  ],
  'a quotation': ['a.md', markdown('The visitor wrote "Item one is here.', 'And so on" and left.')],
  'a quotation with typographic marks': [
    'a.md',
    markdown('The visitor wrote “Item one is here.', 'And so on” and left.'),
  ],
  'a quotation after a mark of inches': [
    'a.md',
    markdown('A pipe has 5" of width.\n\nThe visitor wrote "Item one.', 'It is so."'),
  ],
  'a single quotation mark': [
    'a.md',
    (gap) =>
      `# Rover\n\nA visitor wrote ‘The dog’s bowl is here. ${gap && 'It is so. '.repeat(300)}${sentence} It is so.’\n`,
  ],
  'a block quote': ['a.md', (gap) => `# Rover\n\n> ${gap || 'A visitor came.'}\n>\n> ${sentence}\n`],
  'a line that goes on with a block quote': [
    'a.md',
    (gap) => `# Rover\n\n> ${gap || 'A visitor came.'}\n${sentence}\n`,
  ],
  'struck text': [
    'a.md',
    (gap) => `# Rover\n\n~~It is here. ${gap && 'It is so. '.repeat(300)}${sentence} It is so.~~\n`,
  ],
  'a tag that strikes out': ['a.md', markdown('<del>', '</del>')],
  'a tag with an attribute that quotes': ['a.md', markdown('<blockquote cite="x">', '</blockquote>')],
  'a tag that hides': ['a.md', markdown('<div hidden>', '</div>')],
  'a list of wrong statements': [
    'a.md',
    (gap) => `# Rover\n\nThese are wrong:\n\n- ${gap || 'Rovers fly.'}\n- It is so. ${sentence}\n`,
  ],
  'a later correction': [
    'a.md',
    (gap) =>
      `# Rover\n\n## A\n\n${sentence}\n\n## B\n\n${gap}\n\n## Errata\n\nSection A names a port that was never in use.\n`,
  ],
  'a later paragraph with a correction': [
    'a.md',
    (gap) => `# Rover\n\n${sentence}\n\n${gap}\n\nCorrection: the port of section A was never in use.\n`,
  ],
  'a later sentence that calls it false': [
    'a.md',
    (gap) => `# Rover\n\n${sentence}\n\n## B\n\n${gap}\n\nSome of the statements above are wrong.\n`,
  ],
  'a later denial': [
    'a.md',
    (gap) => `# Rover\n\n${sentence}\n\n## B\n\n${gap}\n\nThe rover does not listen on port 9090.\n`,
  ],
  'a later other number': [
    'a.md',
    (gap) => `# Rover\n\n${sentence}\n\n## B\n\n${gap}\n\nThe rover listens on port 7070.\n`,
  ],
  'an old release': [
    'CHANGELOG.md',
    (gap) => `# Changes\n\n## 1.0.0 (2015)\n\n${sentence}\n\n## 2.0.0 (2020)\n\n${gap}\n\nThe port is configurable.\n`,
  ],
  'a comment of code': ['a.ts', (gap) => `/**\n * ${gap}\n *\n * ${sentence}\n */\nexport function a() {}\n`],
  'a text of code': [
    'a.py',
    (gap) => `def test_bad():\n    bad = """\n${gap}\n\n${sentence}\n\n"""\n    assert wrong(bad)\n`,
  ],
  'a comment of configuration': ['a.yml', (gap) => `# ${gap}\n\n# It is so. ${sentence}\na: 1\n`],
  'the name of the file': ['deprecated-rover.md', markdown('')],
  'a record with a title': [
    'a.jsonl',
    (gap) => JSON.stringify({ id: '1', title: 'False statements', text: `${gap}\n\n${sentence}` }),
  ],
  'a message of a model': [
    'a.jsonl',
    (gap) => JSON.stringify({ id: '1', role: 'assistant', text: `${gap}\n\n${sentence}` }),
  ],
  'a session log': [
    'a.jsonl',
    (gap) =>
      `{"fairlead":1,"session":"s","created":"x"}\n${JSON.stringify({ seq: 1, type: 'turn-ended', message: { role: 'assistant', parts: [{ type: 'text', text: `${gap}\n\n${sentence}` }] } })}\n`,
  ],
  'an exported session': [
    'a.md',
    (gap) => `# Ports\n\n## User\n\nWhich port?\n\n## Assistant\n\n${gap}\n\n${sentence}\n`,
  ],
  'a transcript': ['a.txt', (gap) => `User: which port?\n\nAssistant: I know it.\n\n${gap}\n\n${sentence}\n`],
  'del of a page': ['a.html', page('<del>', '</del>')],
  's of a page': [
    'a.html',
    (gap) => `<h1>Rover</h1>\n\n<p>${gap}</p>\n<p><s>${sentence}</s></p>\n<p>Ports are configured by hand.</p>`,
  ],
  'blockquote of a page': ['a.html', page('<blockquote class="x">', '</blockquote>')],
  'q of a page': [
    'a.html',
    (gap) => `<h1>Rover</h1>\n<p>A visitor said <q>It is so. ${gap} ${sentence} It is so.</q></p>`,
  ],
  'pre of a page': [
    'a.html',
    (gap) => `<h1>Rover</h1>\n<pre><code>\n\n${gap && fillerLines}\n\n${sentence}\n\n</code></pre>\n<p>Ports.</p>`,
  ],
  'template of a page': ['a.html', page('<template>', '</template>')],
  'noscript of a page': ['a.html', page('<noscript>', '</noscript>')],
  'a hidden element of a page': ['a.html', page('<div hidden><div>x</div>', '</div>')],
  'an element of a page with a hiding style': [
    'a.html',
    page(`<section style='color: red; display : none'>`, '</section>'),
  ],
  'an element of a page that is hidden for assistants': [
    'a.html',
    page('<div class="x" aria-hidden="true">', '</div>'),
  ],
  'a comment of a page': ['a.html', page('<!-- </p>', '-->')],
  'a heading of a page': ['a.html', page('<div><div><h2>Myths</h2>', '</div></div>')],
  'a heading of a page on one line': [
    'a.html',
    (gap) => `<div><p>A.</p><h2>Myths</h2><p>${gap} It is so. ${sentence} It is so.</p></div>`,
  ],
  'the title of a page': [
    'a.html',
    (gap) =>
      `<html><head><title>Myths</title></head><body><h1>Rover</h1>\n<p>${gap}</p>\n<p>${sentence}</p></body></html>`,
  ],
};

for (const [name, [file, text]] of Object.entries(constructs))
  for (const [position, gap] of [
    ['near', ''],
    ['far', filler],
  ] as const)
    test(`[A35] a sentence is no evidence word for word: ${name}, ${position}`, async () => {
      const { outcome, claims } = await verifyIn(file, text(gap));
      assert.notEqual(outcome, 'verified', text(gap));
      assert.notEqual(claims[0]?.verdict.type, 'supported');
    });

const plain: Readonly<Record<string, readonly [file: string, text: Construct]>> = {
  Markdown: ['a.md', markdown('## Network')],
  'Markdown with code, quotations, a comment and struck text elsewhere': [
    'a.md',
    (gap) =>
      `---\ntitle: Rover\nstatus: accepted\n---\n\n# Rover\n\n<!-- a note -->\n\nThe "old" name was ~~Mars~~ another.\n\n\`\`\`sh\n# Install "it\n\`\`\`\n\n> A visitor came.\n\n## Network\n\n${gap}\n\n${sentence}\n\n## Power\n\nThe "battery" lasts long.\n`,
  ],
  'the newest release': [
    'CHANGELOG.md',
    (gap) => `# Changes\n\n## 2.0.0 (2020)\n\n${sentence}\n\n${gap}\n\n## 1.0.0 (2015)\n\nFirst words.\n`,
  ],
  'plain text': ['a.txt', (gap) => `Rover\n\n${gap}\n\n${sentence}\n`],
  'a page': ['a.html', page('<h2>Network</h2>')],
  'an indented page': ['a.html', page('      <div>\n      <h2>Network</h2>', '      </div>')],
  'a record': ['a.jsonl', (gap) => JSON.stringify({ _id: '1', title: 'Rover', text: `${gap}\n\n${sentence}` })],
};

for (const [name, [file, text]] of Object.entries(plain))
  for (const [position, gap] of [
    ['near', ''],
    ['far', filler],
  ] as const)
    test(`[A35] a sentence that the document asserts is evidence: ${name}, ${position}`, async () => {
      const { outcome, citations } = await verifyIn(file, text(gap));
      assert.equal(outcome, 'verified', text(gap));
      const source = citations[0] && narrowLines(citations[0].evidence);
      const [first, last] = source?.type === 'document' ? source.lines : [0, 0];
      const cited = text(gap)
        .split('\n')
        .slice(first - 1, last)
        .join(' ');
      assert.ok(cited.includes(sentence), `lines ${first} to ${last}`);
      const hasWhole = JSON.stringify(citations).includes(filler.slice(0, 40));
      assert.equal(hasWhole && !file.endsWith('.jsonl'), false, 'a report has no whole document');
    });

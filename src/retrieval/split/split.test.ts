// Tests of the splitters: passages have the right titles and lines, and hostile texts are split in linear time.
import assert from 'node:assert/strict';
import test from 'node:test';
import { htmlToText } from './html-to-text.ts';
import { splitDocument } from './split-document.ts';
import { maxPassageChars } from './split-text.ts';

const outline = (path: string, text: string): readonly (readonly [string, number, number])[] =>
  splitDocument(path, text).map(({ title, lines }) => [title, ...lines]);

test('Markdown is split at headings, and the title is the path of headings; a # in a code fence is no heading', () => {
  const text =
    '# Guide\nintro\n\n## Install\nrun it\n```sh\n# not a heading\n```\n\nUse\n---\nwords\n\n### Deep\nmore\n';
  assert.deepEqual(outline('a.md', text), [
    ['Guide', 1, 2],
    ['Guide > Install', 4, 8],
    ['Guide > Use', 10, 12],
    ['Guide > Use > Deep', 14, 15],
  ]);
});

test('code is split by symbol with the comments above it, in three families of languages', () => {
  const filler = '  const value = compute(1, 2, 3);\n'.repeat(20);
  const typescript = `import x from 'y';\n\n/** Adds. */\nexport function add(a: number) {\n${filler}}\n\nclass Store {\n  get(key: string) {\n${filler}  }\n}\n`;
  assert.deepEqual(
    outline('a.ts', typescript).map(([title, from]) => [title, from]),
    [
      ['', 1],
      ['add', 3],
      ['Store', 27],
      ['Store.get', 28],
    ],
  );
  const python = `import os\n\n@cached\ndef load(path):\n${'    pass\n'.repeat(80)}\nclass A:\n    def run(self):\n${'        pass\n'.repeat(60)}`;
  assert.deepEqual(
    outline('a.py', python).map(([title, from]) => [title, from]),
    [
      ['', 1],
      ['load', 3],
      ['A', 86],
      ['A.run', 87],
    ],
  );
  const go = `package main\n\nfunc (s *Server) Serve(addr string) error {\n${'\twork()\n'.repeat(90)}}\n\ntype Config struct {\n${'\tName string\n'.repeat(50)}}\n`;
  assert.deepEqual(
    outline('a.go', go).map(([title]) => title),
    ['', 'Serve', 'Config'],
  );
});

test('HTML keeps the lines of its source, its title and headings; scripts, styles and comments are not text', () => {
  const html =
    '<html><head>\n<title>Handbook &amp; more</title>\n<style>b{color:red}</style></head>\n<body>\n<h2>Leave</h2>\n<p>Twenty <b>days</b>.</p>\n<!-- hidden\nnote -->\n<script>\nalert("x")\n</script>\n<p title="a > b">End</p></body></html>';
  const { title, text, lines } = htmlToText(html);
  assert.equal(title, 'Handbook & more');
  assert.equal(text, '## Leave\n\nTwenty days.\n\nEnd');
  assert.deepEqual(lines, [5, 5, 6, 6, 12]);
  const [passage] = splitDocument('a.html', html).filter((each) => each.text.includes('Twenty'));
  assert.deepEqual([passage?.title, passage?.lines], ['Handbook & more > Leave', [5, 12]]);
});

test('HTML becomes Markdown: quotations, code and lists are marked, and struck and hidden text is left out', () => {
  const html =
    '<p>One <del>gone <del>more</del> gone</del>two <q>three</q> <code>four</code></p><blockquote><p>A</p>\n<p>B</p></blockquote>after' +
    '<pre>\n  x\n```\n</pre><ul><li>i</li><li>j<p>k</ul><div hidden><div></div>gone<!-- </div> --></div>' +
    '<p style="Display : none">gone</p><i aria-hidden=true>gone</i><textarea>gone</textarea>end <p hidden="">gone</p><a title="hidden">shown</a>' +
    '<table><tr><td>l</td><td>m</td></tr></table>';
  assert.equal(
    htmlToText(html).text,
    'One two “three” `four`\n\n> A\n>\n> B\n>\n\nafter\n\n````\n\n  x\n```\n\n````\n\n- i\n- j\n\n  k\n\nend\n\nshown\n\n| l  | m',
  );
});

test('records of a JSONL file are one passage each with their id; a session log gives its messages with the speaker', () => {
  const records = `{"_id":"7","title":"T","text":"body"}\n{"id":8,"text":"other"}\nplain words\n`;
  assert.deepEqual(splitDocument('a.jsonl', records), [
    { id: '7', title: 'T', text: 'body', lines: [1, 1] },
    { id: '8', title: '', text: 'other', lines: [2, 2] },
    { title: '', text: 'plain words', lines: [3, 3] },
  ]);
  const log = [
    '{"fairlead":1,"session":"s","created":"x"}',
    '{"seq":1,"type":"input-received","parts":[{"type":"text","text":"fix the parser"}]}',
    '{"seq":2,"type":"epoch-started","system":"secret prompt"}',
    '{"seq":3,"type":"turn-ended","message":{"role":"assistant","parts":[{"type":"text","text":"done"}]}}',
  ].join('\n');
  assert.deepEqual(splitDocument('s.jsonl', log), [
    { title: 'user', text: 'fix the parser', lines: [2, 2] },
    { title: 'model', text: 'done', lines: [4, 4] },
  ]);
});

test('no passage is longer than the maximum, and hostile texts of 4 MB are split without super-linear time', () => {
  const hostile = [
    'x'.repeat(4_000_000),
    `${' '.repeat(100_000)}x\n`.repeat(10),
    '#'.repeat(1_000_000),
    '```\n'.repeat(300_000),
    'a\n-\n'.repeat(300_000),
    'function '.repeat(300_000),
    'const a<'.repeat(300_000),
    `${'pub('.repeat(300)}\n`.repeat(1000),
    '<'.repeat(1_000_000),
    '<a href="'.repeat(200_000),
    '<script>'.repeat(300_000),
    '<!--'.repeat(400_000),
    '&#'.repeat(500_000),
    '{"a":'.repeat(300_000),
    '\ud83d\ude00'.repeat(500_000),
  ];
  for (const text of hostile)
    for (const name of ['a.md', 'a.ts', 'a.py', 'a.rb', 'a.sql', 'a.html', 'a.jsonl', 'a.txt'])
      for (const passage of splitDocument(name, text)) {
        assert.ok(passage.text.length <= maxPassageChars, `${name}: ${passage.text.length}`);
        assert.ok(passage.text.isWellFormed() || !text.isWellFormed(), name);
      }
});

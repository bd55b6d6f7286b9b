// Tests of the decomposition of answers into claims.
import assert from 'node:assert/strict';
import test from 'node:test';
import { splitAnswer, splitClaims } from './split-claims.ts';

const textsOf = (answer: string): readonly string[] => splitClaims(answer).map(({ text }) => text);

for (const [what, answer, claims] of [
  [
    'sentences with abbreviations, decimals, URLs and file names',
    'Dr. Smith measured 3.14 m, e.g. in config.json. See https://example.com/a.b for v1.2.3. Mt. Cook is 3,724 m high.',
    [
      'Dr. Smith measured 3.14 m, e.g. in config.json.',
      'See https://example.com/a.b for v1.2.3.',
      'Mt. Cook is 3,724 m high.',
    ],
  ],
  [
    'a list under a heading, with emphasis',
    '## Moons of Mars\n\n- **Phobos** is the *inner* moon.\n- Deimos is the outer\n  moon.\n1. Both are small.',
    ['Phobos is the inner moon.', 'Deimos is the outer moon.', 'Both are small.'],
  ],
  [
    'a heading that states something',
    '# Canberra is the capital\n\n# Capital: Sydney',
    ['Canberra is the capital', 'Capital: Sydney'],
  ],
  [
    'a table: each row with its header',
    '| City | Country |\n|---|---|\n| Canberra | Australia |\n| Paris | France |',
    ['City: Canberra; Country: Australia', 'City: Paris; Country: France'],
  ],
  [
    'coordinated clauses with their own subjects',
    'Canberra is the capital, and the city has 450,000 inhabitants. It rains; the river is high.',
    ['Canberra is the capital', 'the city has 450,000 inhabitants.', 'It rains; the river is high.'],
  ],
  [
    'clauses that depend on each other stay together',
    'If it rains, and the river is high, the road is closed. Not only Paris is large, but London is large.',
    ['If it rains, and the river is high, the road is closed.', 'Not only Paris is large, but London is large.'],
  ],
  ['no questions, greetings and rules', 'Hello!\n\nSure! Is it so?\n\n---\n\nI hope this helps.', []],
  [
    'a code block is one claim',
    'Run this.\n```js\nconst a = 1. + 2;\n// Hello. World.\n```',
    ['Run this.', '```js\nconst a = 1. + 2;\n// Hello. World.\n```'],
  ],
  [
    'a numbered heading',
    '### 1. Ask a model\n\n### 2. Canberra is the capital\n\n## 2.1 Limits',
    ['Canberra is the capital'],
  ],
  ['a title with a question word', '## What it is for\n\n**What it is for**\n\n## What Sydney is', ['What Sydney is']],
  [
    'an image without a statement',
    '![A list, and the answer below it](a.svg)\n\n![Sydney is the capital](b.png)',
    ['![Sydney is the capital](b.png)'],
  ],
  [
    'a table row of links to documents',
    '| topic | documents |\n|---|---|\n| use | [terminal](a.md), [models](b.md), [keys](c.md) |\n| capital | [Sydney](s.md) |',
    ['topic: capital; documents: [Sydney](s.md)'],
  ],
  ['a block of code without an end', '```\nall verified', ['```\nall verified']],
  ['a quoted paragraph over two lines', '> The sea is\n> deep. It is blue.', ['The sea is deep.', 'It is blue.']],
  ['citation marks after a sentence', 'The sea is deep.[1] It is blue.[2]', ['The sea is deep.[1]', 'It is blue.[2]']],
  [
    'German dates and abbreviations',
    'Am 3. Oktober 1990 war das so, z.B. in Berlin. Das ist bekannt.',
    ['Am 3. Oktober 1990 war das so, z.B. in Berlin.', 'Das ist bekannt.'],
  ],
  ['Chinese', '堪培拉是澳大利亚的首都。悉尼不是首都！你知道吗？', ['堪培拉是澳大利亚的首都。', '悉尼不是首都！']],
  [
    'Arabic',
    'كانبرا هي عاصمة أستراليا. سيدني مدينة كبيرة. هل تعلم؟',
    ['كانبرا هي عاصمة أستراليا.', 'سيدني مدينة كبيرة.'],
  ],
  ['empty answers', ' \n\t', []],
] as const)
  test(`[A34] claims: ${what}`, () => assert.deepEqual(textsOf(answer), claims));

/** A small generator of pseudo-random numbers, so that a failure can be repeated. */
function createRandom(seed: number): (max: number) => number {
  let state = seed;
  return (max) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * max);
  };
}

const pieces = [
  'Canberra is the capital of Australia. ',
  'It has 450,000 inhabitants, and the lake is artificial; the name is old. ',
  'Really? ',
  'Hello! ',
  '\n\n',
  '\n',
  '- ',
  '1. ',
  '> ',
  '# Title\n',
  '**bold** and *italic* ',
  '`a.b. c` ',
  '```\ncode. Code.\n```\n',
  '~~~\n',
  '| a | b |\n|---|---|\n| 1 | two |\n',
  '堪培拉是首都。',
  'كانبرا هي العاصمة. ',
  'Straße Nr. 5 z.B. hier. ',
  'e.g. Dr. X. ',
  '...',
  '😀 ',
  '[1] ',
  '\u0000',
  'word',
  ' ',
];

test('[A34] nothing that states something is left out: every letter and digit is in one claim or one skipped part', () => {
  for (let seed = 1; seed <= 400; seed++) {
    const random = createRandom(seed);
    const answer = Array.from({ length: 1 + random(25) }, () => pieces[random(pieces.length)]).join('');
    const { claims, skipped } = splitAnswer(answer);
    const owners = new Uint8Array(answer.length);
    for (const { span } of [...claims, ...skipped])
      for (let at = span.start; at < span.end; at++) {
        assert.ok((owners[at] ?? 0) === 0, `overlap at ${at} of ${JSON.stringify(answer)}`);
        owners[at] = 1;
      }
    for (let at = 0; at < answer.length; at++)
      if (/[\p{L}\p{N}]/u.test(answer[at] ?? '') && !isListNumber(answer, at) && owners[at] === 0)
        // The info string of a fence is part of its block, so only list numbers are outside.
        assert.fail(`${JSON.stringify(answer[at])} at ${at} is in no part of ${JSON.stringify(answer)}`);
    const starts = claims.map(({ span }) => span.start);
    assert.deepEqual(
      starts,
      starts.toSorted((a, b) => a - b),
    );
    assert.equal(new Set(claims.map(({ id }) => id)).size, claims.length);
  }
});

/** The number of a list item is a mark. */
function isListNumber(answer: string, at: number): boolean {
  const line = answer.slice(answer.lastIndexOf('\n', at - 1) + 1);
  const mark = /^[\s>]*\d+[.)][ \t]/.exec(line)?.[0].length ?? 0;
  return at - (answer.length - line.length) < mark;
}

test('[A34] 500 claims are found, and hostile text of 100 kB takes no time that grows with its square', () => {
  const answer = Array.from({ length: 500 }, (_, i) => `Fact ${i} is true.`).join(' ');
  assert.equal(splitClaims(answer).length, 500);
  for (const piece of [
    '. ',
    '*',
    '`',
    '> ',
    '|',
    '|-',
    '- ',
    'a, and the b is ',
    '[1]',
    '.)',
    '\n',
    '# ',
    '1.',
    '；',
    '~~~\n',
  ])
    assert.ok(splitClaims(piece.repeat(100_000 / piece.length)).length >= 0);
});

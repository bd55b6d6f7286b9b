// Tests of syntax colours, diffs and the summary of tool calls.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatToolName, summarizeCall, summarizeResult, unwrapOutsideText } from './call-summary.ts';
import { compareTexts, countChanges, isUnifiedDiff, parseUnifiedDiff } from './diff.ts';
import { languageOfPath, splitTokenLines, tokenize, type TokenKind } from './highlight.ts';

const kinds = (code: string, language: string): readonly (readonly [TokenKind, string])[] =>
  tokenize(code, language)
    .filter(({ kind }) => kind !== 'text')
    .map(({ kind, text }) => [kind, text]);

test('[A87] code is split into comments, strings, numbers, keywords and names, without loss', () => {
  assert.deepEqual(kinds('const a = f("x\\"y", 0x1f); // end', 'ts'), [
    ['keyword', 'const'],
    ['name', 'f'],
    ['string', '"x\\"y"'],
    ['number', '0x1f'],
    ['comment', '// end'],
  ]);
  assert.deepEqual(kinds("def f(x):\n    return 'a' # b", 'python'), [
    ['keyword', 'def'],
    ['name', 'f'],
    ['keyword', 'return'],
    ['string', "'a'"],
    ['comment', '# b'],
  ]);
  assert.deepEqual(kinds('{"a": "b", "n": 1.5, "t": true}', 'json'), [
    ['key', '"a"'],
    ['string', '"b"'],
    ['key', '"n"'],
    ['number', '1.5'],
    ['key', '"t"'],
    ['keyword', 'true'],
  ]);
  assert.deepEqual(kinds('SELECT a FROM b -- c', 'sql'), [
    ['keyword', 'SELECT'],
    ['keyword', 'FROM'],
    ['comment', '-- c'],
  ]);
  assert.deepEqual(kinds('echo "$a#b" # c', 'sh'), [
    ['keyword', 'echo'],
    ['string', '"$a#b"'],
    ['comment', '# c'],
  ]);
  const odd = ['`open template', '"open', '/* open', "it's #1 \u202e", '\\', '`a\nb`', '日本語 = "x"'];
  for (const language of ['ts', 'py', 'rs', 'go', 'c', 'sql', 'json', 'yaml', 'css', 'sh', 'none', ''])
    for (const code of odd) {
      const tokens = tokenize(code, language);
      assert.equal(tokens.map(({ text }) => text).join(''), code, `${language}: ${code}`);
      assert.equal(
        splitTokenLines(tokens)
          .map((line) => line.map(({ text }) => text).join(''))
          .join('\n'),
        code,
      );
    }
});

test('[A87] the language of a file is known by its name, and an unknown one has no colours', () => {
  assert.deepEqual(['a/b.ts', 'Makefile', 'x.unknown', 'README', '__proto__'].map(languageOfPath), [
    'ts',
    'makefile',
    '',
    '',
    '',
  ]);
  assert.deepEqual(tokenize('const a', 'constructor'), [{ kind: 'text', text: 'const a' }]);
});

test('[A87] a unified diff has the line numbers of both sides', () => {
  const diff =
    '--- a.ts\n+++ a.ts\n@@ -3,3 +3,4 @@\n same\n-old\n+new\n+more\n same\n@@ -20 +21 @@\n-x\n+y\n\\ No newline at end of file\n';
  assert.ok(isUnifiedDiff(diff));
  const lines = parseUnifiedDiff(diff);
  assert.deepEqual(
    lines.map(({ kind, before, after, text }) => [kind, before, after, text]),
    [
      ['gap', undefined, undefined, ''],
      ['same', 3, 3, 'same'],
      ['removed', 4, undefined, 'old'],
      ['added', undefined, 4, 'new'],
      ['added', undefined, 5, 'more'],
      ['same', 5, 6, 'same'],
      ['gap', undefined, undefined, ''],
      ['removed', 20, undefined, 'x'],
      ['added', undefined, 21, 'y'],
    ],
  );
  assert.deepEqual(countChanges(lines), { added: 3, removed: 2 });
});

test('[A87] a removed line that begins with dashes is not a header', () => {
  const lines = parseUnifiedDiff('--- a\n+++ a\n@@ -1,2 +1 @@\n--- old list item\n keep\n');
  assert.deepEqual(
    lines.map(({ kind, text }) => [kind, text]),
    [
      ['removed', '-- old list item'],
      ['same', 'keep'],
    ],
  );
});

test('[A87] two texts are compared by their lines', () => {
  const shown = (before: string, after: string): string =>
    compareTexts(before, after)
      .map(({ kind, text }) => `${kind === 'same' ? ' ' : kind === 'added' ? '+' : '-'}${text}`)
      .join('\n');
  assert.equal(shown('a\nb\nc', 'a\nx\nc\nd'), ' a\n-b\n+x\n c\n+d');
  assert.equal(shown('', 'a\nb\n'), '+a\n+b');
  assert.equal(shown('a', ''), '-a');
  const long = Array.from({ length: 2000 }, (_, i) => String(i)).join('\n');
  assert.equal(compareTexts(long, `${long}\nmore`).length, 4001);
});

test('[A87] a call is summarised by its tool and what it acts on', () => {
  assert.deepEqual(summarizeCall('read_file', { path: 'a.ts' }), { icon: 'file', name: 'read_file', target: 'a.ts' });
  assert.deepEqual(summarizeCall('use_tool', { tool: 'mcp__everything__echo', input: { message: 'hi\n there' } }), {
    icon: 'tool',
    name: 'everything: echo',
    target: 'hi there',
  });
  assert.equal(summarizeCall('load_tools', { names: ['git', 'lsp'] }).target, 'git, lsp');
  assert.equal(summarizeCall('anything', {}).target, '');
  assert.equal(formatToolName('mcp__a_b__c__d'), 'a_b: c__d');
  assert.equal(summarizeResult('ok', 'a\nb\n'), '2 lines');
  assert.equal(summarizeResult('failed', 'Error: no\nmore'), 'Error: no');
  assert.equal(summarizeResult('ok', ' \n'), '');
});

test('[A87] the marks around text from outside are for the model and are not shown', () => {
  assert.deepEqual(unwrapOutsideText('<outside-text from="the web \\"x\\"">\nhello\n</outside-text>'), {
    text: 'hello',
    from: 'the web "x"',
  });
  for (const text of [
    'hello',
    '<outside-text from=x>\na\n</outside-text>',
    'a <outside-text from="b">\nc\n</outside-text>',
  ])
    assert.deepEqual(unwrapOutsideText(text), { text });
});

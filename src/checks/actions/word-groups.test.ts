// Tests that the groups of words hide no text from the patterns that they stand before.
import assert from 'node:assert/strict';
import test from 'node:test';
import { laterWordings } from '../../../test/corpus/action-claims/later-wordings.ts';
import { objectWordings } from '../../../test/corpus/action-claims/object-wordings.ts';
import { outcomeWordings } from '../../../test/corpus/action-claims/outcome-wordings.ts';
import { wordings } from '../../../test/corpus/action-claims/wordings.ts';
import { reportWords, zeroWord } from './check-output-figures.ts';
import { goodStatus } from './check-outcomes.ts';
import { classes, runWords } from './command-mentions.ts';
import { denied, deniedStems, finalState, finalStems, otherMeaning, positive } from './outcome-words.ts';
import { foreignChange } from './read-changed-paths.ts';
import { negationPatterns } from './read-negations.ts';
import { purpose } from './split-statements.ts';
import { mayHave, readWordGroups } from './word-groups.ts';

const patterns = [
  ['otherMeaning', otherMeaning],
  ['run', runWords],
  ['report', reportWords],
  ['good', positive],
  ['none', denied],
  ['none', zeroWord],
  ['final', finalState],
  ['status', goodStatus],
  ['purpose', purpose],
  ['change', foreignChange],
  ...classes.map(([, , pattern]) => ['task', pattern] as const),
] as const;

/** Texts that a pattern of words describes: every alternative, each with and without its optional parts. Assertions are left out. */
function expandPattern(source: string): readonly string[] {
  let at = 0;
  const readAlternatives = (): readonly string[] => {
    const found: string[] = [];
    do found.push(...readSequence());
    while (source[at] === '|' && ++at > 0);
    return found;
  };
  const readSequence = (): readonly string[] => {
    let texts: readonly string[] = [''];
    while (at < source.length && source[at] !== '|' && source[at] !== ')') {
      const atoms = readAtom();
      const [quantifier = ''] = /^(?:[?*+]|\{\d+(?:,\d*)?\})\??/.exec(source.slice(at)) ?? [];
      at += quantifier.length;
      const least = Number(/^\{(\d+)/.exec(quantifier)?.[1] ?? (/^[?*]/.test(quantifier) ? 0 : 1));
      const options =
        least === 0 ? ['', ...atoms] : quantifier === '' ? atoms : atoms.map((each) => each.repeat(Math.max(least, 2)));
      texts = texts.flatMap((text) => options.map((option) => `${text}${option}`));
    }
    return texts;
  };
  const readAtom = (): readonly string[] => {
    const [group] = /^\((?:\?(?:<?[!=]|:))?/.exec(source.slice(at)) ?? [];
    if (group !== undefined) {
      at += group.length;
      const texts = readAlternatives();
      at += 1;
      return /[!=]/.test(group) ? [''] : texts;
    }
    const [set] = /^\[(?:\\.|[^\]\\])*\]/.exec(source.slice(at)) ?? [];
    if (set !== undefined) {
      at += set.length;
      return set.startsWith('[^') ? [' '] : Array.from(set.slice(1, -1).replaceAll(/\\p\{L\}|\\[wd]/g, 'x'));
    }
    const [escaped] = /^\\(?:p\{\w+\}|u[\dA-F]{4}|.)/.exec(source.slice(at)) ?? [];
    if (escaped !== undefined) {
      at += escaped.length;
      const known: Readonly<Record<string, string>> = { s: ' ', d: '0', w: 'x', b: '', 'p{L}': 'x' };
      return [known[escaped.slice(1)] ?? (escaped.startsWith('\\u') ? '\uE000' : escaped.slice(1))];
    }
    const char = String.fromCodePoint(source.codePointAt(at) ?? 0);
    at += char.length;
    return [char === '^' || char === '$' ? '' : char === '.' ? 'x' : char];
  };
  return readAlternatives();
}

test('each alternative of a pattern has a word of its group', () => {
  for (const [group, pattern] of patterns) {
    const texts = expandPattern(pattern.source).filter((text) => text.search(pattern) >= 0);
    assert.ok(texts.length > 2, pattern.source);
    for (const text of texts)
      for (const each of [text, `A ${text}, (${text})`, text.toUpperCase()])
        assert.ok(mayHave(readWordGroups(each), group), `${group}: ${each}`);
  }
});

const stemmed = [
  { pattern: denied, stems: deniedStems },
  { pattern: finalState, stems: finalStems },
];

test('each alternative of a pattern has a stem of its own', () => {
  for (const { pattern, stems } of stemmed) {
    const texts = expandPattern(pattern.source).filter((text) => text.search(pattern) >= 0);
    assert.ok(texts.length > 2, pattern.source);
    for (const text of texts) assert.ok(stems.test(text), `${stems.source}: ${text}`);
  }
});

test('a statement of the corpus that a pattern matches has the group of the pattern', () => {
  const sets = [...wordings, ...outcomeWordings, ...laterWordings, ...objectWordings];
  const counts = new Map<string, number>();
  for (const text of sets.flatMap(({ wrong, right }) => [...wrong, ...right])) {
    const lower = text.toLowerCase();
    for (const [group, pattern] of patterns) {
      if (lower.search(pattern) < 0) continue;
      counts.set(group, (counts.get(group) ?? 0) + 1);
      assert.ok(mayHave(readWordGroups(text), group), `${group}: ${text}`);
    }
  }
  assert.ok((counts.get('otherMeaning') ?? 0) > 50);
});

test('a statement that was not done has a stem of its pattern', () => {
  const statements = [
    'I did not change any files.',
    "We haven't touched the codebase.",
    'I have made no changes to the code.',
    'No files were updated.',
    'Nothing was altered.',
    'We left all the files as they were.',
    'No code changes were made.',
    'I changed nothing.',
    'The working tree is untouched.',
    'No other files were modified.',
    "I didn't edit anything else.",
    'Only src/a.ts was changed.',
    'I only edited src/a.ts.',
    'The only changed file is src/a.ts.',
    'I have not run anything.',
    'No commands were executed.',
    'I never ran the tests.',
    'Tests were not run.',
    'I created three files.',
    'Two files were deleted',
  ];
  const found = new Set<string>();
  for (const text of statements)
    for (const [name, { pattern, stems }] of Object.entries(negationPatterns)) {
      if (text.search(pattern) < 0) continue;
      found.add(text).add(name);
      assert.ok(stems.test(text.toLowerCase()), `${name}: ${text}`);
    }
  for (const each of [...statements, ...Object.keys(negationPatterns)]) assert.ok(found.has(each), each);
});

test('a text without a word of a group is left out, and a text in other letters may have all groups', () => {
  assert.equal(readWordGroups('A sentence of a story.'), 0);
  assert.ok(mayHave(readWordGroups('Тесты прошли.'), 'run'));
  assert.ok(mayHave(readWordGroups('\u017Fhow'), 'report'));
  assert.ok(!mayHave(readWordGroups('`\uE000\uE000` holds a value'), 'good'));
});

// Tests that the index of texts finds the same in parts as in one piece: cuts change no normalized text, texts that are added meanwhile are found, and its tokens are those of splitTokens.
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { normalizeText, splitTokens } from './normalize-text.ts';
import { findCut } from './text-pieces.ts';
import { TokenIndex } from './token-index.ts';

function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
}

/** Characters whose normalized form depends on their neighbours, and plain ones. */
const alphabet = [
  ...Array.from("aZ09_ \n.,:'^`-/@"),
  'é',
  'Σ',
  'σ',
  'ς',
  'İ',
  'ß',
  'ﬁ',
  'ſ',
  'ª',
  'ŉ',
  'e\u0301',
  '\u0301',
  '\u0345',
  '\u200b',
  '\u00ad',
  '\ufe0f',
  '\u{e0041}',
  '가',
  'ᄀ',
  'ᅡ',
  'ᆨ',
  'ㅏ',
  'ﾡ',
  'か',
  '\u3099',
  'ﾞ',
  '漢',
  'ا',
  '\u0640',
  '\u0651',
  'ก',
  'ำ',
  'क',
  '\u093c',
  '😀',
  '🏽',
  '𝐀',
  '\ud800',
  'Ω',
  'Ж',
  '①',
  '…',
];

const createText = (random: (below: number) => number, length: number): string =>
  Array.from({ length }, () => alphabet[random(alphabet.length)] ?? '').join('');

function cutAll(text: string, size: number): readonly string[] {
  const parts: string[] = [];
  for (let at = 0; at < text.length;) {
    const end = findCut(text, at, size);
    parts.push(text.slice(at, end));
    at = end;
  }
  return parts;
}

test('[A39] a text that is cut is normalized as the whole text', () => {
  const random = createRandom(7);
  for (let i = 0; i < 4000; i++) {
    const text = createText(random, 1 + random(60));
    const parts = cutAll(text, 1 + random(9));
    assert.equal(parts.join(''), text);
    assert.equal(parts.map(normalizeText).join(''), normalizeText(text), JSON.stringify(parts));
  }
});

test('[A39] a text is cut in small parts, also without spaces', () => {
  for (const text of ['x', '7', 'é', 'Ж', '漢', '가', '😀', 'a.', 'ا'].map((each) => each.repeat(50_000)))
    for (const part of cutAll(text, 1000)) assert.ok(part.length <= 1002, `${part.slice(0, 4)} ${part.length}`);
});

test('[A39] the index has the tokens of each text, in parts of any size and with texts that are added in between', () => {
  const random = createRandom(11);
  for (let i = 0; i < 300; i++) {
    const index = new TokenIndex(true, undefined, 1 + random(20));
    const texts: string[] = [];
    for (let n = 0; n < 6; n++) {
      const text = createText(random, random(80));
      texts.push(text);
      index.add(text);
      for (let steps = random(6); steps > 0; steps--) index.indexPiece();
      assert.equal(index.count, texts.length);
      if (random(3) === 0) search();
    }
    search();
    while (index.pendingChars > 0) index.indexPiece();
    search();

    function search(): void {
      const lists = texts.map((text) => splitTokens(normalizeText(text)));
      const tokens = lists[random(lists.length)] ?? [];
      const start = random(Math.max(1, tokens.length));
      const wanted = tokens.slice(start, start + 1 + random(3));
      const absent = [...wanted, 'absent'];
      for (let count = 0; count <= texts.length; count++) {
        const isIn = (list: readonly string[]): boolean => ` ${list.join(' ')} `.includes(` ${wanted.join(' ')} `);
        const expected = wanted.length === 0 ? -1 : lists.slice(0, count).findIndex(isIn);
        assert.equal(index.find(wanted, count) ?? -1, expected, JSON.stringify({ texts, wanted, count }));
        assert.equal(index.find(absent, count), undefined);
      }
    }
  }
});

test('[A39] a token of a million characters, and many tokens, are found', () => {
  const index = new TokenIndex(true);
  const long = 'ab'.repeat(500_000);
  index.add(long);
  index.add(Array.from({ length: 200_000 }, (_, i) => `t${i}`).join(' '));
  assert.equal(index.find([long], 2), 0);
  assert.equal(index.find([long.slice(1)], 2), undefined);
  for (const i of [0, 65_535, 65_536, 131_072, 199_999]) assert.equal(index.find([`t${i}`], 2), 1, `t${i}`);
  assert.equal(index.find(['t199998', 't199999'], 2), 1);
  assert.equal(index.find(['t199999', 't199998'], 2), undefined);
});

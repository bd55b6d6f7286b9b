// Splits a claim into the tokens of arithmetic: numbers, operators, relations, words and punctuation.
import { numberPattern, numberWords } from './numbers.ts';

/** A token of a claim with its place in it. `isTight` says that no white space stands before it. */
export type Token = {
  readonly type: 'number' | 'word' | 'operator' | 'relation' | 'currency' | 'punctuation' | 'markup' | 'other';
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly isTight: boolean;
};

const tokenPattern = new RegExp(
  String.raw`(${numberPattern})|(\p{L}+(?:['\u2019]\p{L}+)*)|(\s+)|(\*\*|[<>!]=|==)|(.)`,
  'gsu',
);

const operators: Readonly<Record<string, string>> = {
  '+': '+',
  '-': '-',
  '−': '-',
  '*': '*',
  '×': '*',
  '·': '*',
  '⋅': '*',
  '/': '/',
  '÷': '/',
  '^': '^',
  '**': '^',
  '²': '²',
  '³': '³',
  '√': '√',
  '%': '%',
  '(': '(',
  ')': ')',
};

const relations: Readonly<Record<string, string>> = {
  '=': '=',
  '==': '=',
  '≈': '≈',
  '~': '≈',
  '≠': '≠',
  '!=': '≠',
  '<': '<',
  '>': '>',
  '<=': '≤',
  '>=': '≥',
  '≤': '≤',
  '≥': '≥',
};

const currencies = new Set('$€£¥');
const punctuation = new Set('.,;:');
const markup = new Set('`_');

type AddToken = (type: Token['type'], value: string, start: number, end: number, isTight: boolean) => void;

/** Returns the tokens of a text, without its white space. */
export function tokenizeArithmetic(text: string): readonly Token[] {
  const tokens: Token[] = [];
  const add: AddToken = (type, value, start, end, isTight) => {
    tokens.push({ type, text: value, start, end, isTight });
  };
  if (notAscii.test(text)) readTokens(text, add);
  else readAsciiTokens(text, add);
  return tokens;
}

const notAscii = /[^\p{ASCII}]/u;

function readTokens(text: string, add: AddToken): void {
  let isTight = false;
  for (const match of text.matchAll(tokenPattern)) {
    const [found, number, word, space] = match;
    if (space === undefined) {
      const start = match.index;
      const end = start + found.length;
      if (number !== undefined) add('number', number, start, end, isTight);
      else if (word !== undefined) addWord(add, word, start, end, isTight);
      else addSign(add, text, found, start, isTight);
    }
    isTight = space === undefined;
  }
}

/** The kinds of ASCII characters. */
const [digit, letter, space] = [1, 2, 3];
const kinds = new Uint8Array(128);
for (let code = 0; code < 128; code++)
  if (code >= 48 && code <= 57) kinds[code] = digit;
  else if ((code >= 65 && code <= 90) || (code >= 97 && code <= 122)) kinds[code] = letter;
  else if (code === 32 || (code >= 9 && code <= 13)) kinds[code] = space;

/** Reads the tokens of a text of ASCII characters, as the pattern does. */
function readAsciiTokens(text: string, add: AddToken): void {
  const kindAt = (at: number): number => kinds[text.charCodeAt(at)] ?? 0;
  let isTight = false;
  for (let at = 0; at < text.length;) {
    const start = at;
    const kind = kindAt(at);
    if (kind === space) {
      isTight = false;
      at += 1;
      continue;
    }
    if (kind === digit || kind === letter) {
      for (;;) {
        while (kindAt(at) === kind) at += 1;
        const mark = text.charCodeAt(at);
        const isInside = mark === 39 || (kind === digit && (mark === 44 || mark === 46));
        if (!isInside || kindAt(at + 1) !== kind) break;
        at += 1;
      }
      const found = text.slice(start, at);
      if (kind === digit) add('number', found, start, at, isTight);
      else addWord(add, found, start, at, isTight);
    } else {
      const two = text.slice(at, at + 2);
      const found =
        two === '**' || two === '==' || two === '<=' || two === '>=' || two === '!=' ? two : two.slice(0, 1);
      addSign(add, text, found, start, isTight);
      at += found.length;
    }
    isTight = true;
  }
}

function addSign(add: AddToken, text: string, found: string, start: number, isTight: boolean): void {
  const end = start + found.length;
  if (found === '*' || found === '**') {
    const [type, value] = classifyStar(text, start, found);
    add(type, value, start, end, isTight);
  } else if (Object.hasOwn(operators, found)) add('operator', operators[found] ?? '', start, end, isTight);
  else if (Object.hasOwn(relations, found)) add('relation', relations[found] ?? '', start, end, isTight);
  else if (currencies.has(found)) add('currency', found, start, end, isTight);
  else if (punctuation.has(found)) add('punctuation', found, start, end, isTight);
  else add(markup.has(found) ? 'markup' : 'other', found, start, end, isTight);
}

function addWord(add: AddToken, word: string, start: number, end: number, isTight: boolean): void {
  const lower = word.toLowerCase();
  if (numberWords.has(lower)) add('number', lower, start, end, isTight);
  else if (word === 'x') add('operator', 'x', start, end, isTight);
  else add('word', lower, start, end, isTight);
}

/** A star multiplies if both sides of it look alike; `**` is a power only between digits. Other stars are emphasis. */
function classifyStar(text: string, start: number, found: string): readonly [Token['type'], string] {
  const [before, after] = [text[start - 1] ?? ' ', text[start + found.length] ?? ' '];
  const isInside = /[\d)]/.test(before) && /[\d(]/.test(after);
  if (found === '**') return isInside ? ['operator', '^'] : ['markup', '**'];
  return isInside || (before === ' ' && after === ' ' && start > 0) ? ['operator', '*'] : ['markup', '*'];
}

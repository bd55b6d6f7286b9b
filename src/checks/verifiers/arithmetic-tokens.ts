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

/** Returns the tokens of a text, without its white space. */
export function tokenizeArithmetic(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let isTight = false;
  for (const match of text.matchAll(tokenPattern)) {
    const [found, number, word, space] = match;
    if (space !== undefined) {
      isTight = false;
      continue;
    }
    const start = match.index;
    const end = start + found.length;
    const add = (type: Token['type'], value: string): void => {
      tokens.push({ type, text: value, start, end, isTight });
    };
    if (number !== undefined) add('number', number);
    else if (word !== undefined) addWord(add, word);
    else if (found === '*' || found === '**') add(...classifyStar(text, start, found));
    else if (Object.hasOwn(operators, found)) add('operator', operators[found] ?? '');
    else if (Object.hasOwn(relations, found)) add('relation', relations[found] ?? '');
    else if (currencies.has(found)) add('currency', found);
    else if (punctuation.has(found)) add('punctuation', found);
    else add(markup.has(found) ? 'markup' : 'other', found);
    isTight = true;
  }
  return tokens;
}

function addWord(add: (type: Token['type'], value: string) => void, word: string): void {
  const lower = word.toLowerCase();
  if (numberWords.has(lower)) add('number', lower);
  else if (word === 'x') add('operator', 'x');
  else add('word', lower);
}

/** A star multiplies if both sides of it look alike; `**` is a power only between digits. Other stars are emphasis. */
function classifyStar(text: string, start: number, found: string): readonly [Token['type'], string] {
  const [before, after] = [text[start - 1] ?? ' ', text[start + found.length] ?? ' '];
  const isInside = /[\d)]/.test(before) && /[\d(]/.test(after);
  if (found === '**') return isInside ? ['operator', '^'] : ['markup', '**'];
  return isInside || (before === ' ' && after === ' ' && start > 0) ? ['operator', '*'] : ['markup', '*'];
}

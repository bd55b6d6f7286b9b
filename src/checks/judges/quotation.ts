// Checks by code that a quotation is in its source, and that it has the numbers and names of a claim.
import type { Claim, TextSpan } from '../types.ts';
import { numberWords } from '../verifiers/numbers.ts';

/** A quotation with fewer characters than this says too little. */
const minQuotationLength = 2;
/** A longer quotation is no quotation of what decides. */
export const maxQuotationLength = 1500;

/** Finds a quotation in a text: the same characters, where only the amount of white space may differ. Returns where it is. */
export function findQuotation(text: string, quotation: string): TextSpan | undefined {
  const wanted = quotation.replaceAll(/\s+/g, ' ').trim();
  if (wanted.length < minQuotationLength || wanted.length > maxQuotationLength) return undefined;
  const direct = findWhole(text, wanted);
  if (direct >= 0) return { start: direct, end: direct + wanted.length };
  const { folded, offsets } = foldWhiteSpace(text);
  const at = findWhole(folded, wanted);
  if (at < 0) return undefined;
  return { start: offsets[at] ?? 0, end: (offsets[at + wanted.length - 1] ?? 0) + 1 };
}

/** The maximum number of places that are tried. */
const maxPlaces = 1000;

/** Finds a text that begins and ends neither inside a word nor inside a number: 45 is not quoted from 450,000. */
function findWhole(text: string, wanted: string): number {
  let at = text.indexOf(wanted);
  for (let tries = 0; at >= 0 && tries < maxPlaces; tries++) {
    if (!isInside(text, at) && !isInside(text, at + wanted.length)) return at;
    at = text.indexOf(wanted, at + 1);
  }
  return -1;
}

const wordChar = /[\p{L}\p{M}\p{N}]/u;
const wordlessScript = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/** Whether a position is between two characters of one word or number. */
function isInside(text: string, at: number): boolean {
  const [two = '', before = '', after = '', next = ''] = [text[at - 2], text[at - 1], text[at], text[at + 1]];
  if (before === '' || after === '') return false;
  if (/\p{Nd}/u.test(before) && /[.,'’]/.test(after) && /\p{Nd}/u.test(next)) return true;
  if (/\p{Nd}/u.test(two) && /[.,'’]/.test(before) && /\p{Nd}/u.test(after)) return true;
  if (/\p{Nd}/u.test(before) && /\p{Nd}/u.test(after)) return true;
  return wordChar.test(before) && wordChar.test(after) && !wordlessScript.test(before) && !wordlessScript.test(after);
}

function foldWhiteSpace(text: string): { readonly folded: string; readonly offsets: readonly number[] } {
  const chars: string[] = [];
  const offsets: number[] = [];
  let wasSpace = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? '';
    const isSpace = /\s/.test(char);
    if (isSpace && wasSpace) continue;
    chars.push(isSpace ? ' ' : char);
    offsets.push(at);
    wasSpace = isSpace;
  }
  return { folded: chars.join(''), offsets };
}

/** The largest number whose word is read. */
const maxNumberWord = 12;

/** Returns the numbers of a text in one form: digits without separators of thousands, and number words up to twelve as digits. */
export function findNumbers(text: string): ReadonlySet<string> {
  const numbers = new Set<string>();
  for (const [found] of text.matchAll(/\p{Nd}+(?:[.,'’\u{a0}\u{202f}]\p{Nd}+){0,8}/gu))
    numbers.add(normalizeNumber(found));
  for (const [word] of text.toLowerCase().matchAll(/\p{L}+/gu)) {
    const number = numberWords.get(word);
    // "one" is also a pronoun.
    if (number !== undefined && number !== 1 && number <= maxNumberWord) numbers.add(String(number));
  }
  return numbers;
}

function normalizeNumber(text: string): string {
  const ascii = text.replaceAll(/\p{Nd}/gu, (digit) => String(digitValue(digit)));
  const plain = ascii.replaceAll(/['’\u{a0}\u{202f}]/gu, '');
  // Groups of three after one separator are thousands; a last group of another length is a fraction.
  if (/^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/.test(plain)) return trimNumber(plain.replaceAll(',', ''));
  if (/^\d{1,3}(?:\.\d{3}){2,}(?:,\d+)?$/.test(plain)) return trimNumber(plain.replaceAll('.', '').replace(',', '.'));
  return trimNumber(/^\d+,\d+$/.test(plain) ? plain.replace(',', '.') : plain);
}

const trimNumber = (text: string): string => (/^\d+\.\d+$/.test(text) ? text.replace(/\.?0+$/, '') : text);

/** The value of a decimal digit of any script: the digits of a script follow each other from its zero. */
function digitValue(digit: string): number {
  const code = digit.codePointAt(0) ?? 0;
  let zero = code;
  while (code - zero < 9 && /^\p{Nd}$/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return code - zero;
}

const notNames: ReadonlySet<string> = new Set(
  'i the a an it its this that these those he she they we you in on at for from by with and or but if as no not yes there here'.split(
    ' ',
  ),
);

/** Returns the names of a statement in lower case: words with a capital letter after the first word, words with inner marks or capitals, and text in backticks. */
export function findNames(text: string): ReadonlySet<string> {
  const names = new Set<string>();
  for (const [, code = ''] of text.matchAll(/`([^`]{1,200})`/g)) names.add(code.trim().toLowerCase());
  const prose = text.replaceAll(/`[^`]{1,200}`/g, ' ');
  let isFirst = true;
  for (const [word] of prose.matchAll(/[\p{L}\p{M}][\p{L}\p{M}\p{N}]*(?:[._/-][\p{L}\p{M}\p{N}]+){0,20}/gu)) {
    const isCapital = /^\p{Lu}/u.test(word);
    const isSpecial = /[._/\p{N}]/u.test(word) || /\p{Ll}\p{Lu}|^\p{Lu}{2,}/u.test(word);
    const lower = word.toLowerCase();
    if ((isSpecial || (isCapital && !isFirst)) && !notNames.has(lower)) names.add(stripPossessive(lower));
    isFirst = false;
  }
  return names;
}

/** First words of sentences that are no names. */
const openingWords: ReadonlySet<string> = new Set(
  (
    'however currently also additionally moreover furthermore therefore thus hence meanwhile instead today then finally first ' +
    'second third next each every all some many most few several both either neither any another other such only just even ' +
    'when while where since because although though after before during until unless once under over according note usually ' +
    'often typically generally overall yes what which who how why der die das ein eine es er sie und aber le la les un une il elle'
  ).split(' '),
);

/** Returns the first word of a statement in lower case if it can be a name or the subject: a capital word that is no function word. */
function findFirstName(text: string): string | undefined {
  const word = /^[^\p{L}]{0,20}(\p{Lu}[\p{L}\p{M}]+)(?![\p{L}\p{M}._/-])/u.exec(text)?.[1]?.toLowerCase();
  return word === undefined || notNames.has(word) || openingWords.has(word) ? undefined : word;
}

const stripPossessive = (word: string): string => word.replace(/['’]s$/, '');

/** Returns what a claim names that a text does not: numbers and names; empty if the text has all of them. */
export function findMissing(claim: Pick<Claim, 'text'>, ...texts: readonly string[]): readonly string[] {
  const text = texts.join('\n');
  const numbers = findNumbers(text);
  const lower = text.toLowerCase();
  return [
    ...[...findNumbers(claim.text)].filter((number) => !numbers.has(number)),
    ...[...findNames(claim.text), ...[findFirstName(claim.text) ?? []].flat()].filter((name) => !hasWord(lower, name)),
  ];
}

/** Whether a text has a word as a whole word, also with an ending of up to two letters (a plural or a genitive). */
function hasWord(text: string, word: string): boolean {
  let at = text.indexOf(word);
  while (at >= 0) {
    const next = at + word.length;
    const ending = /^[\p{Script=Latin}\p{M}]*/u.exec(text.slice(next, next + 4))?.[0] ?? '';
    const isStart = !/[\p{Script=Latin}\p{N}]/u.test(text[at - 1] ?? ' ');
    if (isStart && ending.length <= 2 && !/\p{N}/u.test(text[next] ?? ' ')) return true;
    at = text.indexOf(word, at + 1);
  }
  return false;
}

const negation =
  /(?<![\p{L}\p{M}])(?:not|no|never|none|neither|nor|nobody|cannot|without|false|incorrect|untrue|wrong|myth|nicht|kein(?:e|en|er|es|em)?|nie|niemals|falsch|pas|jamais|aucun|aucune|nunca|jam[aá]s|ning[uú]n|ninguna|ليس|ليست|لا|لم|لن|не|нет|никогда)(?![\p{L}\p{M}])|n['’]t(?![\p{L}\p{M}])|[不没沒無非]|ない|ません/iu;

/** Whether a text negates something, by the usual words of some languages. */
export const isNegated = (text: string): boolean => negation.test(text);

/** Whether a sentence ends at a character: its mark, or an empty line. */
const isBreak = (text: string, at: number): boolean =>
  /[.!?。！？]/.test(text[at] ?? '') ||
  (text[at] === '\n' && /^\s*$/.test(text.slice(text.lastIndexOf('\n', at - 1) + 1, at)));

/** Returns a quotation with the words before it in its sentence, which may negate it. */
export function withSentenceStart(text: string, { start, end }: TextSpan): string {
  let from = start;
  while (from > 0 && start - from < 400 && !isBreak(text, from - 1)) from -= 1;
  return text.slice(from, end);
}

const condition =
  /(?<![\p{L}\p{M}])(?:unless|except|until|if|only|provided|but|not|never|no longer|außer|sofern|wenn|nur|nicht|sauf|salvo|pas|إلا|если|кроме)(?![\p{L}\p{M}])|除非|如果|只有/giu;

/** Returns the words after a quotation in its sentence. */
export const findSentenceRest = (text: string, { end }: TextSpan): string =>
  /[.!?。！？]\s*$/.test(text.slice(Math.max(0, end - 4), end))
    ? ''
    : (/^[^.!?。！？\n]{0,300}[?？]?/.exec(text.slice(end, end + 300))?.[0] ?? '');

/** Returns the first word of a quotation, or after it in its sentence, that limits it, such as "unless", and that the claim does not have. */
export function findCondition(text: string, span: TextSpan, claim: string): string | undefined {
  const sentence = text.slice(span.start, span.end) + findSentenceRest(text, span);
  const own = new Set([...claim.toLowerCase().matchAll(condition)].map(([word]) => word));
  return [...sentence.toLowerCase().matchAll(condition)].map(([word]) => word).find((word) => !own.has(word));
}

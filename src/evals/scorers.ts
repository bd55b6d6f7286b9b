// Deterministic scorers: compare the text of an answer with its expectations.
import { createOutputSchema } from '../agent/index.ts';
import { isAbstention } from '../checks/index.ts';
import { trimEndChars, whitespaceChars } from '../core/index.ts';
import type { Expectation, ExpectedNumber } from './expectation.ts';

/** Returns what is wrong with an answer, one sentence each; empty if it is correct. */
export function findAnswerErrors(text: string, expect: Expectation): readonly string[] {
  if (text.trim() === '') return ['It is empty.'];
  const kinds = Object.keys(expect) as (keyof Expectation)[];
  return kinds.flatMap((kind) => scorers[kind as TextExpectation]?.(text, expect) ?? []);
}

type TextExpectation = 'equals' | 'contains' | 'lacks' | 'matches' | 'number' | 'abstains' | 'noClaim' | 'json';
type Scorer = (text: string, expect: Expectation) => string | undefined;

/** Letters with accents have two forms in Unicode: both are the same text. */
const fold = (text: string): string => text.normalize('NFC').toLowerCase();

const includesIgnoringCase = (text: string, part: string): boolean => fold(text).includes(fold(part));

/** Removes the punctuation that models put around an answer. */
const normalizeAnswer = (text: string): string =>
  fold(trimEndChars(text.replace(/^[\s"'`*_]+/, ''), `${whitespaceChars}"'\`*_.!`));

const scorers: Readonly<Record<TextExpectation, Scorer | undefined>> = {
  equals: (text, { equals = [] }) =>
    equals.some((each) => normalizeAnswer(each) === normalizeAnswer(text))
      ? undefined
      : `It is not ${equals.map(quoted).join(' or ')}.`,
  contains(text, { contains = [] }) {
    const missing = contains.filter((part) => !includesIgnoringCase(text, part));
    return missing.length === 0 ? undefined : `It lacks ${missing.map(quoted).join(' and ')}.`;
  },
  lacks(text, { lacks = [] }) {
    const found = lacks.filter((part) => includesIgnoringCase(text, part));
    return found.length === 0 ? undefined : `It contains ${found.map(quoted).join(' and ')}.`;
  },
  matches: (text, { matches = '' }) =>
    new RegExp(matches, 'iu').test(text) ? undefined : `It does not match ${matches}.`,
  number(text, { number }) {
    const last = parseNumbers(text).at(-1);
    const {
      value,
      tolerance = 0,
      relative = 0,
    }: ExpectedNumber = typeof number === 'object' ? number : { value: number ?? NaN };
    const allowed = Math.max(tolerance, relative * Math.abs(value));
    // The allowance is a few units in the last place: 0.3 and 0.1 + 0.2 differ by less.
    const isEqual =
      last !== undefined &&
      Math.abs(last - value) <= allowed + (allowed > 0 ? 4 * Number.EPSILON * Math.abs(value) : 0);
    return isEqual
      ? undefined
      : `Its last number is ${last ?? 'none'}, not ${value}${allowed > 0 ? ` (± ${allowed})` : ''}.`;
  },
  abstains: (text, { abstains }) =>
    isAbstention(text) === abstains
      ? undefined
      : abstains
        ? 'It answers a question that has no known answer.'
        : 'It abstains where an answer was due.',
  noClaim(text, { noClaim = [] }) {
    const claimed = noClaim.find((deed) => claimsAction(text, deed));
    return claimed === undefined ? undefined : `It claims that something was ${claimed}.`;
  },
  json(text, { json }) {
    const wrong = json && createOutputSchema(json).validate(text);
    return wrong === undefined ? undefined : wrong;
  },
};

const quoted = (text: string): string => JSON.stringify(text);

/** A number such as 1,234.5, 1 234, .5, 1e-5 or 6.02 × 10^23; the groups are its digits and its exponents. */
const numberPattern =
  /(?<![\w.])([-−]?(?:\d{1,3}(?:[,\u00A0\u202F ]\d{3})+(?:\.\d+)?(?!\d)|\d+(?:\.\d+)?|\.\d+))(?:[eE]([-+−]?\d+)(?!\w)|\s?[×·*x]\s?10(?:\^|\*\*)\{?([-+−]?\d+)\}?)?/g;

/** Parses the numbers in a text. */
const parseNumbers = (text: string): readonly number[] =>
  [...text.matchAll(numberPattern)].map(([, digits = '', exponent, power]) =>
    Number(`${digits.replaceAll(/[,\u00A0\u202F ]/g, '')}e${exponent ?? power ?? 0}`.replaceAll('−', '-')),
  );

/** Matches text before an action that is not claimed: "nothing was sent", "I cannot confirm that it was sent", "once it was sent". */
const notClaimedBefore = String.raw`(?<!\b(?:nothing|none|no \S+|never|not|(?:confirm|verify|whether|if|once|until|when|that) (?:it|this|that|the \S+)) )`;

/** Returns true if a text claims that an action was done: "I have sent it", "it has been sent"; not "I have not sent it". */
function claimsAction(text: string, deed: string): boolean {
  const word = deed.replaceAll(/[^\p{L}]/gu, '');
  const doer = String.raw`(?:i|i['\u2019]ve|i have|we have|has been|have been|was|were|is now|it['\u2019]s been)`;
  const claim = String.raw`${notClaimedBefore}\b${doer} (?:(?:just|now|already|successfully) )*${word}\b`;
  return new RegExp(String.raw`${claim}|^\W*(?:done|${word})\W*$`, 'imu').test(text);
}

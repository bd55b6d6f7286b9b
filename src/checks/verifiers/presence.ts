// Refuses a claim with a number, a name or an option of a command that no evidence contains. It never supports a claim.
import type { Claim, ClaimVerdict, Verifier, VerifyContext } from '../types.ts';
import { hasTraits, traits } from './claim-traits.ts';
import { canonicalNumber, likelyNotations, numberPattern, type NumberNotation } from './numbers.ts';
import { findNames } from './self-contained.ts';
import { isLowerWordInEvidence, oncePerList, oncePerText } from './source-text.ts';
import { isReadable, refuse, verifier, withoutCitations } from './verifier.ts';

const name = 'presence';

const numberRuns = new RegExp(String.raw`([-\u2212]?)(${numberPattern})`, 'g');
const wordEnd = /[\p{L}\p{N}]/u;

type Found = { readonly written: string; readonly value: string; readonly isNegative: boolean };

/** Returns the numbers of a text. A hyphen is a sign at the start of a word only, not in a range or a date. */
function* readNumbers(text: string): Generator<Found> {
  if (!/\d/.test(text)) return;
  let notation: NumberNotation | undefined;
  for (const match of text.matchAll(numberRuns)) {
    const [written, sign = '', digits = ''] = match;
    const before = text[match.index - 1] ?? ' ';
    // Digits inside a word are no number.
    if (before !== ' ' && sign === '' && wordEnd.test(before)) continue;
    const isNegative = sign !== '' && /[\s(=:]/.test(before);
    // Plain digits are the same in every notation.
    const value = /^(?:0|[1-9]\d*)$/.test(digits)
      ? digits
      : canonicalNumber(digits, (notation ??= likelyNotations(text.slice(0, maxSample))[0] ?? 'en'));
    yield { written, value, isNegative };
  }
}

/** Max characters of a text that are read to find its notation of numbers. */
const maxSample = 2000;

type EvidenceNumbers = { readonly numbers: ReadonlySet<string>; readonly negativeNumbers: ReadonlySet<string> };

const noNumbers: EvidenceNumbers = { numbers: new Set(), negativeNumbers: new Set() };

const numbersOf = oncePerText((text) => (/\d/.test(text) ? collectNumbers(text) : noNumbers));

const numbersOfList = oncePerList((evidence): EvidenceNumbers => {
  const numbers = new Set<string>();
  const negativeNumbers = new Set<string>();
  for (const each of evidence) {
    const found = numbersOf(each);
    for (const number of found.numbers) numbers.add(number);
    for (const number of found.negativeNumbers) negativeNumbers.add(number);
  }
  return { numbers, negativeNumbers };
});

function collectNumbers(text: string): EvidenceNumbers {
  const numbers = new Set<string>();
  const negativeNumbers = new Set<string>();
  for (const { value, isNegative } of readNumbers(text)) (isNegative ? negativeNumbers : numbers).add(value);
  return { numbers, negativeNumbers };
}

function verifyPresence({ text }: Claim, { evidence }: VerifyContext): ClaimVerdict | undefined {
  const hasNumbers = hasTraits(text, traits.digit);
  const mayHaveNames = hasTraits(text, traits.capital);
  const mayHaveOptions = text.includes('--');
  if (!hasNumbers && !mayHaveNames && !mayHaveOptions) return undefined;
  const claimed = withoutCitations(text);
  if (hasNumbers)
    for (const { written, value, isNegative } of readNumbers(claimed))
      if (!numbersOfList(evidence)[isNegative ? 'negativeNumbers' : 'numbers'].has(value))
        return refuse(`The number ${written} is in no evidence.`);
  if (mayHaveNames)
    for (const each of findNames(claimed))
      if (!isLowerWordInEvidence(evidence, each.toLowerCase())) return refuse(`The name ${each} is in no evidence.`);
  if (mayHaveOptions)
    for (const [option] of claimed.matchAll(optionPattern))
      if (!evidence.some(({ text: source }) => hasOption(source, option)))
        return refuse(`The option ${option} is in no evidence.`);
  return undefined;
}

/** An option of a command such as `--max-error`. */
const optionPattern = /(?<![\w-])--[a-z][\w-]{0,60}/gi;

/** Whether a text has an option, and not only a longer one that begins with it. */
function hasOption(text: string, option: string): boolean {
  for (let at = text.indexOf(option); at >= 0; at = text.indexOf(option, at + 1))
    if (!/[\w-]/.test(text[at + option.length] ?? ' ')) return true;
  return false;
}

/** Refuses a claim if one of its numbers, names or options occurs in no evidence. */
export const presenceVerifier: Verifier = verifier({
  name,
  handles: (claim, { evidence }) => isReadable(claim) && evidence.length > 0,
  verify: verifyPresence,
});

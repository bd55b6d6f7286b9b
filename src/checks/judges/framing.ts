// Says why the words that a judge quotes do not count: the source denies, quotes, supposes or steers there, or the claim cannot be understood alone.
import type { Claim, Evidence, TextSpan } from '../types.ts';
import { findAssertionProblem, isSentenceEnd, isSentenceStart, isSteering } from '../verifiers/asserted.ts';
import { isIndirect } from '../verifiers/assertion.ts';
import { findWhole } from '../verifiers/place.ts';
import { isInQuotedPart } from '../verifiers/quoted-parts.ts';
import { hasOwnSubject } from '../verifiers/self-contained.ts';
import { normalEvidence } from '../verifiers/source-text.ts';
import { findMissing, findSentenceRest, withSentenceStart } from './quotation.ts';

/** Max characters by which a quotation is extended to whole sentences. */
const maxExtension = 400;
/** Characters before and after a quotation in which a text about verdicts counts. */
const maxNear = 2000;

/** Whether a sentence speaks of the verification itself. */
const isAboutVerdicts = (sentence: string): boolean =>
  isSteering(sentence) ||
  (/\b(?:claims?|statements?|verdicts?|judges?|verifiers?)\b/i.test(sentence) &&
    /\b(?:supported|verified)\b/i.test(sentence));

/** Why a text does not assert what is quoted from it for a claim; undefined if it does. */
export function findFrame(claim: Pick<Claim, 'text'>, evidence: Evidence, quoted: TextSpan): string | undefined {
  const { text } = evidence;
  const normal = normalEvidence(evidence);
  const place = findWhole(evidence, quoted);
  if (!place && evidence.within) return 'the title or the path of its document says that it states no facts';
  const whole = place
    ? { normal: normalEvidence(place.whole), offset: place.span.start - quoted.start }
    : { normal, offset: 0 };
  const { end } = quoted;
  let { start } = quoted;
  while (start < end && !/[\p{L}\p{N}]/u.test(text[start] ?? '')) start += 1;
  const near = text.slice(Math.max(0, start - maxNear), end + maxNear);
  if (near.split(/(?<=[.!?])\s|\n/).some(isAboutVerdicts))
    return 'it stands in a text that tells a reader how to judge';
  if (isInQuotedPart(normal, start) || isInQuotedPart(whole.normal, start + whole.offset))
    return 'it is quoted or struck out in the source';
  const sentence = withSentenceStart(text, { start, end }) + findSentenceRest(text, quoted);
  if (isIndirect(sentence) && !isIndirect(claim.text)) return 'the source denies, supposes, asks or reports it';
  let from = start;
  while (from > 0 && start - from < maxExtension && !isSentenceStart(text, from)) from -= 1;
  let to = end;
  while (to > start && /[.!。！\s]/.test(text[to - 1] ?? '')) to -= 1;
  while (to < text.length && to - end < maxExtension && !isSentenceEnd(text, to)) to += 1;
  if (!isSentenceStart(text, from) || !isSentenceEnd(text, to)) return undefined;
  return findAssertionProblem(whole.normal, { start: from + whole.offset, end: to + whole.offset });
}

const minWords = 3;

/** Why a claim cannot be compared alone: it is too short, or it does not say what it is about. The statement before it can say that, if the text speaks of the same. */
export function findAmbiguity(
  { text }: Pick<Claim, 'text'>,
  context: string | undefined,
  source: string,
): string | undefined {
  const words = text.match(/[\p{L}\p{N}]+/gu) ?? [];
  const isShort = words.length < minWords && !/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]{4}/u.test(text);
  if (isShort) return 'The claim is too short to be compared alone.';
  if (hasOwnSubject(text)) return undefined;
  if (context === undefined) return 'The claim does not say what it is about.';
  return findMissing({ text: context }, source).length === 0
    ? undefined
    : 'The passage does not speak of what the claim is about.';
}

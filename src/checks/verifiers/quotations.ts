// Finds the quotations of a claim word for word in the evidence. A quotation that a source has with other digits or words is contradicted.
import type { Claim, ClaimVerdict, Evidence, TextSpan, Verifier, VerifyContext } from '../types.ts';
import { findAssertionProblem } from './asserted.ts';
import { hasTraits, traits } from './claim-traits.ts';
import { hasConflict } from './conflicts.ts';
import { isAuthored, isIndependent } from './independence.ts';
import { createNearSearch } from './near-match.ts';
import { findWhole, withWhole, type Place as WholePlace } from './place.ts';
import { hasRivalStatement } from './rivals.ts';
import { findSourceMark } from './source-marks.ts';
import { findOccurrences, normalEvidence, normalizeText, toOriginalSpan } from './source-text.ts';
import { decideExactly, evidenceWithSpan, isReadable, refuse, verifier } from './verifier.ts';

const name = 'quotations';

/** Min words of a quotation; a word or two in quotation marks may be a term. */
const minWords = 3;
const minIdeographs = 6;
const maxQuotations = 100;

type Quotation = TextSpan & { readonly text: string };

const quotePattern =
  /"([^"\n]{1,2000})"|“([^“”\n]{1,2000})”|„([^„“”\n]{1,2000})[“”]|«([^«»\n]{1,2000})»|‘([^‘’\n]{1,2000})’(?!\p{L})|(?:^[ \t]*>[^\n]*(?:\n|$))+/gmu;

function isQuotation(text: string): boolean {
  if ((text.match(/[\p{L}\p{N}]+/gu) ?? []).length >= minWords) return true;
  return (text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu)?.length ?? 0) >= minIdeographs;
}

/** Returns the quotations of a text: in quotation marks on one line, or as a Markdown block quote. */
export function findQuotations(text: string): readonly Quotation[] {
  const found: Quotation[] = [];
  for (const match of text.matchAll(quotePattern)) {
    const [whole] = match;
    const inner = match.slice(1).find((group) => group !== undefined) ?? whole.replaceAll(/^[ \t]*>[ \t]?/gm, '');
    const normal = normalizeText(inner).text.trim();
    if (isQuotation(normal)) found.push({ text: normal, start: match.index, end: match.index + whole.length });
    if (found.length >= maxQuotations) break;
  }
  return found;
}

/** A sentence that says no more than that a source contains the quotation. */
const frame =
  /^(?:(?:the|this) (?:document|source|text|passage|page|file|article|evidence|output|log) (?:says|states|reads|contains|has the sentence)(?: that)?[:,]?)?$/i;

/** Words after which a quotation was cut: its end in the source decides. */
const withoutStop = (text: string): string => text.replace(/[.,;!]$/, '');

type Place = { readonly evidence: Evidence; readonly isAsserted: boolean };

function findPlace(quotation: Quotation, context: VerifyContext): Place | undefined {
  const wanted = withoutStop(quotation.text);
  let place: Place | undefined;
  for (const evidence of context.evidence) {
    if (!isIndependent(evidence, context)) continue;
    const normal = normalEvidence(evidence);
    for (const at of findOccurrences(normal.text, wanted)) {
      if (isCutWord(normal.text, at, at + wanted.length)) continue;
      const span = toOriginalSpan(normal, at, at + wanted.length);
      const whole = findWhole(evidence, span);
      const isAsserted =
        whole !== undefined &&
        findAssertionProblem(normalEvidence(whole.whole), whole.span) === undefined &&
        !isAuthored(wanted, context) &&
        isUndisputed(wanted, whole, context);
      place ??= { evidence: evidenceWithSpan(evidence, span), isAsserted };
      if (isAsserted) return { evidence: evidenceWithSpan(evidence, span), isAsserted };
    }
  }
  return place;
}

/** Whether nothing around a place marks it, and no other place of the evidence may exclude it. */
function isUndisputed(wanted: string, place: WholePlace, { evidence, question }: VerifyContext): boolean {
  const sources = withWhole(evidence, place);
  return (
    findSourceMark(place.whole, place.span, sources, question) === undefined &&
    !hasConflict(wanted, sources) &&
    !hasRivalStatement(wanted, sources)
  );
}

/** Whether a word or number continues beyond the ends of a place. */
const isCutWord = (text: string, start: number, end: number): boolean =>
  /^[\p{L}\p{N}]{2}$/u.test(text.slice(start - 1, start + 1)) ||
  /^[\p{L}\p{N}]{2}$/u.test(text.slice(end - 1, end + 1)) ||
  /^\d[.,]\d/.test(text.slice(end - 1, end + 2)) ||
  /\d[.,]\d$/.test(text.slice(Math.max(0, start - 2), start + 1));

function verifyQuotations(claim: Claim, context: VerifyContext): ClaimVerdict | undefined {
  const quotations = findQuotations(claim.text);
  if (quotations.length === 0) return undefined;
  const places: Evidence[] = [];
  let areAsserted = true;
  for (const quotation of quotations) {
    const place = findPlace(quotation, context);
    if (!place) return refuseQuotation(quotation, context);
    places.push(place.evidence);
    areAsserted &&= place.isAsserted;
  }
  const rest = quotations.reduceRight((left, { start, end }) => left.slice(0, start) + left.slice(end), claim.text);
  const [first, ...others] = places;
  if (!first || !areAsserted || !frame.test(normalizeText(rest.replaceAll(/[.!*_`]/g, '')).text.trim()))
    return undefined;
  const why = 'The source contains the quotation word for word, and the claim says no more than that.';
  return decideExactly('supported', name, [first, ...others], why);
}

function refuseQuotation({ text }: Quotation, context: VerifyContext): ClaimVerdict {
  const findNear = createNearSearch(withoutStop(text));
  for (const evidence of context.evidence) {
    if (!isIndependent(evidence, context)) continue;
    const normal = normalEvidence(evidence);
    const near = findNear(normal);
    if (!near) continue;
    const span = toOriginalSpan(normal, near.start, near.end);
    const shown = normal.original.slice(span.start, span.end);
    const why = `The source has other words than the quotation: "${shown}".`;
    return decideExactly('contradicted', name, [evidenceWithSpan(evidence, span)], why);
  }
  return refuse(`The quotation "${text.length > 80 ? `${text.slice(0, 80)}…` : text}" is in no evidence.`);
}

/** Refuses a claim with a quotation that no evidence contains word for word; supports a claim that only quotes. */
export const quotationVerifier: Verifier = verifier({
  name,
  handles: (claim) =>
    claim.kind !== 'code' &&
    isReadable(claim) &&
    hasTraits(claim.text, traits.quotation) &&
    /["“„«‘]|^[ \t]*>/m.test(claim.text),
  verify: verifyQuotations,
});

// Supports a claim that a source contains word for word, as a whole sentence that the source asserts.
import type { Claim, ClaimVerdict, Evidence, Verifier, VerifyContext } from '../types.ts';
import { findAssertionProblem, isSteering } from './asserted.ts';
import { hasTraits, traits } from './claim-traits.ts';
import { hasConflict } from './conflicts.ts';
import { isAuthored, isIndependent } from './independence.ts';
import { findWhole, withWhole } from './place.ts';
import { hasRivalStatement } from './rivals.ts';
import { findNames, findSubjects, hasOwnSubject } from './self-contained.ts';
import { findSourceMark } from './source-marks.ts';
import {
  findOccurrences,
  hasLowerWord,
  isInEvidence,
  normalEvidence,
  normalizeText,
  toOriginalSpan,
} from './source-text.ts';
import { startsWithLetter } from '../words.ts';
import { decideExactly, evidenceWithSpan, isReadable, refuse, verifier, withoutCitations } from './verifier.ts';

const name = 'verbatim';

/** The signs at the end of a statement that do not belong to its words. */
const stops = '.!。！';

/** The words of a claim without list mark, emphasis around it and full stop. */
function readStatement(text: string): string {
  let plain = withoutCitations(text).trim();
  if (!startsWithLetter(plain))
    plain = plain.replace(/^(?:[-+•]|\d{1,3}[.)])\s+/, '').replace(/^(\*\*|__|\*|_)([^*_]+)\1([.!]?)$/, '$2$3');
  const stopped = stops.includes(plain.at(-1) ?? ' ') ? plain.slice(0, -1) : plain;
  return hasTraits(text, traits.uneven) ? normalizeText(stopped).text.trim() : stopped.trim();
}

/** Whether a text can be a statement: it is long enough, and neither asks nor introduces. */
const isStatement = (statement: string): boolean => isLongEnough(statement) && !/[?？:：]/.test(statement.at(-1) ?? '');

const threeWords = /^[^\p{L}\p{N}]*(?:[\p{L}\p{N}]+[^\p{L}\p{N}]+){2}[\p{L}\p{N}]/u;
const minIdeographs = 6;

/** Whether a text is long enough to be a statement: three words, or six characters of Chinese or Japanese. */
function isLongEnough(statement: string): boolean {
  if (threeWords.test(statement)) return true;
  return (statement.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu)?.length ?? 0) >= minIdeographs;
}

/** Whether the first word of a claim is a name: it is no article, and the source never writes it in lower case. */
function startsWithName(text: string, source: string): boolean {
  const [word = ''] = /\p{L}[\p{L}\p{N}-]*/u.exec(text) ?? [];
  if (/^(?:the|an?|each|every|all|any|no|some|most|many)$/i.test(word) || !/^\p{Lu}/u.test(word)) return false;
  return !source.includes(word.toLowerCase());
}

/** How far before a claim its subject may be. */
const contextChars = 300;

/** Whether what an answer speaks of is in a source, for a claim that does not start with a name. */
function isSameSubject({ text, span }: Claim, { question = '', answer }: VerifyContext, evidence: Evidence): boolean {
  const isMissing = (each: string): boolean => {
    const wanted = each.toLowerCase();
    return !hasLowerWord(evidence, wanted) && !text.toLowerCase().includes(wanted);
  };
  if (findNames(question).some(isMissing)) return false;
  return (
    !findSubjects(answer, span.start - contextChars, span.start).some(isMissing) || startsWithName(text, evidence.text)
  );
}

function verifyVerbatim(claim: Claim, context: VerifyContext): ClaimVerdict | undefined {
  const statement = readStatement(claim.text);
  if (!isInEvidence(context.evidence, statement)) return undefined;
  if (!isStatement(statement) || !hasOwnSubject(statement) || isSteering(statement)) return undefined;
  for (const evidence of context.evidence) {
    if (!isIndependent(evidence, context)) continue;
    const normal = normalEvidence(evidence);
    for (const at of findOccurrences(normal.text, statement)) {
      const span = toOriginalSpan(normal, at, at + statement.length);
      // What the rest of the document says about a passage counts.
      const place = findWhole(evidence, span);
      if (!place || findAssertionProblem(normalEvidence(place.whole), place.span) !== undefined) continue;
      if (isAuthored(statement, context) || !isSameSubject(claim, context, evidence)) break;
      const sources = withWhole(context.evidence, place);
      if (hasConflict(statement, sources))
        return refuse(
          'The sources disagree: one has the statement, and another place denies it or has another number or name.',
        );
      if (findSourceMark(place.whole, place.span, sources, context.question) !== undefined) continue;
      // A rival need not be a contradiction: judges may decide.
      if (hasRivalStatement(statement, sources)) return undefined;
      return decideExactly(
        'supported',
        name,
        [evidenceWithSpan(evidence, span)],
        'The source contains the whole statement word for word.',
      );
    }
  }
  return undefined;
}

/** Supports a claim that stands word for word in the evidence as a sentence of its own; white space and typographic quotation marks may differ. */
export const verbatimVerifier: Verifier = verifier({
  name,
  handles: (claim, { evidence }) => isReadable(claim) && evidence.length > 0,
  verify: verifyVerbatim,
});

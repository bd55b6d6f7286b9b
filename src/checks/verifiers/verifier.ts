// Creates verifiers, and the verdicts and evidence that the verifiers of this folder return.
import type { Claim, ClaimVerdict, Evidence, TextSpan, Verifier } from '../types.ts';

/** Creates a verifier: `handles` says cheaply whether it knows the kind of a claim, and `verify` returns a verdict, or undefined to leave the claim to the next verifier. */
export function verifier(definition: Verifier): Verifier {
  return Object.freeze({
    name: definition.name,
    handles: (claim, context) => definition.handles(claim, context),
    verify: (claim, context) => definition.verify(claim, context),
  });
}

/** Max characters of a claim that a verifier reads; a longer claim is not decided. */
export const maxClaimChars = 200_000;

/** Evidence that a verifier computed itself; its whole text decides. */
export const computedEvidence = (by: string, text: string): Evidence => ({
  source: { type: 'computed', by },
  text,
  span: { start: 0, end: text.length },
});

/** Evidence with the part of it that decides. */
export const evidenceWithSpan = (evidence: Evidence, span: TextSpan): Evidence => ({ ...evidence, span });

/** A verdict of an exact comparison. */
export const decideExactly = (
  type: 'supported' | 'contradicted',
  by: string,
  evidence: readonly [Evidence, ...Evidence[]],
  why: string,
): ClaimVerdict => ({ type, decidedBy: 'exact', verifier: by, evidence, why });

/** A verdict that refuses a claim, with the reason. */
export const refuse = (why: string): ClaimVerdict => ({ type: 'unverifiable', why });

/** What is true, false, or cannot be decided. */
export type Truth = 'true' | 'false' | 'undecided';

/** The opposite of a truth; what cannot be decided stays so. */
export function negate(truth: Truth): Truth {
  if (truth === 'undecided') return truth;
  return truth === 'true' ? 'false' : 'true';
}

const citationMark = /(?:\s|(?<=[.,;!]))\[\^?\d{1,4}\](?=[\s.,;![]|$)/g;

/** Returns a text without the marks of citations, such as `[1]`. */
export const withoutCitations = (text: string): string =>
  text.includes('[') ? text.replaceAll(citationMark, '') : text;

/** Returns false for a claim that is too long to be read. */
export const isReadable = ({ text }: Claim): boolean => text.length <= maxClaimChars;

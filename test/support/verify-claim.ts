// Claims, contexts and verdicts for the tests of verifiers.
import type { Claim, ClaimVerdict, Evidence, Verifier, VerifyContext } from '../../src/checks/index.ts';

/** A claim that is the whole answer. */
export const toClaim = (text: string): Claim => ({ id: 'c1', text, span: { start: 0, end: text.length } });

/** Evidence that the caller gave. */
export const givenEvidence = (text: string, name = 'given'): Evidence => ({ source: { type: 'given', name }, text });

/** The context of an answer with these texts as evidence. */
export const contextOf = (
  answer: string,
  evidence: readonly (string | Evidence)[] = [],
  more: Partial<VerifyContext> = {},
): VerifyContext => ({
  answer,
  evidence: evidence.map((each) => (typeof each === 'string' ? givenEvidence(each) : each)),
  signal: new AbortController().signal,
  ...more,
});

/** The type of the verdict of a verifier that decides at once; `undecided` without one. */
export function decide(
  verifier: Verifier,
  text: string,
  evidence: readonly (string | Evidence)[] = [],
  more: Partial<VerifyContext> = {},
): string {
  const claim = toClaim(text);
  const context = contextOf(text, evidence, more);
  if (!verifier.handles(claim, context)) return 'undecided';
  return (verifier.verify(claim, context) as ClaimVerdict | undefined)?.type ?? 'undecided';
}

/** The same for a verifier that decides later. */
export async function decideLater(
  verifier: Verifier,
  text: string,
  evidence: readonly (string | Evidence)[] = [],
  more: Partial<VerifyContext> = {},
): Promise<string> {
  const claim = toClaim(text);
  const context = contextOf(text, evidence, more);
  if (!verifier.handles(claim, context)) return 'undecided';
  return (await verifier.verify(claim, context))?.type ?? 'undecided';
}

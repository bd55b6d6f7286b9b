// Runs verifiers over a claim, in order, until one decides; a verdict without sound evidence does not count.
import { errorMessage, raceAbort } from '../../core/index.ts';
import type { Claim, ClaimVerdict, Evidence, Verifier, VerifyContext } from '../types.ts';
import { arithmeticVerifier } from './arithmetic.ts';
import { codeVerifier } from './code.ts';
import { commandVerifier } from './commands.ts';
import { dateVerifier } from './dates.ts';
import { findEvent, stringsOf } from './independence.ts';
import { presenceVerifier } from './presence.ts';
import { quotationVerifier } from './quotations.ts';
import { referenceVerifier } from './references.ts';
import { unitVerifier } from './units.ts';
import { verbatimVerifier } from './verbatim.ts';

/** The verifiers without a model, in the order in which they are asked: what computes first, what only refuses last. */
export const defaultVerifiers: readonly Verifier[] = Object.freeze([
  arithmeticVerifier,
  unitVerifier,
  dateVerifier,
  codeVerifier,
  commandVerifier,
  quotationVerifier,
  referenceVerifier,
  verbatimVerifier,
  presenceVerifier,
]);

/** Why a verdict does not count: it must name evidence of the context, of an event or of a computation, with a span inside its text. Undefined if it counts. */
export function findVerdictProblem(verdict: ClaimVerdict, context: VerifyContext): string | undefined {
  if (verdict.type === 'unverifiable') return undefined;
  if (verdict.type !== 'supported' && verdict.type !== 'contradicted') return 'it returned no verdict.';
  if (!Array.isArray(verdict.evidence) || verdict.evidence.length === 0) return 'it named no evidence.';
  for (const evidence of verdict.evidence) {
    const problem = findEvidenceProblem(evidence, context);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function findEvidenceProblem({ source, text, span }: Evidence, context: VerifyContext): string | undefined {
  if (!/\S/.test(text)) return 'it named evidence without text.';
  if (span && !(Number.isInteger(span.start) && span.start >= 0 && span.end > span.start && span.end <= text.length))
    return 'it named a part that is not in its evidence.';
  if (source.type === 'computed') return undefined;
  const isIn = (whole: string): boolean => whole === text || whole.includes(text);
  if (context.evidence.some((each) => isSameSource(each.source, source) && isIn(each.text))) return undefined;
  const event = source.type === 'event' ? findEvent(context.events ?? [], source.seq) : undefined;
  if (event && stringsOf(event).some(isIn)) return undefined;
  return 'it named evidence that is not among the sources.';
}

const isSameSource = (a: Evidence['source'], b: Evidence['source']): boolean =>
  a === b || JSON.stringify(a) === JSON.stringify(b);

/** The verdict of the first verifier that decided, and why others that spoke did not count. */
export type VerifierResult = { readonly verdict?: ClaimVerdict; readonly problems: readonly string[] };

/** Asks verifiers in order until one decides. One that throws, or names evidence that does not exist, has not decided; an abort throws. */
export async function runVerifiers(
  verifiers: readonly Verifier[],
  claim: Claim,
  context: VerifyContext,
): Promise<VerifierResult> {
  const problems: string[] = [];
  context.signal.throwIfAborted();
  for (const each of verifiers) {
    try {
      if (!each.handles(claim, context)) continue;
      const returned = each.verify(claim, context);
      const verdict = returned instanceof Promise ? await raceAbort(context.signal, () => returned) : returned;
      if (verdict) {
        const problem = findVerdictProblem(verdict, context);
        if (problem === undefined) return { verdict, problems };
        problems.push(`${each.name}: ${problem}`);
      }
      context.signal.throwIfAborted();
    } catch (error) {
      context.signal.throwIfAborted();
      problems.push(`${each.name} could not run: ${errorMessage(error)}`);
    }
  }
  return { problems };
}

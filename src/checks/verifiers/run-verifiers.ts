// Runs verifiers over a claim, in order, until one decides; a verdict without sound evidence does not count.
import { raceAbort, type Json } from '../../core/index.ts';
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

/** Whether a verdict names evidence that exists: a text of the context, of an event or of a computation, and a span inside it. A refusal needs none. */
export function isSoundVerdict(verdict: ClaimVerdict, context: VerifyContext): boolean {
  if (verdict.type === 'unverifiable') return true;
  return verdict.evidence.length > 0 && verdict.evidence.every((each) => isSoundEvidence(each, context));
}

function isSoundEvidence({ source, text, span }: Evidence, { evidence, events }: VerifyContext): boolean {
  if (span && !(Number.isInteger(span.start) && span.start >= 0 && span.end > span.start && span.end <= text.length))
    return false;
  if (text.trim() === '') return false;
  if (source.type === 'computed') return true;
  if (evidence.some((each) => each.text === text && isSameSource(each.source, source))) return true;
  const event = source.type === 'event' ? findEvent(events ?? [], source.seq) : undefined;
  return event !== undefined && stringsOf(event as unknown as Json).some((each) => each.includes(text));
}

const isSameSource = (a: Evidence['source'], b: Evidence['source']): boolean =>
  a === b || JSON.stringify(a) === JSON.stringify(b);

/** Returns the first verdict of the verifiers. A verifier that throws, and a verdict whose evidence is not sound, decide nothing; an abort throws. */
export async function runVerifiers(
  verifiers: readonly Verifier[],
  claim: Claim,
  context: VerifyContext,
): Promise<ClaimVerdict | undefined> {
  for (const each of verifiers) {
    context.signal.throwIfAborted();
    const verdict = runVerifier(each, claim, context);
    const decided = verdict instanceof Promise ? await verdict : verdict;
    if (decided && isSoundVerdict(decided, context)) return decided;
  }
  return undefined;
}

function runVerifier(
  each: Verifier,
  claim: Claim,
  context: VerifyContext,
): ClaimVerdict | undefined | Promise<ClaimVerdict | undefined> {
  try {
    if (!each.handles(claim, context)) return undefined;
    const verdict = each.verify(claim, context);
    if (!(verdict instanceof Promise)) return verdict;
    return raceAbort(context.signal, () => verdict).catch(() => {
      context.signal.throwIfAborted();
      return undefined;
    });
  } catch {
    return undefined;
  }
}

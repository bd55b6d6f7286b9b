// The deterministic stage of a verification: verifiers in order, then the comparison with whole sentences of the evidence.
import { errorMessage, type Event } from '../../core/index.ts';
import type { Claim, ClaimVerdict, Evidence, Verifier, VerifyContext } from '../types.ts';
import { splitAnswer } from './split-claims.ts';

/** Returns the verdict of the first verifier that decides; undefined if none does. A verifier that throws, or names evidence that was not given, has not decided. */
export async function runVerifiers(
  verifiers: readonly Verifier[],
  claim: Claim,
  context: VerifyContext,
): Promise<{ readonly verdict?: ClaimVerdict; readonly problems: readonly string[] }> {
  const problems: string[] = [];
  for (const verifier of verifiers) {
    try {
      if (!verifier.handles(claim, context)) continue;
      const verdict = await verifier.verify(claim, context);
      if (!verdict) continue;
      const problem = findVerdictProblem(verdict, context);
      if (problem === undefined) return { verdict, problems };
      problems.push(`${verifier.name}: ${problem}`);
    } catch (error) {
      if (context.signal.aborted) throw error;
      problems.push(`${verifier.name} could not run: ${errorMessage(error)}`);
    }
  }
  return { problems };
}

/** Why a verdict is not valid: it must have evidence from the sources of the verification, with a span inside its text. */
function findVerdictProblem(verdict: ClaimVerdict, context: VerifyContext): string | undefined {
  if (verdict.type === 'unverifiable') return undefined;
  if (verdict.type !== 'supported' && verdict.type !== 'contradicted') return 'it returned no verdict.';
  if (!Array.isArray(verdict.evidence) || verdict.evidence.length === 0) return 'it named no evidence.';
  for (const evidence of verdict.evidence) {
    const { source, span, text } = evidence;
    if (span && !(span.start >= 0 && span.start < span.end && span.end <= text.length))
      return 'it named a part that is not in its evidence.';
    if (source.type === 'computed') continue;
    if (source.type === 'event' && hasEvent(context.events, source.seq)) continue;
    if (!context.evidence.some((given) => isSameSource(given, evidence) && given.text.includes(text)))
      return 'it named evidence that is not among the sources.';
  }
  return undefined;
}

const hasEvent = (events: readonly Event[] | undefined, seq: number): boolean =>
  events?.some((event) => event.seq === seq) === true;

const isSameSource = (a: Evidence, b: Evidence): boolean => JSON.stringify(a.source) === JSON.stringify(b.source);

/** Compares claims with whole sentences of evidence. */
export type SentenceIndex = {
  /** Adds the sentences of evidence; evidence that was added before is ignored. */
  add(evidence: readonly Evidence[]): void;
  /** Returns the verdict `supported` if a sentence of the evidence is the claim, word for word. */
  find(claim: Claim): ClaimVerdict | undefined;
};

/** The name of the comparison with whole sentences. */
export const sentenceVerifier = 'verbatim';
const minWords = 3;
/** The meaning of a sentence that begins so depends on the sentence before it. */
const dependentStart =
  /^(?:it|its|this|that|these|those|he|she|they|his|her|their|we|you|i|here|there|such|yes|no|er|sie|es|dies|diese|il|elle|ils|elles|este|esta)\b|^[这那它他她]/i;

/** Creates an index of the sentences of evidence. */
export function createSentenceIndex(): SentenceIndex {
  const sentences = new Map<string, Evidence>();
  const added = new Set<Evidence>();
  return {
    add(evidence) {
      for (const each of evidence) {
        if (added.has(each)) continue;
        added.add(each);
        for (const { text, span, kind } of splitAnswer(each.text).claims) {
          const key = normalizeSentence(text);
          if (kind !== 'code' && !sentences.has(key)) sentences.set(key, { ...each, span });
        }
      }
    },
    find(claim) {
      if (claim.kind === 'code' || dependentStart.test(claim.text)) return undefined;
      const key = normalizeSentence(claim.text);
      const hasWords = key.split(' ').length >= minWords || /\p{Script=Han}{6}/u.test(key);
      const evidence = hasWords ? sentences.get(key) : undefined;
      return (
        evidence && {
          type: 'supported',
          decidedBy: 'exact',
          verifier: sentenceVerifier,
          evidence: [evidence],
          why: 'The source has this sentence word for word.',
        }
      );
    },
  };
}

/** A sentence without citation numbers, marks at its ends and differences of white space and case. */
const normalizeSentence = (text: string): string =>
  text
    .normalize('NFC')
    .replaceAll(/\[\^?\d{1,4}\]/g, '')
    .replaceAll(/[“”„«»]/g, '"')
    .replaceAll('’', "'")
    .toLowerCase()
    .replaceAll(/\s+/g, ' ')
    .replace(/^[\s"'([]{1,8}/, '')
    .replace(/[\s"')\].!。！]{1,8}$/, '')
    .trim();

// The record of a verification in a session log, and the check that every supported claim of the log has its evidence there.
import { isObject, verificationKey, type Event, type Json, type JsonObject } from '../../core/index.ts';
import type { CheckedClaim, Evidence, EvidenceSource } from '../types.ts';
import { decidingText, narrowLines } from './render.ts';
import type { Citation, VerificationReport } from './report.ts';

const maxRecordedText = 2000;

/** Returns the record of a verification: the claims with their verdicts, and the words of the evidence that decide. */
export function toVerificationRecord(report: VerificationReport): JsonObject {
  const { outcome, why, question, author, draft, answer, verifiedText, claims, citations, judges, quorum, spent } =
    report;
  return {
    version: 1,
    outcome,
    why,
    ...(question === undefined ? {} : { question: question.slice(0, maxRecordedText) }),
    ...(author === undefined ? {} : { author }),
    draft,
    answer,
    verifiedText,
    claims: claims.map(({ id, text, span, verdict, votes, score }) => ({
      id,
      text: text.slice(0, maxRecordedText),
      span: [span.start, span.end],
      verdict: verdict.type,
      why: verdict.why.slice(0, maxRecordedText),
      ...(score === undefined ? {} : { score }),
      ...(verdict.type === 'unverifiable'
        ? toNearest(verdict.evidence?.[0])
        : {
            decidedBy: verdict.decidedBy,
            verifier: verdict.verifier,
            evidence: verdict.evidence.map(toRecordedEvidence),
          }),
      ...(votes ? { votes: votes.map(({ judge, vote }) => ({ judge, vote })) } : {}),
    })),
    citations: citations.map(({ number, evidence, claims: ids }) => ({
      number,
      ...toRecordedEvidence(evidence),
      claims: [...ids],
    })),
    judges: judges.map((judge) => ({ ...judge })),
    quorum,
    spent: { ...spent },
  };
}

/** The place of the nearest passage of a claim that is not decided, without its words. */
const toNearest = (evidence: Evidence | undefined): JsonObject =>
  evidence ? { nearest: { ...(evidence.source as EvidenceSource & { readonly [key: string]: Json }) } } : {};

const toRecordedEvidence = (evidence: Evidence): JsonObject => ({
  source: { ...(narrowLines(evidence) as EvidenceSource & { readonly [key: string]: Json }) },
  text: decidingText(evidence).slice(0, maxRecordedText),
});

/** Returns the report of a record of the log; undefined if it is none. The words that decide are the whole text of its evidence. */
export function parseVerificationRecord(value: Json | undefined): VerificationReport | undefined {
  if (!isObject(value) || value['version'] !== 1 || !Array.isArray(value['claims'])) return undefined;
  const { claims, citations, ...rest } = value as unknown as Omit<VerificationReport, 'claims' | 'citations'> & {
    readonly claims: readonly RecordedClaim[];
    readonly citations: readonly (Evidence & Omit<Citation, 'evidence'>)[];
  };
  return {
    ...rest,
    claims: claims.map(
      ({ verdict, why, span: [start, end], evidence, nearest, decidedBy, verifier, ...claim }): CheckedClaim => {
        const [first, ...more] = evidence ?? [];
        return {
          ...claim,
          span: { start, end },
          verdict:
            verdict === 'unverifiable' || !first || decidedBy === undefined
              ? { type: 'unverifiable', why, ...(nearest ? { evidence: [{ source: nearest, text: '' }] } : {}) }
              : { type: verdict, why, decidedBy, verifier: verifier ?? '', evidence: [first, ...more] },
        };
      },
    ),
    citations: citations.map(({ number, claims: ids, source, text }) => ({
      number,
      claims: ids,
      evidence: { source, text },
    })),
  };
}

type RecordedClaim = {
  readonly id: string;
  readonly text: string;
  readonly span: readonly [number, number];
  readonly verdict: CheckedClaim['verdict']['type'];
  readonly why: string;
  readonly decidedBy?: 'exact' | 'scorer' | 'model' | 'person';
  readonly verifier?: string;
  readonly evidence?: readonly Evidence[];
  readonly nearest?: EvidenceSource;
};

/** Returns one sentence for each claim of the log that is recorded as supported or contradicted without evidence in the log. */
export function findClaimsWithoutEvidence(events: readonly Event[]): readonly string[] {
  const problems: string[] = [];
  const texts = new Map<number, string>();
  for (const event of events) {
    if (event.type === 'tool-ended') texts.set(event.seq, event.text);
    if (event.type !== 'annotation-added' || event.key !== verificationKey) continue;
    const claims = isObject(event.value) && Array.isArray(event.value['claims']) ? event.value['claims'] : [];
    for (const claim of claims) {
      if (!isObject(claim) || claim['verdict'] === 'unverifiable') continue;
      const evidence = Array.isArray(claim['evidence']) ? claim['evidence'] : [];
      const name = `Claim ${String(claim['id'])} of event ${event.seq}`;
      if (evidence.length === 0) problems.push(`${name} names no evidence.`);
      for (const each of evidence) {
        const problem = findEvidenceProblem(each, texts);
        if (problem !== undefined) problems.push(`${name} ${problem}`);
      }
    }
  }
  return problems;
}

function findEvidenceProblem(evidence: Json, texts: ReadonlyMap<number, string>): string | undefined {
  const { source, text } = isObject(evidence) ? evidence : {};
  if (!isObject(source) || typeof text !== 'string' || text.trim() === '') return 'has evidence without text.';
  if (source['type'] !== 'event') return undefined;
  const found = typeof source['seq'] === 'number' ? texts.get(source['seq']) : undefined;
  if (found === undefined) return `names event ${String(source['seq'])}, which is not a result in the log before it.`;
  return found.includes(text) ? undefined : `quotes words that event ${String(source['seq'])} does not contain.`;
}

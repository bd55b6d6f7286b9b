// Creates the report of a verification from its claims and its end.
import type { CheckedClaim, VerifyModel } from '../types.ts';
import { unknownFamily } from '../judges/index.ts';
import type { Meter } from './meter.ts';
import { keepSupported, numberCitations, renderAnswer } from './render.ts';
import { findUnsupportedParts } from './unsupported-parts.ts';
import type { ReportedJudge, VerificationReport, VerifyOutcome } from './report.ts';

/** What a report is made of. */
export type ReportInput = {
  readonly question?: string;
  readonly answer: string;
  readonly author?: Pick<VerifyModel, 'name' | 'family'>;
  readonly judges?: readonly VerifyModel[];
  /** The judges whose votes count. */
  readonly counted: readonly VerifyModel[];
  readonly quorum: number;
  readonly meter: Meter;
  readonly claims: readonly CheckedClaim[];
  /** False if the answer was not split into claims: then it is not repeated as a text with struck claims. */
  readonly isExamined?: boolean;
  readonly ending: { readonly type: VerifyOutcome; readonly why: string };
};

/** Creates a report. The text of an answer that is not verified is not repeated as a verified text. */
export function createReport(input: ReportInput): VerificationReport {
  const { question, answer, author, judges = [], counted, quorum, meter, claims, ending } = input;
  const { isExamined = true } = input;
  const citations = numberCitations(claims);
  return {
    outcome: ending.type,
    why: ending.why,
    ...(question === undefined ? {} : { question }),
    ...(author ? { author: author.name } : {}),
    draft: answer,
    answer: isExamined ? renderAnswer(answer, claims, citations, findUnsupportedParts(answer, claims, question)) : '',
    verifiedText: ending.type === 'verified' ? keepSupported(answer, claims) : '',
    claims,
    citations,
    judges: judges.map(({ name, family }): ReportedJudge => {
      if (counted.some((judge) => judge.name === name)) return { name, family, counted: true };
      return { name, family, counted: false, why: whyNotCounted({ name, family }, author) };
    }),
    quorum,
    spent: meter.spent(),
  };
}

function whyNotCounted(judge: Pick<VerifyModel, 'name' | 'family'>, author: ReportInput['author']): string {
  if (author?.name === judge.name) return 'It wrote the answer.';
  if (judge.family === unknownFamily) return 'Its family is not known.';
  return author?.family === judge.family ? "It is of the author's family." : 'It is listed twice.';
}

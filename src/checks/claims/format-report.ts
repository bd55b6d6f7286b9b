// Formats the report of a verification for people: the answer with citations and struck claims, verdicts with evidence, judges and cost.
import type { CheckedClaim, ClaimVerdict } from '../types.ts';
import { decidingText, formatSource, narrowLines, renderAnswer, type AnswerStyle } from './render.ts';
import { countVerdicts, type Citation, type VerificationReport, type VerifyOutcome } from './report.ts';
import { findUnsupportedParts } from './unsupported-parts.ts';

/** Options of the text of a report. */
export type FormatReportOptions = {
  /** The maximum number of claims that are listed; all by default. */
  readonly maxListed?: number;
  /** How the parts are written, such as with colors; by default the text is Markdown. */
  readonly style?: ReportStyle;
};

/** How the parts of a report are written. Each function gets a part of it, never a text in which it must find one. */
export type ReportStyle = AnswerStyle & {
  /** The first words of the outcome. */
  readonly outcome: (title: string, outcome: VerifyOutcome) => string;
  /** The verdict at the start of a line. */
  readonly verdict: (title: string, verdict: ClaimVerdict['type']) => string;
  /** The name of a section. */
  readonly label: (text: string) => string;
};

const plain = (text: string): string => text;
const plainStyle: ReportStyle = { text: plain, struck: plain, outcome: plain, verdict: plain, label: plain };

/** The outcome as the first word; a text without a question cannot be an answer. */
const titles = { verified: 'Verified', abstained: 'I don’t know', 'not-verified': 'Not verified' } as const;

const isAbstentionWithoutQuestion = ({ outcome, question }: VerificationReport): boolean =>
  outcome === 'abstained' && question === undefined;

/** Returns the outcome as one line, such as "I don’t know: No claim of the answer is supported." */
export const formatOutcome = (report: VerificationReport): string => formatStyledOutcome(report, plainStyle);

const formatStyledOutcome = (report: VerificationReport, { outcome, text }: ReportStyle): string => {
  const title = isAbstentionWithoutQuestion(report) ? 'Not supported' : titles[report.outcome];
  return `${outcome(title, report.outcome)}: ${text(report.why)}`;
};

/** Returns the report as Markdown text. An answer that is not verified is shown as a draft, after the outcome. */
export function formatReport(report: VerificationReport, options: FormatReportOptions = {}): string {
  const { maxListed = Infinity, style = plainStyle } = options;
  const counts = countVerdicts(report.claims);
  const answer = renderStyled(report, options.style).trim();
  const isUnasked = isAbstentionWithoutQuestion(report);
  const outcome = formatStyledOutcome(report, style);
  const sections = [
    ...(report.outcome === 'verified'
      ? [answer, outcome]
      : [
          outcome,
          ...(answer === ''
            ? []
            : [`${isUnasked ? 'The text' : 'The draft, which is not verified'}:\n${indent(answer)}`]),
        ]),
    ...(report.claims.length === 0
      ? []
      : [
          [
            `${style.label('Claims')}: ${formatCounts(counts, report.claims.length)}`,
            ...formatClaims(orderClaims(report).slice(0, maxListed), report.citations, style),
            ...(report.claims.length > maxListed ? [`  and ${report.claims.length - maxListed} more`] : []),
          ].join('\n'),
        ]),
    formatFooter(report, style),
  ];
  return `${sections.join('\n\n')}\n`;
}

/** The answer with its struck claims: as the report has it, or written in another style. */
const renderStyled = (report: VerificationReport, style: AnswerStyle | undefined): string => {
  const { answer, draft, claims, citations, question } = report;
  if (!style || answer === '') return answer;
  return renderAnswer(draft, claims, citations, findUnsupportedParts(draft, claims, question), style);
};

const indent = (text: string): string => text.replaceAll(/^(?=.)/gm, '  ');

const formatCounts = (counts: ReturnType<typeof countVerdicts>, total: number): string =>
  `${counts.supported} of ${total} supported, ${counts.contradicted} contradicted, ${counts.unverifiable} without evidence`;

const maxShownClaim = 200;
const maxShownQuotation = 160;

const isWithoutQuorum = ({ verdict }: CheckedClaim): boolean =>
  verdict.type === 'unverifiable' && verdict.why.startsWith('No quorum:');

/** The claims in their order; without a quorum first those that need attention: contradicted, without evidence, supported, not decided with the lowest score first. */
function orderClaims({ claims }: VerificationReport): readonly CheckedClaim[] {
  if (!claims.some(isWithoutQuorum)) return claims;
  const rank = (claim: CheckedClaim): number =>
    isWithoutQuorum(claim) ? 3 : { contradicted: 0, unverifiable: 1, supported: 2 }[claim.verdict.type];
  return claims.toSorted(
    (a, b) => rank(a) - rank(b) || (isWithoutQuorum(a) && isWithoutQuorum(b) ? (a.score ?? 1) - (b.score ?? 1) : 0),
  );
}

/** The lines of claims; what is not decided without judges has one title. */
function formatClaims(
  claims: readonly CheckedClaim[],
  citations: readonly Citation[],
  style: ReportStyle,
): readonly string[] {
  const decided = claims.filter((claim) => !isWithoutQuorum(claim));
  const open = claims.filter(isWithoutQuorum);
  return [
    ...decided.map((claim) => formatClaim(claim, citations, style)),
    ...(open.length === 0
      ? []
      : [
          `\nNot decided without judges: ${open.length}. The claims that are least like their nearest passage come first.`,
          ...open.map((claim) => formatOpenClaim(claim, style)),
        ]),
  ];
}

function formatOpenClaim({ text, kind, score, verdict }: CheckedClaim, style: ReportStyle): string {
  const [nearest] = verdict.evidence ?? [];
  const likeness = score === undefined ? '' : ` (scorer ${Math.round(score * 100)} %)`;
  const place =
    kind === 'code' ? 'code' : nearest ? `nearest: ${formatSource(nearest.source)}${likeness}` : 'no passage was found';
  return `  ${'not decided'.padEnd(12)} ${style.text(shorten(text, maxShownClaim))}\n${' '.repeat(15)}${style.text(place)}`;
}

function formatClaim({ id, text, verdict }: CheckedClaim, citations: readonly Citation[], style: ReportStyle): string {
  const title = { supported: 'supported', contradicted: 'contradicted', unverifiable: 'no evidence' }[verdict.type];
  const lines = [`  ${style.verdict(title.padEnd(12), verdict.type)} ${style.text(shorten(text, maxShownClaim))}`];
  const why = style.text(shorten(verdict.why, 300));
  if (verdict.type === 'unverifiable') return [...lines, `${' '.repeat(15)}${why}`].join('\n');
  const decider = { exact: verdict.verifier, scorer: 'scorer', model: 'judges', person: 'person' }[verdict.decidedBy];
  lines.push(`${' '.repeat(15)}${why} (${style.text(decider)})`);
  for (const { number, evidence, claims } of citations)
    if (claims.includes(id))
      lines.push(
        `${' '.repeat(15)}[${number}] ${style.text(`${formatSource(narrowLines(evidence))}: "${shorten(decidingText(evidence), maxShownQuotation)}"`)}`,
      );
  return lines.join('\n');
}

/** The text on one line, at most this long. */
function shorten(text: string, max: number): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > max ? `${line.slice(0, max - 1)}…` : line;
}

function formatFooter({ judges, quorum, spent }: VerificationReport, { text, label }: ReportStyle): string {
  const counted = judges.filter((judge) => judge.counted).map(({ name, family }) => `${name} (${family})`);
  const left = judges.filter((judge) => !judge.counted).map(({ name, why }) => `${name} does not count: ${why ?? ''}`);
  const seconds = (spent.ms / 1000).toFixed(1);
  const cost =
    spent.requestsWithoutPrice > 0
      ? `${spent.usd > 0 ? `$${spent.usd.toFixed(4)} and ` : ''}${spent.requestsWithoutPrice} requests without a known price`
      : `$${spent.usd.toFixed(4)}`;
  return [
    counted.length === 0
      ? `${label('Judges')}: none. Exact checks and sentences that a source has word for word decide; everything else stays without evidence.`
      : `${label('Judges')}: ${text(counted.join(', '))}; quorum ${quorum}`,
    ...left.map(text),
    `${label('Cost')}: ${spent.requests === 0 ? 'no requests' : `${cost}, ${spent.requests} requests, ${spent.input + spent.output} tokens`}, ${seconds} s`,
  ].join('\n');
}

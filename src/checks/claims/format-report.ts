// Formats the report of a verification for people: the answer with citations and struck claims, verdicts with evidence, judges and cost.
import type { CheckedClaim } from '../types.ts';
import { decidingText, formatSource, narrowLines } from './render.ts';
import { countVerdicts, type Citation, type VerificationReport } from './report.ts';

/** Options of the text of a report. */
export type FormatReportOptions = {
  /** The maximum number of claims that are listed; all by default. */
  readonly maxListed?: number;
};

/** The outcome as the first word; a text without a question cannot be an answer. */
const titles = { verified: 'Verified', abstained: 'I don’t know', 'not-verified': 'Not verified' } as const;

const isAbstentionWithoutQuestion = ({ outcome, question }: VerificationReport): boolean =>
  outcome === 'abstained' && question === undefined;

/** Returns the outcome as one line, such as "I don’t know: No claim of the answer is supported." */
export const formatOutcome = (report: VerificationReport): string =>
  `${isAbstentionWithoutQuestion(report) ? 'Not supported' : titles[report.outcome]}: ${report.why}`;

/** Returns the report as Markdown text. An answer that is not verified is shown as a draft, after the outcome. */
export function formatReport(report: VerificationReport, options: FormatReportOptions = {}): string {
  const { maxListed = Infinity } = options;
  const counts = countVerdicts(report.claims);
  const answer = report.answer.trim();
  const isUnasked = isAbstentionWithoutQuestion(report);
  const outcome = formatOutcome(report);
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
            `Claims: ${formatCounts(counts, report.claims.length)}`,
            ...formatClaims(orderClaims(report).slice(0, maxListed), report.citations),
            ...(report.claims.length > maxListed ? [`  and ${report.claims.length - maxListed} more`] : []),
          ].join('\n'),
        ]),
    formatFooter(report),
  ];
  return `${sections.join('\n\n')}\n`;
}

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
function formatClaims(claims: readonly CheckedClaim[], citations: readonly Citation[]): readonly string[] {
  const decided = claims.filter((claim) => !isWithoutQuorum(claim));
  const open = claims.filter(isWithoutQuorum);
  return [
    ...decided.map((claim) => formatClaim(claim, citations)),
    ...(open.length === 0
      ? []
      : [
          `\nNot decided without judges: ${open.length}. The claims that are least like their nearest passage come first.`,
          ...open.map(formatOpenClaim),
        ]),
  ];
}

function formatOpenClaim({ text, kind, score, verdict }: CheckedClaim): string {
  const [nearest] = verdict.evidence ?? [];
  const likeness = score === undefined ? '' : ` (scorer ${Math.round(score * 100)} %)`;
  const place =
    kind === 'code' ? 'code' : nearest ? `nearest: ${formatSource(nearest.source)}${likeness}` : 'no passage was found';
  return `  ${'not decided'.padEnd(12)} ${shorten(text, maxShownClaim)}\n${' '.repeat(15)}${place}`;
}

function formatClaim({ id, text, verdict }: CheckedClaim, citations: readonly Citation[]): string {
  const title = { supported: 'supported', contradicted: 'contradicted', unverifiable: 'no evidence' }[verdict.type];
  const lines = [`  ${title.padEnd(12)} ${shorten(text, maxShownClaim)}`];
  if (verdict.type === 'unverifiable') return [...lines, `${' '.repeat(15)}${shorten(verdict.why, 300)}`].join('\n');
  const decider = { exact: verdict.verifier, scorer: 'scorer', model: 'judges', person: 'person' }[verdict.decidedBy];
  lines.push(`${' '.repeat(15)}${shorten(verdict.why, 300)} (${decider})`);
  for (const { number, evidence, claims } of citations)
    if (claims.includes(id))
      lines.push(
        `${' '.repeat(15)}[${number}] ${formatSource(narrowLines(evidence))}: "${shorten(decidingText(evidence), maxShownQuotation)}"`,
      );
  return lines.join('\n');
}

/** The text on one line, at most this long. */
function shorten(text: string, max: number): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > max ? `${line.slice(0, max - 1)}…` : line;
}

function formatFooter({ judges, quorum, spent }: VerificationReport): string {
  const counted = judges.filter((judge) => judge.counted).map(({ name, family }) => `${name} (${family})`);
  const left = judges.filter((judge) => !judge.counted).map(({ name, why }) => `${name} does not count: ${why ?? ''}`);
  const seconds = (spent.ms / 1000).toFixed(1);
  const cost =
    spent.requestsWithoutPrice > 0
      ? `${spent.usd > 0 ? `$${spent.usd.toFixed(4)} and ` : ''}${spent.requestsWithoutPrice} requests without a known price`
      : `$${spent.usd.toFixed(4)}`;
  return [
    counted.length === 0
      ? 'Judges: none. Exact checks and sentences that a source has word for word decide; everything else stays without evidence.'
      : `Judges: ${counted.join(', ')}; quorum ${quorum}`,
    ...left,
    `Cost: ${spent.requests === 0 ? 'no requests' : `${cost}, ${spent.requests} requests, ${spent.input + spent.output} tokens`}, ${seconds} s`,
  ].join('\n');
}

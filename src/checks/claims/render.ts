// Renders a verified answer: citations are numbered, claims that are not supported are struck out.
import type { CheckedClaim, Evidence, EvidenceSource, TextSpan } from '../types.ts';
import type { Citation } from './report.ts';

/** Numbers the evidence of supported and contradicted claims in the order of the claims; the same place has the same number. */
export function numberCitations(claims: readonly CheckedClaim[]): readonly Citation[] {
  const byPlace = new Map<string, { evidence: Evidence; claims: string[] }>();
  for (const { id, verdict } of claims) {
    if (verdict.type === 'unverifiable') continue;
    for (const evidence of verdict.evidence) {
      const place = JSON.stringify([evidence.source, evidence.span ?? null]);
      const known = byPlace.get(place);
      if (!known) byPlace.set(place, { evidence, claims: [id] });
      else if (!known.claims.includes(id)) known.claims.push(id);
    }
  }
  return [...byPlace.values()].map((each, i) => ({ number: i + 1, ...each }));
}

/** Formats a source, such as `docs/a.md:3-5 (sha256 1a2b3c4d5e6f)` or `event 12`. */
export function formatSource(source: EvidenceSource): string {
  switch (source.type) {
    case 'document': {
      const [from, to] = source.lines;
      return `${source.path}:${from === to ? from : `${from}-${to}`} (sha256 ${source.hash.slice(0, 12)})`;
    }
    case 'event':
      return `event ${source.seq}${source.session === undefined ? '' : ` of session ${source.session}`}`;
    case 'given':
      return source.name;
    case 'model':
      return `answer of ${source.name}, no document`;
    case 'computed':
      return `computed by ${source.by}`;
  }
}

/** The lines of a document that a citation names: those of its deciding part, if it has one. */
export function narrowLines({ source, span, text }: Evidence): EvidenceSource {
  if (source.type !== 'document' || !span) return source;
  // The lines of a page or a record are not those of its text.
  if (countLineEnds(text) !== source.lines[1] - source.lines[0]) return source;
  const before = countLineEnds(text.slice(0, span.start));
  const inside = countLineEnds(text.slice(span.start, span.end));
  const from = source.lines[0] + before;
  return { ...source, lines: [from, Math.min(source.lines[1], from + inside)] };
}

const countLineEnds = (text: string): number => text.split('\n').length - 1;

/** The text that decides. */
export const decidingText = ({ text, span }: Evidence): string => (span ? text.slice(span.start, span.end) : text);

/** How the parts of an answer are written. */
export type AnswerStyle = {
  /** A text of the answer. */
  readonly text: (text: string) => string;
  /** A text of one line that is struck out. */
  readonly struck: (text: string) => string;
};

const markdownStyle: AnswerStyle = { text: (text) => text, struck: (text) => `~~${text}~~` };

type RenderedPart = { readonly span: TextSpan; readonly claim?: CheckedClaim };

/** Returns the answer: a supported claim has the numbers of its citations, any other claim and each part of `struck` is struck out. Citation numbers and struck text of the author are removed. */
export function renderAnswer(
  draft: string,
  claims: readonly CheckedClaim[],
  citations: readonly Citation[],
  struck: readonly TextSpan[] = [],
  style: AnswerStyle = markdownStyle,
): string {
  const numbers = new Map<string, number[]>();
  for (const { number, claims: ids } of citations)
    for (const id of ids) numbers.set(id, [...(numbers.get(id) ?? []), number]);
  const parts: readonly RenderedPart[] = [
    ...claims.map((claim) => ({ span: claim.span, claim })),
    ...struck.map((span) => ({ span })),
  ].toSorted((a, b) => a.span.start - b.span.start);
  let rendered = '';
  let end = 0;
  for (const { span, claim } of parts) {
    // A backslash would take the effect of the mark after it.
    rendered += style.text(removeMarks(draft.slice(end, span.start))).replace(/\\{1,100}$/, '');
    const text = draft.slice(span.start, span.end);
    const marks = (numbers.get(claim?.id ?? '') ?? []).map((number) => `[${number}]`).join('');
    rendered +=
      claim?.verdict.type === 'supported' ? cite(claim, text, marks, style) : strike(claim?.kind, text, style);
    end = span.end;
  }
  return rendered + style.text(removeMarks(draft.slice(end)));
}

function cite(claim: CheckedClaim, text: string, marks: string, style: AnswerStyle): string {
  if (claim.kind === 'code') return `${style.text(text)}${marks === '' ? '' : `\n${marks}`}`;
  const bare = removeMarks(text);
  if (marks === '') return style.text(bare);
  return bare.trimEnd().endsWith('|')
    ? `${style.text(bare.trimEnd().slice(0, -1))}${marks} |`
    : `${style.text(bare)} ${marks}`;
}

/** Strikes each line, and each cell of a row; Markdown cannot strike more at once. */
function strike(kind: CheckedClaim['kind'], text: string, style: AnswerStyle): string {
  if (kind === 'code') return `${style.struck('(not verified)')}\n${style.text(text)}`;
  return removeMarks(text)
    .split('\n')
    .map((line) =>
      line.includes('|')
        ? line
            .split('|')
            .map((cell) => strikeText(cell, style))
            .join('|')
        : strikeText(line.replace(/^(?:>\s?)+/, ''), style),
    )
    .join('\n');
}

/** Strikes a text of one line; a mark inside it that would go on behind its end, and so hide the end of the strike, is removed. */
const strikeText = (text: string, style: AnswerStyle): string => {
  const closed = closeCode(text).replace(/\\{1,100}\s*$/, '');
  const inner = closed.trim();
  return inner === '' ? style.text(closed) : closed.replace(inner, () => style.struck(inner));
};

/** Removes what a reader would take for marks of the verification, and what would hide them: citation numbers, struck text, and a backtick that is not closed. */
const removeMarks = (text: string): string => closeCode(removeCitations(text).replaceAll('~~', ''));

const closeCode = (text: string): string => (text.split('`').length % 2 === 0 ? text.replaceAll('`', '') : text);

/** Removes numbers in square brackets, which a reader would take for citations of the verification. */
const removeCitations = (text: string): string =>
  text.replaceAll(/(?<![\w\])])[ \t]?\[\^?\d{1,4}\](?![\w(:])|(?<=[.!?。])\[\^?\d{1,4}\](?![\w(:])/g, '');

/** The supported claims as text, in the order of the answer. */
export function keepSupported(draft: string, claims: readonly CheckedClaim[]): string {
  let kept = '';
  let end = 0;
  for (const { span, verdict } of claims) {
    if (verdict.type === 'supported') {
      const gap = kept === '' ? '' : draft.slice(end, span.start).includes('\n') ? '\n' : ' ';
      kept += gap + removeCitations(draft.slice(span.start, span.end)).trim();
    }
    if (verdict.type === 'supported') end = span.end;
  }
  return kept;
}

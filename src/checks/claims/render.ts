// Renders a verified answer: citations are numbered, claims that are not supported are struck out.
import type { CheckedClaim, Evidence, EvidenceSource } from '../types.ts';
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
  const before = countLineEnds(text.slice(0, span.start));
  const inside = countLineEnds(text.slice(span.start, span.end));
  const from = source.lines[0] + before;
  return { ...source, lines: [from, Math.min(source.lines[1], from + inside)] };
}

const countLineEnds = (text: string): number => text.split('\n').length - 1;

/** The text that decides. */
export const decidingText = ({ text, span }: Evidence): string => (span ? text.slice(span.start, span.end) : text);

/** Returns the answer in Markdown: a supported claim has the numbers of its citations, any other claim is struck out. Citation numbers of the author are removed. */
export function renderAnswer(draft: string, claims: readonly CheckedClaim[], citations: readonly Citation[]): string {
  const numbers = new Map<string, number[]>();
  for (const { number, claims: ids } of citations)
    for (const id of ids) numbers.set(id, [...(numbers.get(id) ?? []), number]);
  let rendered = '';
  let end = 0;
  for (const claim of claims) {
    rendered += removeCitations(draft.slice(end, claim.span.start));
    const text = draft.slice(claim.span.start, claim.span.end);
    const marks = (numbers.get(claim.id) ?? []).map((number) => `[${number}]`).join('');
    rendered += claim.verdict.type === 'supported' ? cite(claim, text, marks) : strike(claim, text);
    end = claim.span.end;
  }
  return rendered + removeCitations(draft.slice(end));
}

function cite(claim: CheckedClaim, text: string, marks: string): string {
  if (marks === '') return text;
  if (claim.kind === 'code') return `${text}\n${marks}`;
  const bare = removeCitations(text);
  return bare.trimEnd().endsWith('|') ? `${bare.trimEnd().slice(0, -1)}${marks} |` : `${bare} ${marks}`;
}

/** Strikes each line, and each cell of a row; Markdown cannot strike more at once. */
function strike(claim: CheckedClaim, text: string): string {
  if (claim.kind === 'code') return `~~(not verified)~~\n${text}`;
  return removeCitations(text)
    .replaceAll('~~', '')
    .split('\n')
    .map((line) =>
      line.includes('|') ? line.split('|').map(strikeText).join('|') : strikeText(line.replace(/^(?:>\s?)+/, '')),
    )
    .join('\n');
}

const strikeText = (text: string): string => {
  const inner = text.trim();
  return inner === '' ? text : text.replace(inner, () => `~~${inner}~~`);
};

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

// Decomposes an answer into claims with their exact spans, by rules alone. What is no claim is listed with the reason.
import type { Claim, TextSpan } from '../types.ts';
import { parseBlocks, toAnswerOffset, type AnswerBlock } from './blocks.ts';
import { findClauses, findSentences } from './sentences.ts';
import { hasLetterOrDigit } from '../words.ts';

/** Why a part of an answer is no claim. */
export type SkippedReason = 'question' | 'greeting' | 'title' | 'table-header' | 'connective' | 'image' | 'links';

/** A part of an answer that is no claim. */
export type SkippedPart = { readonly span: TextSpan; readonly why: SkippedReason };

/** The parts of an answer: its claims, and what is no claim. Every letter and digit of the answer is in one of them. */
export type SplitAnswer = { readonly claims: readonly Claim[]; readonly skipped: readonly SkippedPart[] };

/** The maximum length of an answer in characters; a longer one is not split. */
export const maxAnswerLength = 1_000_000;

/** Returns the claims of an answer in order. Their spans do not overlap. */
export const splitClaims = (answer: string): readonly Claim[] => splitAnswer(answer).claims;

/** Returns the claims of an answer, and the parts that are no claims. */
export function splitAnswer(answer: string): SplitAnswer {
  const claims: Claim[] = [];
  const skipped: SkippedPart[] = [];
  const add = (span: TextSpan, text: string, kind?: 'code'): void => {
    const id = `c${claims.length + 1}`;
    claims.push(kind === undefined ? { id, text, span } : { id, text, span, kind });
  };
  for (const block of parseBlocks(answer.slice(0, maxAnswerLength))) {
    if (block.type === 'code') add(block.span, block.text, 'code');
    else if (block.type === 'header-row') skipped.push({ span: block.span, why: 'table-header' });
    else if (block.type === 'row' && isLinkRow(block.text)) skipped.push({ span: block.span, why: 'links' });
    else if (block.type === 'row') add(block.span, formatRow(block));
    else if (isBoldTitle(block.text)) skipped.push({ span: block.span, why: 'title' });
    else if (block.type === 'heading') splitHeading(block, add, skipped);
    else splitText(block, add, skipped);
  }
  return { claims, skipped };
}

/** A heading is a title or is split as a text; its number is no claim. */
function splitHeading(block: AnswerBlock, add: (span: TextSpan, text: string) => void, skipped: SkippedPart[]): void {
  const number = headingNumber.exec(block.text)?.[0].length ?? 0;
  const text = block.text.slice(number);
  if (isTitle(text) || isQuestionTitle(text)) {
    skipped.push({ span: block.span, why: 'title' });
    return;
  }
  if (number > 0) skipped.push({ span: toAnswerSpan(block, { start: 0, end: number - 1 }), why: 'title' });
  const lines = block.lines.map(({ at, shift }) => ({ at, shift: shift + number }));
  splitText({ ...block, text, lines }, add, skipped);
}

function splitText(block: AnswerBlock, add: (span: TextSpan, text: string) => void, skipped: SkippedPart[]): void {
  const isPlain = isPlainText(block.text);
  for (const sentence of findSentences(block.text)) {
    const text = block.text.slice(sentence.start, sentence.end);
    const why = whyNoClaim(text, isPlain);
    if (why !== undefined) {
      skipped.push({ span: toAnswerSpan(block, sentence), why });
      continue;
    }
    let end = sentence.start;
    for (const clause of findClauses(block.text, sentence)) {
      if (clause.start > end && hasLetterOrDigit(block.text, end, clause.start))
        skipped.push({ span: toAnswerSpan(block, { start: end, end: clause.start }), why: 'connective' });
      if (hasLetterOrDigit(block.text, clause.start, clause.end)) {
        const statement = block.text.slice(clause.start, clause.end);
        add(toAnswerSpan(block, clause), isPlain ? statement : cleanStatement(statement));
      }
      end = clause.end;
    }
  }
}

const toAnswerSpan = ({ lines }: AnswerBlock, { start, end }: TextSpan): TextSpan => ({
  start: toAnswerOffset(lines, start),
  end: toAnswerOffset(lines, end - 1) + 1,
});

/** A row as a statement of its own: each cell with the header of its column. */
const formatRow = ({ cells = [], header = [] }: AnswerBlock): string =>
  cells
    .map((cell, i) => (header[i] === undefined || header[i] === '' ? cell : `${header[i]}: ${cell}`))
    .filter((cell) => cell !== '')
    .join('; ');

/** Whether a text has no mark of emphasis, headings, quotations or code, and no white space but single spaces: its sentences are claims as they stand. */
const isPlainText = (text: string): boolean =>
  !markOrLine.test(text) && !/ {2}/.test(text) && !text.includes('\u00a0') && !wideSpace.test(text);
/** Patterns of one class each: each is searched for many characters at once, which an alternative would prevent. A text of Latin-1 characters cannot have wide spaces and is not searched for them. */
const markOrLine = /[*_~`#>\t-\r]/;
const wideSpace = /[\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]/;

/** Removes emphasis and repeated white space; text in backticks stays as it is. */
function cleanStatement(text: string): string {
  if (!/[*_~`]|[^\S ]|\s\s/.test(text)) return text.trim();
  const parts = text.split('`');
  return parts
    .map((part, i) =>
      (i % 2 === 1 && i < parts.length - 1) || !/[*_~]|[^\S ]| {2}/.test(part)
        ? part
        : part
            .replaceAll(/\*\*|__|~~/g, '')
            .replaceAll(/(?<![\w*])\*(?=\S)|(?<=\S)\*(?![\w*])/g, '')
            .replaceAll(/\s+/g, ' '),
    )
    .join('`')
    .trim();
}

/** Words that state something in a title. */
const statingWords =
  /\b(?:is|are|was|were|has|have|had|can|cannot|will|does|did|not|never|always|all|every|no|none)\b/i;
const maxTitleWords = 6;

/** Whether a heading is a short title without a verb, a number or a mark that joins two things. */
const isTitle = (text: string): boolean =>
  !/[\p{N}:=–—→.!]/u.test(text) &&
  /^[\p{Script=Latin}\p{P}\p{S}\p{Zs}\p{M}]+$/u.test(text) &&
  !statingWords.test(text) &&
  text.trim().split(/\s+/).length <= maxTitleWords;

/** The number of a heading, with the one space after it: `1. `, `2.3 `. */
const headingNumber = /^\d{1,3}(?:\.\d{1,3}){0,3}[.)]\s|^\d{1,3}(?:\.\d{1,3}){1,3}\s/;

/** Whether a heading is a short title such as "What it is for": it has a question word, and no name or number. */
const isQuestionTitle = (text: string): boolean =>
  /^(?:[Ww]h(?:at|en|ere|y|ich)|[Hh]ow)\s[\p{Ll}\s,'’-]{1,60}$/u.test(text.trim()) &&
  !/\b(?:not|never|always|all|every|no|none)\b/i.test(text);

/** Whether a block is a title in bold type with a question word. */
const isBoldTitle = (text: string): boolean => {
  const [, title] = /^\*\*([^*]{1,80})\*\*$/.exec(text.trim()) ?? [];
  return title !== undefined && isQuestionTitle(title);
};

const linkPattern = /\[([^[\]\n]{1,100})\]\(([^()\s]{1,300})\)/g;
const minRowLinks = 3;

/** Whether a table row lists documents: links to files beside a short title. */
function isLinkRow(text: string): boolean {
  const links = [...text.slice(0, maxRowChars).matchAll(linkPattern)];
  if (links.length < minRowLinks || text.length > maxRowChars) return false;
  if (links.some(([, title = '', target = '']) => /[\p{N}:=]/u.test(title) || /^[a-z]+:/i.test(target))) return false;
  const rest = text.replaceAll(linkPattern, ' ').replaceAll(/[|,;·]/g, ' ');
  return isTitle(rest.trim() === '' ? 'links' : rest.trim());
}

const maxRowChars = 4000;

/** Whether a sentence is an image whose description states nothing. */
function isImage(text: string): boolean {
  const [, description = ''] = /^!\[([^[\]\n]{0,300})\]\([^()\s]{1,300}\)[.!]?$/.exec(text.trim()) ?? [];
  return description !== '' && !/[\p{N}:=–—→.!]/u.test(description) && !statingWords.test(description);
}

const greetings: readonly RegExp[] = [
  /^(?:hi|hello|hey|hallo|bonjour|hola|good (?:morning|afternoon|evening))(?: there)?$/,
  /^(?:sure|certainly|of course|absolutely|great|great question|good question|thanks|thank you|you(?:'|’)re welcome|ok|okay|no problem|happy to help)(?: thing)?$/,
  /^(?:please )?let me know if you (?:have|need|want|would like)(?: anything| any| more| further| other| else| questions| help| details| information| assistance| to know)*$/,
  /^i hope (?:this|that) (?:helps|is helpful|answers your question)$/,
  /^(?:here|below) (?:is|are)(?: the| your| my| a| an| some)? (?:answer|answers|summary|overview|details|steps|list|example|examples|explanation|result|results)$/,
  /^(?:for example|example|examples|note|in short|in summary|summary|answer|steps|sources|references|tl;dr)$/,
  /^(?:你好|您好|好的|谢谢|مرحبا|شكرا|gern|danke|bitte|gerne)$/,
];

/** How a greeting starts; what starts otherwise is not compared further. */
const greetingStart =
  /^[\s,]*(?:h|bonjour|good|sure|certainly|o|absolutely|great|thank|you|no|please|let|i|below|for|example|summary|answer|steps|sources|references|tl;|你好|您好|好的|谢谢|مرحبا|شكرا|gern|danke|bitte)/i;

/** Why a sentence is no claim; the marks of one that is plain text need not be removed. */
function whyNoClaim(sentence: string, isPlain: boolean): SkippedReason | undefined {
  if (sentence.startsWith('![') && isImage(sentence)) return 'image';
  const bare = isPlain ? sentence : sentence.replaceAll(/[*_~#>]/g, '').trim();
  if (!bare.endsWith('.') && /[?？؟]["'”’)\]」』）]{0,4}$/.test(bare.slice(-5))) return 'question';
  if (bare.length > 120 || !greetingStart.test(bare)) return undefined;
  const words = bare
    .toLowerCase()
    .replaceAll(/[\s,]+/g, ' ')
    .replace(/[.!:。！…,]{1,5}$/, '')
    .trim();
  return greetings.some((pattern) => pattern.test(words)) ? 'greeting' : undefined;
}

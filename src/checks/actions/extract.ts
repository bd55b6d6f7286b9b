// Extracts the claims of an answer about actions: what was changed, run, printed, committed. Ambiguous statements are no claims.
import { isObject } from '../../core/index.ts';
import { isQuestion, splitClaimText, type ClaimText } from './claim-text.ts';
import { findPredicates } from './find-predicates.ts';
import { lettersOf } from './letter-set.ts';
import type { Reading } from './read-clause.ts';
import { readFigures } from './read-figures.ts';
import { readLanguages } from './read-languages.ts';
import { readNegations } from './read-negations.ts';
import { readOutcomes } from './read-outcomes.ts';
import { readPassive } from './read-passives.ts';
import { readFileItem, readLabel, readListedFile, readNewFiles, readResults } from './read-states.ts';
import { readVerb } from './read-verbs.ts';
import { splitSentence, type SentenceWords, type SplitSentence } from './sentence-words.ts';
import type { Action, ActionClaim } from './types.ts';

/** Max claims of one answer; later ones are ignored. */
const maxClaims = 200;

/** Extracts the claims about actions, in order. An answer that is JSON makes none. */
export function extractActionClaims(given: string): readonly ActionClaim[] {
  const text = splitAnswer(given);
  return extractFromText(text, splitSentences(text));
}

/** Splits an answer; one that is JSON has no sentences. */
export const splitAnswer = (given: string): ClaimText =>
  isJson(given)
    ? { answer: given, codes: new Uint16Array(), sentences: [], hasCodeBlock: false }
    : splitClaimText(given);

/** Splits each sentence of an answer into words. */
export const splitSentences = (text: ClaimText): readonly SplitSentence[] =>
  text.sentences.map((sentence) => splitSentence(text, sentence));

/** Extracts the claims about actions from an answer that is split. */
export function extractFromText(
  { answer, sentences, hasCodeBlock }: ClaimText,
  split: readonly SplitSentence[],
): readonly ActionClaim[] {
  const claims: ActionClaim[] = [];
  let label: 'create' | 'edit' | 'delete' | 'move' | undefined;
  let isProposal = false;
  for (const [i, sentence] of sentences.entries()) {
    if (claims.length >= maxClaims) break;
    const isHeading = sentence.isFirst && /:\s*$/.test(sentence.text);
    if (isHeading) isProposal = proposal.test(sentence.text);
    else if (isProposal && isListed(answer, sentence.start)) continue;
    else isProposal = false;
    const words = split[i]?.words;
    if (!words && label === undefined) continue;
    const reading = {
      answer,
      sentence,
      lower: words?.lower ?? '',
      words: words ?? noWords,
      hasCodeBlock,
    };
    const listed = label === undefined ? undefined : readListedFile(reading, label);
    const read = !words || isQuestion(sentence.text) ? [] : readActions(reading);
    const actions = listed && !isQuestion(sentence.text) ? [listed, ...read] : read;
    label = readLabel(sentence) ?? (listed ? label : undefined);
    if (actions.length === 0) continue;
    const isOwn = /\b(?:I|[Ww]e|[Ii]ch|[Jj]['’]ai|[Hh]e [a-z]+[ai]do)\b|我/.test(sentence.text);
    for (const action of actions.length > 1 ? withoutRepeated(actions) : actions)
      claims.push({
        id: `c${claims.length + 1}`,
        text: answer.slice(sentence.start, sentence.end).trim(),
        span: { start: sentence.start, end: sentence.end },
        isOwn,
        action,
      });
  }
  return claims;
}

const noWords: SentenceWords = { words: [], shape: '', letters: lettersOf(''), lower: '', mayHaveFigure: false };

/** The actions without those that are equal to an earlier one. */
const withoutRepeated = (actions: readonly Action[]): Iterable<Action> => {
  // Actions of different types are never equal.
  if (new Set(actions.map(({ type }) => type)).size === actions.length) return actions;
  const found = new Map<string, Action>();
  for (const action of actions) {
    const key = JSON.stringify(action);
    if (!found.has(key)) found.set(key, action);
  }
  return found.values();
};

/** Headings of lists of what may be done later. */
const proposal =
  /^(?:the |my |some |further |other )*(?:propos|suggest|recommend|possible|planned|plan\b|next|to-?do|remaining|open|optional|future|ideas|follow-?ups?|vorschl|vorgeschlagen|nächste|offen|prochain|à faire|sugeren|propuest|próxim|pendient)/i;

/** Whether a place is in an item of a list. */
const isListed = (answer: string, start: number): boolean =>
  /^\s*(?:[-*+•–]|\d{1,3}[.)])\s/.test(answer.slice(answer.lastIndexOf('\n', start - 1) + 1, start + 1));

function isJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text) || !/[\]}]\s*$/.test(text)) return false;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) || Array.isArray(value);
  } catch {
    return false;
  }
}

/** The readers of a sentence, in the order of their actions. */
const readers: readonly ((reading: Reading) => readonly Action[])[] = [
  readFileItem,
  readNewFiles,
  readOutcomes,
  readResults,
  readNegations,
  readFigures,
  readLanguages,
];

function readActions(reading: Reading): readonly Action[] {
  const actions: Action[] = [];
  for (const predicate of findPredicates(reading.sentence, reading.words))
    for (const action of predicate.subject
      ? readPassive(reading, predicate)
      : readVerb(reading, predicate.verb, predicate.at))
      actions.push(action);
  for (const read of readers) {
    const found = read(reading);
    if (found.length > 0) actions.push(...found);
  }
  return actions;
}

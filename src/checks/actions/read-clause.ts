// Reads the words of a sentence: tokens with the text that they stand for, and the object of a verb.
import type { Sentence } from './claim-text.ts';
import { unmark } from './claim-text.ts';
import { findAll } from '../find-all.ts';
import type { SentenceWords } from './sentence-words.ts';

/** A word or a placeholder of a sentence, with the text of the answer that it stands for. */
export type Token = { readonly at: number; readonly end: number; readonly text: string; readonly isCode: boolean };

/** The object of a verb: the rest of the clause, and its tokens. */
export type Clause = { readonly text: string; readonly tokens: readonly Token[] };

/** A sentence and its answer. */
export type Reading = {
  readonly answer: string;
  readonly sentence: Sentence;
  /** The text of the sentence in lower case. */
  readonly lower: string;
  readonly words: SentenceWords;
  readonly hasCodeBlock: boolean;
};

/** Where the object of a verb ends: at the next verb, or at words that begin another statement. */
const clauseEnd =
  /[;:]\s|,\s+(?:and|but|so|which|then|where|while|although)\b|\b(?:and then|but|so that|because|since|which|that|who|where|while|when|if|although|though|however|instead|is|are|was|were|will|would|should|can|could|has|have|had|does|did|using|based on|as well as|similar to|like|from which)\b|\b(?:defined|declared|described|documented|located|exported|imported|used)\s+(?:in|by|from|at)\b|\band\s+(?:then\s+)?(?:[a-z-]+ed|ran|wrote|set|put)\b|,\s+(?:then\s+)?(?:[a-z-]+ed|ran|wrote)\b/i;

/** Reads the object of the verb that ends at an offset. */
export function readClause({ answer, sentence }: Reading, from: number): Clause {
  const rest = sentence.text.slice(from);
  const end = clauseEnd.exec(rest)?.index ?? rest.length;
  const text = rest.slice(0, end);
  return { text, tokens: readTokens(answer, sentence, from, from + end) };
}

const tokenPattern = /\uE000+|\uE001+|[^\s\uE000\uE001]+/g;

/** Reads the tokens of a part of a sentence. */
export function readTokens(answer: string, { start, text }: Sentence, from: number, to: number): readonly Token[] {
  return findAll(tokenPattern, text.slice(from, to)).map(({ index, 0: word }) => {
    const own = answer.slice(start + from + index, start + from + index + word.length);
    const isMarked = word.startsWith('\uE000') || word.startsWith('\uE001');
    const shown = isMarked ? unmark(own) : own.replaceAll(/^[([{"'“‘]+|[)\]},.:;!?"'”’]+$/g, '');
    return {
      at: index,
      end: index + word.length,
      text: shown,
      isCode: word.startsWith('\uE000') || (isMarked && !/\s/.test(shown)),
    };
  });
}

/** Words that may stand between a verb and the file that is its object. */
export const directWords: RegExp =
  /^(?:\s|,|\(|\b(?:up|and|both|the|a|an|new|two|three|four|five|\d+|following|existing|missing|empty|small|simple|main|file|files|script|module|component|test|tests|config|configuration|source|header|class|helper|page|document|documentation|folder|directory|called|named|at|as|its|project|root|all|of|in|unused|old|temporary|obsolete|stale|duplicate|legacy|entire|whole|project['’]s|dedicated|basic|minimal|utility|sample|initial|outdated|redundant|dead|orphaned|leftover|unneeded|superfluous|deprecated|broken|generated|shared|common|separate|own|stray|scratch|backup|log|lock|workflow|template|stylesheet|migration|schema|markdown|json|yaml|spec|fixture|stub|mock|README|changelog|types|index|out|away|rid|off|corresponding|matching|accompanying|it|them|brand-new|tiny|little|short|previous|now-unused|no-longer-needed)\b)*$/i;
/** A preposition before the file that a change was made in. */
export const targetWords: RegExp =
  /\b(in|into|to|inside|within|at|from|of|for|on|under|across|as)\s+(?:(?:the|a|an|its|our|both|existing|new|file|files|module|script|main|test|tests|top|bottom|end|beginning|start|of|project|root|config|configuration|source|documentation|function|section|called|named|separate|own|dedicated|helper|shared),?\s+)*$/i;

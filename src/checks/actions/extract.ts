// Extracts the claims of an answer about actions: what was changed, run, printed, committed. Ambiguous statements are no claims.
import { isObject } from '../../core/index.ts';
import { splitClaimText } from './claim-text.ts';
import { findPredicates } from './find-predicates.ts';
import type { Reading } from './read-clause.ts';
import { readFigures } from './read-figures.ts';
import { readLanguages } from './read-languages.ts';
import { readNegations } from './read-negations.ts';
import { readOutcomes } from './read-outcomes.ts';
import { readPassive } from './read-passives.ts';
import { readFileItem, readLabel, readListedFile, readNewFiles, readResults } from './read-states.ts';
import { readVerb } from './read-verbs.ts';
import { splitSentence } from './sentence-words.ts';
import type { Action, ActionClaim } from './types.ts';

/** Max claims of one answer; later ones are ignored. */
const maxClaims = 200;

/** Extracts the claims about actions, in order. An answer that is JSON makes none. */
export function extractActionClaims(given: string): readonly ActionClaim[] {
  if (isJson(given)) return [];
  const { answer, sentences, hasCodeBlock } = splitClaimText(given);
  const claims: ActionClaim[] = [];
  let label: 'create' | 'edit' | 'delete' | 'move' | undefined;
  for (const sentence of sentences) {
    if (claims.length >= maxClaims) break;
    const split = splitSentence(answer, sentence);
    if (!split && label === undefined) continue;
    const reading = {
      answer,
      sentence,
      lower: split?.lower ?? '',
      words: split ?? { words: [], shape: '', lower: '' },
      hasCodeBlock,
    };
    const listed = label === undefined ? undefined : readListedFile(reading, label);
    const actions = /\?["”)\s]*$/.test(sentence.text)
      ? []
      : [...(listed ? [listed] : []), ...(split ? readActions(reading) : [])];
    label = readLabel(sentence) ?? (listed ? label : undefined);
    if (actions.length === 0) continue;
    const isOwn = /\b(?:I|[Ww]e|[Ii]ch|[Jj]['’]ai|[Hh]e [a-z]+[ai]do)\b|我/.test(sentence.text);
    const seen = new Set<string>();
    for (const action of actions) {
      const key = JSON.stringify(action);
      if (seen.has(key)) continue;
      seen.add(key);
      claims.push({
        id: `c${claims.length + 1}`,
        text: answer.slice(sentence.start, sentence.end).trim(),
        span: { start: sentence.start, end: sentence.end },
        isOwn,
        action,
      });
    }
  }
  return claims;
}

function isJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text) || !/[\]}]\s*$/.test(text)) return false;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) || Array.isArray(value);
  } catch {
    return false;
  }
}

function readActions(reading: Reading): readonly Action[] {
  const actions: Action[] = [];
  for (const predicate of findPredicates(reading.sentence, reading.words))
    actions.push(
      ...(predicate.subject ? readPassive(reading, predicate) : readVerb(reading, predicate.verb, predicate.at)),
    );
  actions.push(
    ...readFileItem(reading),
    ...readNewFiles(reading),
    ...readOutcomes(reading),
    ...readResults(reading),
    ...readNegations(reading),
  );
  actions.push(...readFigures(reading), ...readLanguages(reading));
  return actions;
}

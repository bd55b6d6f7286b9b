// Extracts the claims of an answer about actions: what was changed, run, printed, committed. Ambiguous statements are no claims.
import { isObject } from '../../core/index.ts';
import { bareVerb, claimWords, firstPerson, nextVerb, noReport, otherFirstPerson } from './claim-patterns.ts';
import { isPathLike } from './claim-paths.ts';
import { splitClaimText, type Sentence } from './claim-text.ts';
import { findAll } from './find-all.ts';
import type { Reading } from './read-clause.ts';
import { figureWords, readFigures, readReads } from './read-figures.ts';
import { languageWords, readLanguages } from './read-languages.ts';
import { negationWords, readNegations } from './read-negations.ts';
import { readShort } from './read-short.ts';
import { readFileItem, readLabel, readListedFile, readPasses, readPassives, readResults } from './read-states.ts';
import { readVerb } from './read-verbs.ts';
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
    const isPossible = isClaimLike(sentence.text);
    if (!isPossible && label === undefined) continue;
    const reading = { answer, sentence, lower: sentence.text.toLowerCase(), hasCodeBlock };
    const text = answer.slice(sentence.start, sentence.end).trim();
    const listed = label === undefined ? undefined : readListedFile(reading, label);
    const actions = /\?["”)\s]*$/.test(sentence.text)
      ? []
      : [...(listed ? [listed] : []), ...(isPossible ? readActions(reading) : [])];
    label = readLabel(sentence) ?? (listed ? label : undefined);
    const isOwn = /\b(?:I|[Ww]e|[Ii]ch|[Jj]['’]ai|[Hh]e [a-z]+[ai]do)\b|我/.test(sentence.text);
    const seen = new Set<string>();
    for (const action of actions) {
      const key = JSON.stringify(action);
      if (seen.has(key)) continue;
      seen.add(key);
      claims.push({
        id: `c${claims.length + 1}`,
        text,
        span: { start: sentence.start, end: sentence.end },
        isOwn,
        action,
      });
    }
  }
  return claims;
}

/** Whether a sentence has a word without which it makes no claim. */
const isClaimLike = (text: string): boolean =>
  claimWords.test(text) || figureWords.test(text) || negationWords.test(text) || languageWords.test(text);

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
  const { sentence } = reading;
  const actions: Action[] = [];
  for (const { verb, at } of findVerbs(sentence)) actions.push(...readVerb(reading, verb, at));
  actions.push(...readPassives(reading), ...readFileItem(reading), ...readPasses(reading));
  actions.push(...readResults(reading), ...readNegations(reading), ...readFigures(reading));
  actions.push(...readShort(reading), ...readReads(reading, isPathLike), ...readLanguages(reading));
  return actions;
}

/** Whether a sentence that begins with this verb is an instruction or a description, such as `Run it` or `Documented in a.md`. */
const isDescription = (verb: string, rest: string): boolean =>
  /^(?:run|set|put|generated|written|opened|raised|submitted|mentioned|referenced|linked|wired|undid|merged)$/i.test(
    verb,
  ) ||
  (!/^(?:committed|pushed|rebased|switched)$/i.test(verb) &&
    /^\s*(?:in|by|at|to|for|on|from|via|under|with|as|when|if|only|automatically)\b/i.test(rest));

/** The verbs with the subject of the answer, and where their objects begin. */
function findVerbs({ text, isFirst }: Sentence): readonly { readonly verb: string; readonly at: number }[] {
  const found = new Map<number, string>();
  const addNext = (from: number): void => {
    for (const match of findAll(nextVerb, text.slice(from))) {
      if (
        /\b(?:that|which|who|whose|where|when|if|because|since|you|they|he|she|it|user|would|could|should|will|can|to be|not|no)\b/i.test(
          text.slice(from, from + match.index),
        )
      )
        break;
      found.set(from + match.index + match[0].length, (match[1] ?? '').toLowerCase());
    }
  };
  const hasSubject = /\b(?:I|[Ww]e)\b/.test(text);
  for (const match of hasSubject ? findAll(firstPerson, text) : []) {
    const end = match.index + match[0].length;
    if (match[1] === 'run' && !/have|['’]ve/.test(match[0])) continue;
    const before = text.slice(0, match.index);
    if (noReport.test(/you/i.test(before) ? before.replace(/^.*\byou(?:r)?\b[^,]*,/i, '') : before)) continue;
    found.set(end, (match[1] ?? '').toLowerCase());
    addNext(end);
  }
  for (const match of hasSubject ? findAll(otherFirstPerson, text) : []) {
    if (noReport.test(text.slice(0, match.index))) continue;
    addNext(match.index + match[0].length);
  }
  const bare = bareVerb.exec(text);
  if (bare && !isDescription(bare[1] ?? '', text.slice(bare[0].length)) && (isFirst || /^[A-Z]/.test(text))) {
    found.set(bare[0].length, (bare[1] ?? '').toLowerCase());
    addNext(bare[0].length);
  }
  return [...found].map(([at, verb]) => ({ verb, at }));
}

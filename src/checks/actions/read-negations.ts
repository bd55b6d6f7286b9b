// Reads statements about what was not done: no file was changed, only one was, nothing was run; and how many files were changed.
import { isPathLike } from './claim-paths.ts';
import { findAll } from '../find-all.ts';
import { lettersOf, shareLetter } from './letter-set.ts';
import { pastVerb } from './lexicon.ts';
import { readTokens, type Reading } from './read-clause.ts';
import type { Action } from './types.ts';

const clauseEnd = String.raw`(?=\s*(?:$|[.,;!)\u2013\u2014]|(?:and|yet|so far|here|at all|or)\b))`;
const didNot = String.raw`\b(?:I|[Ww]e)\s+(?:have\s+not|haven['\u2019]t|did\s+not|didn['\u2019]t)\s+(?:yet\s+|actually\s+)?`;
const changeVerb = String.raw`(?:changed?|edit(?:ed)?|modif(?:y|ied)|touch(?:ed)?|alter(?:ed)?)`;
const changed = String.raw`(?:changed|edited|modified|touched|altered|updated)`;
const wasDone = String.raw`(?:was|were|has been|have been)`;

const noChange = new RegExp(
  String.raw`${didNot}${changeVerb}\s+(any(?:thing)?(?:\s+(?:of\s+)?(?:the\s+|your\s+)?(?:files?|code))?|the\s+(?:code|codebase|files))${clauseEnd}|\b(?:I|[Ww]e)(?:['\u2019]ve|\s+have)?\s+made\s+no\s+(?:file\s+)?changes(?:\s+to\s+(?:the|any|your)\s+(?:files?|code|codebase))?${clauseEnd}|\b[Nn]o\s+files?\s+${wasDone}\s+${changed}${clauseEnd}|^Nothing\s+${wasDone}\s+${changed}${clauseEnd}|\b(?:I|[Ww]e)\s+(?:have\s+)?left\s+(?:all\s+(?:the\s+)?|the\s+|every\s+)files?\s+(?:unchanged|untouched|as\s+(?:it|they)\s+(?:is|are|was|were))${clauseEnd}|^No\s+(?:code\s+|file\s+)?changes\s+(?:were|have\s+been)\s+made(?:\s+to\s+(?:the|any)\s+(?:files|code))?${clauseEnd}|\b(?:I|[Ww]e)\s+(?:have\s+)?changed\s+nothing${clauseEnd}|^The\s+(?:working\s+tree|code\s?base|repository)\s+(?:is|was\s+left)\s+(?:unchanged|untouched)${clauseEnd}`,
  'g',
);

const noOther = new RegExp(
  String.raw`\b[Nn]o\s+other\s+files?\s+${wasDone}\s+${changed}${clauseEnd}|${didNot}${changeVerb}\s+any(?:thing\s+else|\s+other\s+files?)${clauseEnd}`,
  'g',
);

const path = String.raw`(?:the\s+(?:file\s+)?)?(?:\uE000+|[\w@./-]{3,100})`;
const paths = String.raw`${path}(?:(?:,\s+|,?\s+and\s+)${path}){0,4}`;
const onlyChange = new RegExp(
  String.raw`^Only\s+(${paths})\s+${wasDone}\s+${changed}(?=\s*(?:$|[.,;)]))|\b(?:I|[Ww]e)(?:['\u2019]ve|\s+have)?\s+only\s+(?:had\s+to\s+)?${changeVerb}\s+(${paths})(?=\s*(?:$|[.,;)]))|\b[Tt]he\s+only\s+(?:changed\s+)?file\s+(?:that\s+)?(?:I\s+|we\s+)?(?:${changed}\s+)?(?:is|was)\s+(${path})(?=\s*(?:$|[.,;)]))`,
  'g',
);

const noRun = new RegExp(
  String.raw`${didNot}(?:run|ran|executed?)\s+(anything|any\s+commands?|a\s+single\s+command|the\s+tests?(?:\s+suite)?|any\s+tests|tests)${clauseEnd}|\b[Nn]o\s+(commands?|tests)\s+${wasDone}\s+(?:run|executed)${clauseEnd}|\b(?:I|[Ww]e)\s+never\s+(?:ran|executed)\s+(anything|any\s+commands?|the\s+tests?(?:\s+suite)?)${clauseEnd}|^(?:[Tt]he\s+)?([Tt]ests)\s+(?:were\s+not|weren['\u2019]t|have\s+not\s+been|haven['\u2019]t\s+been)\s+(?:run|executed)${clauseEnd}`,
  'g',
);

const numbers = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
const number = String.raw`(both|two|three|four|five|six|seven|eight|nine|ten|\d{1,3})`;
const fileNoun = String.raw`(?:(?:new|temp|temporary|source|test|old|unused|empty|obsolete|stale|different|config|markdown|separate|unneeded)\s+){0,2}files\b(?!['\u2019-])`;
const countVerb = '([a-z]+(?:ed|ten)|wrote)';
const fileCount = new RegExp(
  String.raw`(?:^|\b(?:I|[Ww]e)(?:['\u2019]ve|\s+have)?\s+(?:now\s+|also\s+)?|\band\s+)${countVerb}\s+(?:a\s+total\s+of\s+|the\s+|all\s+|all\s+of\s+the\s+)?${number}\s+(?:of\s+the\s+)?${fileNoun}(?!\s+(?:from|in\s+(?:the\s+)?(?:commit|list|index)|names?))|^(?:all\s+|the\s+|a\s+total\s+of\s+)*${number}\s+${fileNoun}\s+(?:(?:were|have\s+been|are\s+now)\s+)?(?:now\s+|successfully\s+)?${countVerb}\b(?!\s+(?:by|in|since|when|on|before|from)\b)`,
  'gi',
);

type Negation = 'noChange' | 'noOther' | 'onlyChange' | 'noRun' | 'fileCount';

/** The patterns, each with what every match of it has in lower case: most statements are left without the pattern. */
export const negationPatterns: Readonly<Record<Negation, { readonly pattern: RegExp; readonly stems: RegExp }>> = {
  noChange: { pattern: noChange, stems: /chang|edit|modif|touch|alter|updated|left/ },
  noOther: { pattern: noOther, stems: /other|else/ },
  onlyChange: { pattern: onlyChange, stems: /only/ },
  noRun: { pattern: noRun, stems: /run|ran|execut/ },
  fileCount: { pattern: fileCount, stems: /files/ },
};

/** Words before such a statement that make it a condition, a wish, or a report on something else. */
const otherMeaning =
  /\b(?:if|whether|when|whenever|unless|until|once|while|before|after|because|since|would|could|should|might|may|must|will|previous\w*|earlier|yesterday|originally|so that|says?|said|claims?|e\.g|example|you|your|they|confirm(?:ed)? that|ensure|make sure|step|phase|first|initially)\b|['’]ll\b|\?/i;
/** Words after it that limit it. */
const limits =
  /^[^.;]{0,60}?\b(?:other than|except|apart from|besides|beyond|outside|unless|until|since|after|before|because|in (?:this|that|the) (?:step|turn|message|phase|run|file|folder|directory|module)|manually|by hand|there|myself|yourself|again|else|this time|of the)\b/i;

/** Letters of negations, and words of such statements that have none. */
const negations = lettersOf('n0');
const otherWords = /\bonly\b|\bfiles\b|\bun(?:changed|touched)\b/;
/** A statement of this kind has a subject in the first person, or begins with one of these words. */
const beginnings =
  /^(?:no|nothing|only|the|tests|all|both|two|three|four|five|six|seven|eight|nine|ten|a|\d+|[a-z]+ed|[a-z]+en|wrote)\b|\b(?:i|we)\b|\bno (?:other )?files?\b/;

/** Reads what was not done, and how many files were changed. */
export function readNegations({ answer, sentence, lower, words, hasCodeBlock }: Reading): readonly Action[] {
  if ((!shareLetter(words.letters, negations) && !otherWords.test(lower)) || !beginnings.test(lower)) return [];
  const { text } = sentence;
  const actions: Action[] = [];
  const each = (name: Negation, read: (match: RegExpExecArray) => Action | undefined): void => {
    const { pattern, stems } = negationPatterns[name];
    if (!stems.test(lower)) return;
    for (const match of findAll(pattern, text)) {
      if (otherMeaning.test(text.slice(0, match.index)) || limits.test(text.slice(match.index + match[0].length)))
        continue;
      const action = read(match);
      if (action) actions.push(action);
    }
  };
  each('noChange', (match) => ({ type: 'no-change', scope: /code/i.test(match[0]) ? 'code' : 'files' }));
  each('noOther', () => ({ type: 'no-change', scope: 'others' }));
  each('onlyChange', (match) => {
    const found = match[1] ?? match[2] ?? match[3] ?? '';
    const at = match.index + match[0].indexOf(found);
    const named = readTokens(answer, sentence, at, at + found.length);
    return named.some((token) => isPathLike(token.text, token.isCode))
      ? { type: 'no-change', scope: 'other-edits' }
      : undefined;
  });
  each('noRun', (match) => {
    const what = match[1] ?? match[2] ?? match[3] ?? match[4] ?? '';
    return { type: 'no-run', ...(/test/i.test(what) ? { task: 'test' } : {}) };
  });
  if (hasCodeBlock) return actions;
  each('fileCount', (match) => {
    const word = (match[2] ?? match[3] ?? '').toLowerCase();
    const verb = (match[1] ?? match[4] ?? '').toLowerCase();
    const count = word === 'both' ? 2 : numbers.includes(word) ? numbers.indexOf(word) : Number(word);
    const change = pastVerb(verb)?.kind;
    return change === 'create' || change === 'edit' || change === 'delete'
      ? { type: 'file-count', change, count }
      : undefined;
  });
  return actions;
}

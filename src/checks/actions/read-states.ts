// Reads items of lists, exit codes, printed values, and contents of files.
import { isPathLike } from './claim-paths.ts';
import { contentPattern, exitPattern, noReport, outputPattern } from './claim-patterns.ts';
import { codeMark, unmark, type Sentence } from './claim-text.ts';
import { knownProgram } from './commands.ts';
import { findAll } from '../find-all.ts';
import { lettersOf, shareLetter } from './letter-set.ts';
import { pastVerb } from './lexicon.ts';
import { readTokens, type Reading } from './read-clause.ts';
import { changeKind } from './read-verbs.ts';
import type { Action } from './types.ts';

type Change = 'create' | 'edit' | 'delete' | 'move';

const fileVerbKind = (word: string): Change | undefined => {
  const verb = pastVerb(word);
  return verb && changeKind(verb);
};

/** Where the first word ends; code is one word. */
function firstWordEnd(text: string): number {
  if (text.startsWith(codeMark)) return /^\uE000+/.exec(text)?.[0].length ?? 0;
  const end = text.search(/[\s\uE000\uE001]/);
  return end < 0 ? text.length : end;
}

const changeLabel =
  /^(?:the\s+|all\s+|list\s+of\s+)*(?:(?:source|test|code|key|main)\s+)?(?:(?:files?|changes?|modules?|documents?)\s+)?(?:that\s+)?(?:(?:i|we)(?:['’]ve|\s+have)?\s+|(?:were|have\s+been)\s+)?([a-z]+)(?:\s+(?:so\s+far|in\s+this\s+(?:session|run|change)))?(\s+(?:files?|modules?))?(?:\s*\(\d+\))?\s*(:?)\s*$/i;

/** `Files changed:` before a list of files. */
export function readLabel({ text }: Sentence): Change | undefined {
  if (text.length > 60) return undefined;
  const [all, word = '', noun = '', colon = ''] = changeLabel.exec(text.trim()) ?? [];
  if (all === undefined || (colon === '' && noun === '' && !/\b(?:files?|changes?)\b/i.test(all))) return undefined;
  const verb = pastVerb(word.toLowerCase());
  if (verb?.kind === 'make' && /\bchanges\b/i.test(all)) return 'edit';
  return word.toLowerCase() === 'new' && noun !== '' ? 'create' : verb && changeKind(verb);
}

/** A file in a list after such a label. */
export function readListedFile({ answer, sentence }: Reading, change: Change): Action | undefined {
  const [first] = readTokens(answer, sentence, 0, firstWordEnd(sentence.text));
  return sentence.isFirst && first && first.at === 0 && isPathLike(first.text, first.isCode)
    ? { type: 'file', change: change === 'create' ? 'edit' : change, path: first.text }
    : undefined;
}

/** `New file: a.ts`, `Docs updated: b.md`. */
export function readNewFiles({ answer, sentence }: Reading): readonly Action[] {
  const match =
    sentence.isFirst && sentence.text.includes(':')
      ? /^(?:[a-z]+\s+){0,3}([a-z]+)\s*:\s+(?=\S)/i.exec(sentence.text)
      : undefined;
  if (!match) return [];
  const isNew = /^new\s+(?:\w+\s+)?(?:files?|modules?|tests?|scripts?|pages?|documents?)\s*:/i.test(match[0]);
  const change = isNew ? 'create' : fileVerbKind((match[1] ?? '').toLowerCase());
  if (change === undefined || /^(?:no|not|to|if|when|should|must|can|please)\b/i.test(match[0])) return [];
  const tokens = readTokens(answer, sentence, match[0].length, sentence.text.length);
  const last = tokens.findIndex((token) => !isPathLike(token.text, token.isCode) && !/^(?:and|)$/i.test(token.text));
  return tokens
    .slice(0, last < 0 ? tokens.length : last)
    .filter((token) => isPathLike(token.text, token.isCode))
    .map((token) => ({ type: 'file', change: change === 'move' ? 'edit' : change, path: token.text }));
}

/** `src/a.ts: added a check` and `src/a.ts (new)`, as an item of a list. */
export function readFileItem({ answer, sentence, words }: Reading): readonly Action[] {
  if (!sentence.isFirst) return [];
  const [first] = readTokens(answer, sentence, 0, firstWordEnd(sentence.text));
  if (!first || first.at !== 0 || !isPathLike(first.text, first.isCode)) return [];
  const rest = sentence.text.slice(first.end - (/[:,]$/.test(sentence.text.slice(0, first.end)) ? 1 : 0));
  const verb =
    /^\s*(?:[:–—-]+|=>|→|\()\s*(?:(?:now|also|just|newly|I|we|was|were|has been|is now)\s+)?([a-z]+)\b/i
      .exec(rest)?.[1]
      ?.toLowerCase() ?? '';
  const kind = verb === 'new' ? 'edit' : fileVerbKind(verb);
  if (/^\W*\w+\s+(?:at|by|when|if|during|automatically|on|with the (?:first|next))\b/i.test(rest)) return [];
  if (
    kind === undefined ||
    verb === 'set' ||
    (/^\s*\S*\s*new\s+(?!file|test|module|\))/i.test(rest) && /[swhHmnyqVRD]/.test(words.shape))
  )
    return [];
  const isWhole =
    kind !== 'delete' || /^\s*(?:[:–—-]+|\()\s*(?:deleted|removed)\s*(?:[).,]|$|file|as|since|because)/i.test(rest);
  return [{ type: 'file', change: kind === 'delete' && isWhole ? 'delete' : 'edit', path: first.text }];
}

/** Letters of reports, adverbs and values. */
const [reports, adverbs, values] = [lettersOf('RVE'), lettersOf('a'), lettersOf('ku')];

/** Words without which a sentence names no exit code, no output and no content. */
const resultWords = [/exit/, /print|output|displayed|logged|returned|reported|showed/, /now /] as const;

/** Exit codes, printed values and contents of files. */
export function readResults({ answer, sentence, words, lower }: Reading): readonly Action[] {
  const { letters, shape } = words;
  const mayHaveContent = shareLetter(letters, adverbs) && shareLetter(letters, values) && /a.*[ku]/.test(shape);
  if (!shareLetter(letters, reports) && !mayHaveContent) return [];
  const { text, start } = sentence;
  const valueOf = (match: RegExpMatchArray): string => {
    const at = start + (match.index ?? 0) + match[0].length - (match[1]?.length ?? 0);
    return unmark(answer.slice(at, at + (match[1]?.length ?? 0)));
  };
  const commandBefore = (at: number): { readonly command?: string } => {
    const code = readTokens(answer, sentence, 0, at).findLast((token) => token.isCode && knownProgram.test(token.text));
    return code ? { command: code.text } : {};
  };
  const actions: Action[] = [];
  const [hasExit, hasOutput, hasContent] = resultWords.map((each) => each.test(lower));
  if (!hasExit && !hasOutput && !hasContent) return actions;
  if (noReport.test(text.replace(/\bnow says\b/i, '')) || /\bshould\b|\bexpected\b/i.test(text)) return actions;
  for (const match of hasExit ? findAll(exitPattern, text) : []) {
    actions.push({ type: 'exit', code: Number(match[1]), ...commandBefore(match.index) });
  }
  for (const match of hasOutput ? findAll(outputPattern, text) : []) {
    const value = valueOf(match);
    if (value !== '' && value.length <= 200 && !/…|\.\.\.|<[^>]*>/.test(value))
      actions.push({ type: 'output', value, ...commandBefore(match.index + 1) });
  }
  for (const match of hasContent ? findAll(contentPattern, text) : []) {
    const value = valueOf(match);
    const tokens = readTokens(answer, sentence, 0, match.index).filter((token) => isPathLike(token.text, token.isCode));
    const path = tokens.at(-1)?.text;
    if (
      value === '' ||
      value.length > 200 ||
      /…|\.\.\./.test(value) ||
      (path === undefined && !/\bthe file\s*$/i.test(text.slice(0, match.index)))
    )
      continue;
    actions.push({ type: 'content', value, ...(path === undefined ? {} : { path }) });
  }
  return actions;
}

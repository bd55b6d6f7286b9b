// Reads what a verb of an answer says was done to files, from its object.
import { isPathLike } from './claim-paths.ts';
import type { Task } from './commands.ts';
import { lettersOf, shareLetter } from './letter-set.ts';
import type { Verb } from './lexicon.ts';
import {
  directWords,
  readClause,
  readTokens,
  targetWords,
  type Clause,
  type Reading,
  type Token,
} from './read-clause.ts';
import { readOperation } from './read-operations.ts';
import type { Action } from './types.ts';

type Change = 'create' | 'edit' | 'delete' | 'move';

/** What a verb says about a file; undefined if it is no verb for files. */
export const changeKind = ({ kind }: Pick<Verb, 'kind'>): Change | undefined =>
  kind === 'create' || kind === 'edit' || kind === 'delete' || kind === 'move' ? kind : undefined;

/** Letters of code, paths and quotations. */
const nameLetters = lettersOf('kpu');

/** Reads the actions of a verb whose object begins at an offset. */
export function readVerb(reading: Reading, verb: Verb, end: number): readonly Action[] {
  const isNamed = shareLetter(reading.words.letters, nameLetters);
  if (!isNamed && isPlain(verb) && !things.test(reading.sentence.text.slice(end))) return [];
  // `Updated: a.ts, b.ts`.
  const at = reading.sentence.text[end] === ':' ? end + 1 : end;
  const phrase = readPhrase(reading.sentence.text.slice(at), verb);
  if (phrase) return readVerb(reading, phrase.verb, at + phrase.length);
  const clause = readClause(reading, at);
  if (/^\s*(?:no|not|nothing|none|neither|only if)\b/i.test(clause.text)) return [];
  const operation = readOperation(reading, verb, clause, at);
  if (operation) return operation;
  if (isUndo(verb, clause.text) && ownChange.test(clause.text))
    return clause.tokens
      .filter((token) => isPathLike(token.text, token.isCode))
      .map((token) => ({ type: 'undo', path: token.text }));
  if (verb.kind === 'make' || verb.kind === 'build') return readMade(clause, verb);
  const kind = changeKind(verb);
  if (kind === undefined) return [];
  const place = findPlace(reading, clause, at);
  return place === undefined
    ? readFiles(reading, clause, verb, kind, at)
    : [{ type: 'file', change: place.isPart || verb.base === 'add' ? 'edit' : kind, path: place.path }];
}

/** Verbs that mean something else with a second word: `got rid of a.ts`. */
function readPhrase(rest: string, { base }: Verb): { readonly verb: Verb; readonly length: number } | undefined {
  const verb = (kind: Change, name: string): Verb => ({ base: name, kind, form: 'past', isAmbiguous: false });
  const match = /^ (?:rid of|together|up|away|out|in)(?= )/.exec(rest);
  if (!match) return undefined;
  const [phrase] = match;
  if (base === 'get' && phrase === ' rid of') return { verb: verb('delete', 'delete'), length: phrase.length };
  if (base === 'put' && phrase === ' together') return { verb: verb('create', 'create'), length: phrase.length };
  if (base === 'set' && phrase === ' up') return { verb: verb('edit', 'configure'), length: phrase.length };
  if (base === 'take' && phrase === ' out') return { verb: verb('delete', 'remove'), length: phrase.length };
  return undefined;
}

/** The file that stands before the verb: `in a.ts, I replaced the constant`, `b.ts, which I created`; undefined if the object names one. */
function findPlace(
  { answer, sentence, hasCodeBlock }: Reading,
  clause: Clause,
  at: number,
): { readonly path: string; readonly isPart: boolean } | undefined {
  if (hasCodeBlock || clause.tokens.some((token) => isPathLike(token.text, token.isCode))) return undefined;
  const before = sentence.text.slice(0, at);
  const inside =
    /^(?:in|inside|within)\s+(?:the\s+)?(?:file\s+)?(\uE000+|[\w@./-]+\.\w{1,10}),?\s+(?:I|we)(?:['’]ve|\s+have)?\s+(?:also\s+|then\s+|now\s+|just\s+)?[a-z-]+$/i.exec(
      before,
    );
  const relative =
    inside ??
    /(\uE000+|[\w@./-]+\.\w{1,10}),?\s+(?:which|that)\s+(?:I|we)(?:['’]ve|\s+have)?\s+(?:also\s+|then\s+|now\s+|just\s+)?[a-z-]+$/.exec(
      before,
    );
  const isIt = relative === null && /^\s+it(?=\s*(?:$|[.,;!]|and\b))/.test(clause.text);
  const match = relative ?? (isIt ? /^(\uE000+|[\w@./-]+\.\w{1,10})\s/.exec(before) : null);
  if (!match) return undefined;
  const start = match.index + match[0].indexOf(match[1] ?? '');
  const [token] = readTokens(answer, sentence, start, start + (match[1]?.length ?? 0));
  return token && isPathLike(token.text, token.isCode) ? { path: token.text, isPart: inside !== null } : undefined;
}

/** Whether a verb needs an object that is a file or a thing in files. */
const isPlain = ({ kind }: Verb): boolean =>
  changeKind({ kind }) !== undefined || kind === 'other' || kind === 'make' || kind === 'read';

/** Words without which an object that has no name is nothing that is looked for. */
const things =
  /test|suite|build|bug|error|warning|regression|condition|leak|crash|function|method|class|import|check|assertion|entr|endpoint|route|handler|component|hook|middleware|parser|validation|handling|signature|docstring|comment|config|quer|schema|migration|helper|module|off-by-one|case|doc|code|constant|annotation|unit|branch|commit|tag|stash|release|PR\b|request|issue|ticket|lint|type|install|deploy|push|rebase|files/i;

const isUndo = ({ base }: Verb, object: string): boolean =>
  base === 'revert' || base === 'undo' || (base === 'roll' && /^\s+back\b/i.test(object));

/** `my edit to a.ts`: what was taken back is an own change. */
const ownChange = /^\s+(?:back\s+)?(?:my|our)\s+(?:own\s+)?(?:\w+\s+)?(?:edits?|changes?)\s+(?:to|in|of)\s/i;

/** `made a small change to a.ts`, `applied the fix in b.ts`, `built a parser in c.ts`. */
function readMade(clause: Clause, own: Verb): readonly Action[] {
  const paths = clause.tokens.filter((token) => isPathLike(token.text, token.isCode));
  return /^\s+(?:[\w-]+\s+){0,6}?(?:changes?|edits?|updates?|fix(?:es)?|adjustments?|corrections?|modifications?|tweaks?|additions?|improvements?|patch(?:es)?|refactoring|rewrite|cleanups?|amendments?)\b/i.test(
    clause.text,
  ) || /\b(?:in|into)\s+(?:the\s+(?:file\s+)?)?$/i.test(clause.text.slice(0, paths[0]?.at ?? 0))
    ? readTargets(clause, paths, own)
    : [];
}

function readFiles(reading: Reading, clause: Clause, own: Verb, kind: Change, end: number): readonly Action[] {
  const verb = own.base;
  const before = (token: Token): string => clause.text.slice(0, token.at);
  const paths = clause.tokens.filter((token) => isPathLike(token.text, token.isCode));
  const isDirect = (token: Token): boolean => isObject(hidePaths(before(token), paths), kind);
  const direct = paths.filter(isDirect);
  // `the two temp files, tmp/a and tmp/b`: behind "files" a name needs no extension.
  const listed =
    /^\s+(?:(?:the|all|both|two|three|four|five|\d+|temp|temporary|old|unused|new|empty|generated)\s+)*files?,?\s+(?=[\w.-]+\/)/i.exec(
      clause.text,
    );
  if (listed && paths.length === 0 && (kind === 'delete' || kind === 'create' || kind === 'edit')) {
    const names = clause.tokens.filter(
      (token) => token.at >= listed[0].length && /^[\w.-]+(?:\/[\w.-]+)+$/.test(token.text),
    );
    const between = clause.tokens.filter((token) => token.at >= listed[0].length && !names.includes(token));
    if (names.length > 0 && between.every((token) => /^(?:and|)$/i.test(token.text))) return asFiles(names, kind);
  }
  if (/^(?:link|wire|reference|mention|hook|plug)$/.test(verb)) {
    const target =
      /^\s+(?:it|them|this|both|the (?:new )?(?:page|file|document|guide|module|helper|component))\s+(?:up\s+)?(?:from|in|into)\s+(?:the\s+)?$/i;
    const place = paths.find((token) => target.test(before(token)));
    return place ? asFiles([place], 'edit') : [];
  }
  if (/^\s+(?:(?:a|the|new|feature|git|local|separate)\s+)*branch\b/i.test(clause.text))
    return verb === 'create' ? [{ type: 'git', operation: 'branch' }] : [];
  if (verb === 'create' && /^\s+(?:(?:a|the|new|git|initial|single|separate)\s+)*commit\b/i.test(clause.text))
    return [{ type: 'git', operation: 'commit' }];
  if (/\b(?:pull request|PR|issue|ticket|merge request)\b/.test(clause.text)) return [];
  // A file that the answer shows instead of writing it is an example.
  if (
    reading.hasCodeBlock &&
    /\b(?:below|above|following|example|sample|snippet|draft|template|here)\b/i.test(reading.sentence.text)
  )
    return [];
  if (direct.length > 0) {
    if (verb === 'set' || verb === 'put' || verb === 'place') return [];
    // `changed a.ts to b.ts in the import` names two values.
    const second = paths[paths.indexOf(direct.at(-1) as Token) + 1];
    const isValue = second && /^\s+to\s+$/.test(clause.text.slice(direct.at(-1)?.end, second.at));
    if (isValue && /^(?:change|update|alter|modify|correct|fix|switch|swap|adjust)$/.test(verb)) return [];
    if (kind === 'move') return [{ type: 'file', change: 'move', path: paths.at(-1)?.text ?? '' }];
    // "added a.ts to the list" and "removed a.ts from the list" speak of names in another file.
    const next = clause.text.slice((direct.at(-1) as Token).end);
    if (
      /^\s+(?:from|with|by|references?|imports?|dependency|usage|as a dependency|entry|mentions?|to (?:the|your|my) (?:list|array|imports?|includes?|excludes?|allow|ignore))\b/i.test(
        next,
      ) &&
      (kind === 'delete' || verb === 'add')
    )
      return verb === 'add' && /^\s+(?:with|by|from)\b/i.test(next)
        ? asFiles(direct, 'edit')
        : readTargets(clause, paths, own);
    if (
      verb === 'replace' ||
      verb === 'resolve' ||
      /^\s+(?:support|handling|options?|flags?|imports?|references?|usages?|callers?|alias(?:es)?|parsing|loading|files?\b(?!\s*(?:$|[.,;(]|to|with|in|so|and|for|that|which|from)))\b/i.test(
        next,
      )
    )
      return [];
    const more = /^(?:split|extract|factor|pull)$/.test(verb) ? readTargets(clause, paths, own) : [];
    return [...asFiles(direct, verb === 'add' || verb === 'restore' ? 'edit' : kind), ...more];
  }
  const targets = readTargets(clause, paths, own);
  if (targets.length > 0) return targets;
  const more = paths.length === 0 ? readColonList(reading, end) : [];
  if (more.length > 0) return asFiles(more, kind === 'move' ? 'edit' : kind);
  return paths.length > 0 || reading.hasCodeBlock ? [] : readSomeChange(clause.text, own);
}

/** The files behind a colon: `deleted two fixtures: a.json and b.json`. */
function readColonList({ answer, sentence }: Reading, end: number): readonly Token[] {
  const match = /^\s+(?:\w+\s+){0,4}\w+s:\s+/.exec(sentence.text.slice(end));
  if (!match) return [];
  const tokens = readTokens(answer, sentence, end + match[0].length, sentence.text.length);
  const last = tokens.findIndex((token) => !isPathLike(token.text, token.isCode) && !/^(?:and|)$/i.test(token.text));
  return tokens.slice(0, last < 0 ? tokens.length : last).filter((token) => isPathLike(token.text, token.isCode));
}

/** Nouns for things in a file that have the name of another file. */
const otherThings =
  /\b(?:in|into|to|from|of|for|on|at|with|by|as|via|using|under|across|inside|within|like|than|per|off|imports?|references?|links?|paths?|names?|options?|entry|entries|values?|strings?|constants?|calls?|arguments?|requires?|dependency|dependencies|package|usages?|mentions?|rule|pattern|glob|exclude|include|line|lines|key|field|url|target|targets|default|setting|support|flag|variable|import)\b|\uE000|\uE001|['\u2019]s\b|[;:]/i;

/** Whether the words between a verb and the name of a file leave the file as its object. */
export const isObject = (text: string, kind: Change): boolean =>
  directWords.test(text) || (kind === 'edit' && text.trim().split(/\s+/).length <= 5 && !otherThings.test(text));

const asFiles = (tokens: readonly Token[], change: 'create' | 'edit' | 'delete'): readonly Action[] =>
  tokens.map((token) => ({ type: 'file', change, path: token.text }));

/** Replaces the paths before a token by nothing, so that a list of files is one object. */
function hidePaths(text: string, paths: readonly Token[]): string {
  let hidden = text;
  for (const { at, end } of paths.toReversed())
    if (end <= text.length) hidden = `${hidden.slice(0, at)} , ${hidden.slice(end)}`;
  return hidden;
}

/** Files that a change was made in: `added a check to a.ts`. */
function readTargets(clause: Clause, paths: readonly Token[], { base, kind }: Verb): readonly Action[] {
  const found: Action[] = [];
  let isOpen = false;
  let last = 0;
  for (const token of paths) {
    const between = clause.text.slice(last, token.at);
    const preposition = targetWords.exec(clause.text.slice(0, token.at))?.[1]?.toLowerCase();
    const isListed: boolean = isOpen && /^\s*(?:,|and|\(|\)|\s)*(?:the\s+)?$/i.test(between);
    isOpen =
      isListed ||
      (preposition !== undefined &&
        !['of', 'for', 'on', 'as', 'at', 'from', 'under', 'across'].includes(preposition)) ||
      (preposition === 'from' &&
        (kind === 'delete' || /^(?:move|relocate|extract|strip|trim|pull|factor|hoist)$/.test(base)));
    // `changed a.ts to b.ts` names two values.
    const isValue = preposition === 'to' && (/\bfrom\b/.test(clause.text) || (last > 0 && /^\s+to\s+$/.test(between)));
    // `the reference to a.ts`.
    const isAim =
      preposition === 'to' &&
      /\b(?:references?|links?|calls?|paths?|pointers?|imports?|alias(?:es)?|mentions?|redirects?|dependency)\s+to\s+(?:the\s+)?$/i.test(
        clause.text.slice(0, token.at),
      );
    if (isAim) isOpen = false;
    if (isOpen && !isValue) found.push({ type: 'file', change: 'edit', path: token.text });
    last = token.end;
  }
  return found;
}

const changedThings =
  /^\s+(?:up\s+)?(?:(?:the|a|an|all|both|your|that|this|these|those|its|our|some|failing|broken|flaky|remaining|new|existing|missing|off-by-one|type|lint|build|compile|compilation|runtime|unit|integration|regression|two|three|four|five|\d+|unused|null|underlying|actual|reported|race|memory|login|date|input|old|duplicate|deprecated|dead|redundant|stale|main|helper|public|private|async|api|error|edge-case|\uE000+)\s+){0,6}(tests?|test cases?|test suite|bugs?|build|compile errors?|type errors?|lint(?:er)? (?:errors?|warnings?)|regression|race condition|memory leak|crash|functions?|methods?|class|classes|imports?|null check|failing assertion|entry|entries|endpoints?|routes?|handlers?|components?|hooks?|middleware|parser|validation|error handling|signature|docstrings?|code comments?|config(?:uration)?|query|queries|schema|migration|helpers?|module|off-by-one|edge cases?|changelog|documentation|docs|code ?base|source code|dead code|constants?|type annotations?|unit)\b(?!\s+(?:below|above|here|as follows|you|in your (?:message|text|question|example|snippet)))/i;

const thingTasks: readonly (readonly [string, Task])[] = [
  ['test', 'test'],
  ['build', 'build'],
  ['compile', 'build'],
  ['lint', 'lint'],
  ['type e', 'types'],
];

/** A change without the name of a file; only of things that are in files. */
export function readSomeChange(text: string, { base, kind }: Verb): readonly Action[] {
  if (
    !/^(?:create|edit|delete|move)$/.test(kind) ||
    /^(?:put|place|set|note|mark|cover|pull|roll|address|touch|draft)$/.test(base)
  )
    return [];
  const thing = changedThings.exec(text)?.[1]?.toLowerCase();
  if (
    thing === undefined ||
    /\b(?:below|above|following|snippet|example|here|report|summary|plan|list|answer)\b/i.test(text)
  )
    return [];
  const task = thingTasks.find(([start]) => thing.startsWith(start))?.[1];
  const isFix = /^(?:fix|repair|correct|resolve)$/.test(base);
  return [{ type: 'some-change', ...(task && isFix ? { task } : {}) }];
}

// Reads statements without a subject that acts: passive sentences, items of lists, tests that pass, exit codes, printed values, contents.
import { isPathLike } from './claim-paths.ts';
import {
  contentPattern,
  exitPattern,
  fileVerbKind,
  narrowing,
  noPassReport,
  noReport,
  otherActor,
  outputPattern,
  passException,
  passWords,
  taskNouns,
  passiveVerb,
  passPatterns,
} from './claim-patterns.ts';
import { codeMark, unmark, type Sentence } from './claim-text.ts';
import { knownProgram, type Task } from './commands.ts';
import { findAll } from './find-all.ts';
import { directWords, readTokens, type Reading, type Token } from './read-clause.ts';
import { readSomeChange, taskWords } from './read-verbs.ts';
import type { Action } from './types.ts';

/** `config.ts has been created`, `The changes have been committed`. */
export function readPassives(reading: Reading): readonly Action[] {
  const { answer, sentence } = reading;
  const { text } = sentence;
  const actions: Action[] = [];
  if (!/\b(?:been|was|were|now)\b/.test(text)) return actions;
  for (const match of findAll(passiveVerb, text)) {
    const verb = (match[1] ?? '').toLowerCase();
    const subject = text.slice(0, match.index);
    const after = text.slice(match.index + match[0].length);
    if (noReport.test(subject) || otherActor.test(after) || /\b(?:which|that|who|no|after|before)\b/i.test(subject))
      continue;
    const tokens = readTokens(answer, sentence, 0, match.index);
    const paths = tokens.filter((token) => isPathLike(token.text, token.isCode));
    const kind = fileVerbKind(verb);
    if (verb === 'committed' || verb === 'pushed') {
      if (/\b(?:changes?|everything|work|fix|files?|code|commits?|branch|update)\b/i.test(subject))
        actions.push({ type: 'git', operation: verb === 'committed' ? 'commit' : 'push' });
    } else if (verb === 'run' || verb === 'executed') {
      const task = taskWords.find(([, pattern]) => pattern.test(` ${subject}`))?.[0];
      if (task) actions.push({ type: 'run', task });
    } else if (kind !== undefined && paths.length > 0 && kind !== 'move') {
      const last = paths.at(-1) as Token;
      const isSubject = directWords.test(text.slice(last.end, match.index).replaceAll(/[,)]/g, ' '));
      const hasOther = /\b(?:in|to|inside|of|from|for)\s+(?:the\s+)?(?:file\s+)?$/i.test(text.slice(0, paths[0]?.at));
      if (isSubject)
        for (const token of paths) actions.push({ type: 'file', change: hasOther ? 'edit' : kind, path: token.text });
    } else if (kind === 'edit' && !reading.hasCodeBlock && paths.length === 0)
      actions.push(...readSomeChange({ text: ` ${subject}`, tokens: [] }, verb));
  }
  return actions;
}

/** Where the first word ends; code is one word. */
function firstWordEnd(text: string): number {
  if (text.startsWith(codeMark)) return /^\uE000+/.exec(text)?.[0].length ?? 0;
  const end = text.search(/[\s\uE000\uE001]/);
  return end < 0 ? text.length : end;
}

const changeLabel =
  /^(?:files?\s+)?(?:i\s+)?(created|added|modified|changed|updated|edited|deleted|removed)(?:\s+files?)?(?:\s*\(\d+\))?\s*:\s*$/i;

/** `Files changed:` before a list of files. */
export const readLabel = ({ text }: Sentence): 'create' | 'edit' | 'delete' | 'move' | undefined => {
  const verb = changeLabel.exec(text.trim())?.[1]?.toLowerCase();
  return verb === undefined ? undefined : fileVerbKind(verb);
};

/** A file in a list after such a label. */
export function readListedFile(
  { answer, sentence }: Reading,
  change: 'create' | 'edit' | 'delete' | 'move',
): Action | undefined {
  const [first] = readTokens(answer, sentence, 0, firstWordEnd(sentence.text));
  return sentence.isFirst && first && first.at === 0 && isPathLike(first.text, first.isCode)
    ? { type: 'file', change: change === 'create' ? 'edit' : change, path: first.text }
    : undefined;
}

/** `src/a.ts: added a check` and `src/a.ts (new)`, as an item of a list. */
export function readFileItem({ answer, sentence }: Reading): readonly Action[] {
  if (!sentence.isFirst) return [];
  const [first] = readTokens(answer, sentence, 0, firstWordEnd(sentence.text));
  if (!first || first.at !== 0 || !isPathLike(first.text, first.isCode)) return [];
  const rest = sentence.text.slice(first.end - (/[:,]$/.test(sentence.text.slice(0, first.end)) ? 1 : 0));
  const verb = /^\s*(?:[:–—-]+|\()\s*(?:(?:now|also|just|newly)\s+)?([a-z]+)\b/i.exec(rest)?.[1]?.toLowerCase() ?? '';
  const kind = verb === 'new' ? 'edit' : fileVerbKind(verb);
  if (/^\W*\w+\s+(?:at|by|when|if|during|automatically|on|with the (?:first|next))\b/i.test(rest)) return [];
  if (kind === undefined || verb === 'set' || /^\s*\S*\s*new\s+(?!file|test|module|\))/i.test(rest)) return [];
  const isWhole =
    kind !== 'delete' || /^\s*(?:[:–—-]+|\()\s*(?:deleted|removed)\s*(?:[).,]|$|file|as|since|because)/i.test(rest);
  return [{ type: 'file', change: kind === 'delete' && isWhole ? 'delete' : 'edit', path: first.text }];
}

/** A command in backticks that passed. */
const passingCommand =
  /(\uE000+)\s+(?:(?:now|still|also|then|again)\s+)?(?:passes|passed|succeeds|succeeded|(?:completed|completes|finished|ran|runs) (?:successfully|cleanly|without errors?)|is (?:now )?(?:green|clean))(?=\s*(?:$|[.,;:!)]|(?:now|again|too|and|with|after|without|cleanly|as well)\b))/g;

const taskNames: readonly Task[] = ['test', 'build', 'lint', 'types'];

/** `All tests pass`, `the build succeeds`, and a command in backticks that `passes`. */
export function readPasses({ answer, sentence, lower }: Reading): readonly Action[] {
  const { text } = sentence;
  const actions: Action[] = [];
  if (!passWords.test(lower) && !text.includes(codeMark)) return actions;
  const named = taskNames.filter((task) => taskNouns[task].test(lower));
  for (const [task, pattern] of named.length > 0 ? passPatterns : []) {
    if (!named.includes(task)) continue;
    for (const match of findAll(pattern, text)) {
      const before = text.slice(0, match.index).replace(/^.*;/, '');
      const after = text.slice(match.index + match[0].length);
      if (
        noPassReport.test(before.replaceAll(/\bI (?:have )?(?:verified|confirmed|checked) (?:that )?/gi, '')) ||
        passException.test(after)
      )
        continue;
      if (/\b(?:continue to|should|would|to)\s+\w+$/i.test(match[0]) && !/continue to/i.test(match[0])) continue;
      // "what the test passed" is about a value.
      if (
        !/(?:^|[,;:()–—-]|\b(?:and|that|then|now|so|with|but|confirmed|verified|afterwards|again|after that|passing|clean|of them|of which))\s*$/i.test(
          before,
        )
      )
        continue;
      const counts = [...match[0].matchAll(/\d[\d,]*/g)].map(([digits]) => Number(digits.replaceAll(',', '')));
      if (counts.length === 2 && counts[0] !== counts[1]) continue;
      if (
        /\bout\s+of\b|\d+\s+of\s+(?:the\s+)?\d+/i.test(
          text.slice(Math.max(0, match.index - 20), match.index + match[0].length),
        )
      )
        continue;
      const isNarrow =
        narrowing.test(match[1] ?? '') || /\bin\s+\S+/.test(match[0]) || /^\s+(?:in|for|on)\b/.test(after);
      actions.push({
        type: 'pass',
        task,
        ...(isNarrow ? { isNarrow } : {}),
        ...(task === 'test' && /\b(?:full|entire|whole|complete)\b/i.test(match[1] ?? '') ? { isFull: true } : {}),
        ...(task === 'test' && counts[0] !== undefined ? { count: counts[0] } : {}),
      });
    }
  }
  if (!text.includes(codeMark)) return actions;
  for (const match of findAll(passingCommand, text)) {
    const command = unmark(
      answer.slice(sentence.start + match.index, sentence.start + match.index + (match[1]?.length ?? 0)),
    );
    if (!knownProgram.test(command) || !/\s|^(?:tsc|pytest|eslint|jest|vitest|mypy|ruff|make|mocha)$/.test(command))
      continue;
    if (noPassReport.test(text.slice(0, match.index)) || passException.test(text.slice(match.index + match[0].length)))
      continue;
    actions.push({ type: 'pass', command });
  }
  return actions;
}

/** Words without which a sentence names no exit code, no output and no content. */
const resultWords = [/exit/, /print|output|displayed|logged|returned|reported|showed/, /now /] as const;

/** Exit codes, printed values and contents of files. */
export function readResults({ answer, sentence, lower }: Reading): readonly Action[] {
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

// Reads outcomes: `all tests pass`, `lint and types are clean`, `no type errors`, `22 tests, 0 failures`. The phrases are found in the letters of a sentence.
import { unmark } from './claim-text.ts';
import { knownProgram, type Task } from './commands.ts';
import { findAll } from '../find-all.ts';
import { lettersOf, shareLetter } from './letter-set.ts';
import type { Reading } from './read-clause.ts';
import { readCounts } from './read-counts.ts';
import type { Action } from './types.ts';

/** A task or a command as a subject: `the unit tests`, `lint`, `the type check (tsc)`. */
const noun = String.raw`[TBLYMk][TBLYJFj]{0,3}(?:\([kopTLBYj,c]{1,6}\))?`;
const before = '[dlj#/]{0,8}x?';
const subjects = String.raw`${before}${noun}(?:[,c]{1,2}${before}${noun}){0,4}`;
const place = '(?:t[dlj]{0,3}[pkTo]J?)?';

/** `the tests in a.test.ts all pass now`, `Lint: clean`. */
const passed = new RegExp(
  String.raw`(${subjects})(${place})[:-]{0,2}((?:[swh]?[ab]{0,2}[VJ]a{0,2}c)?[alswhbV]{0,6})[rA]`,
  'g',
);
/** `the type checker reports no errors`, `the suite finished without failures`. */
const faultless = new RegExp(String.raw`(${subjects})(${place})[:-]{0,2}([alswhbVRtvH]{0,5})0[ldjTBLY]{0,2}f`, 'g');
/** `the project compiles without errors`, `it builds again`. */
const compiles = /[dlj]{0,3}[Oe][alA]{0,3}[rvYL](?=$|[.,;)!]|[AaclJ]|0|r|t0|o)/g;
/** `no test failures`, `zero lint errors`. */
const noFaults = /0[ldj]{0,2}([TBLY])J?f|^0f/g;
/** `zero failures in the test run`. */
const noFaultsIn = /0l?ft[dlj]{0,3}([TBLY])/g;
/** `none of the tests fail`, `no tests are failing`. */
const noneFails = /0[ld]{0,3}TJ?[alswh]{0,3}x(?=$|[.,;:)!c])/g;
/** `the new code passes all tests`. */
const passesTests = /r[ldj#]{1,5}TJ?(?=$|[.,;)c])/g;
/** `a clean build`, `with a green test run`. */
const goodRun = /(?:^|[td,c:(-])[dj]{0,2}r[j]{0,1}([TBLY])J{0,2}(?=$|[.,;)c])/g;
const everything = /e[alswhV]{0,4}r(?=$|[.,;:!)(c-])/g;
const allGreen = /(?<=^|[:,(c.-])l?r(?=$|[.,;)])/g;

const tasks: Readonly<Record<string, Task>> = { T: 'test', B: 'build', L: 'lint', Y: 'types', M: 'migration' };
const compileTasks: Readonly<Record<string, Task>> = {
  compiles: 'build',
  compiled: 'build',
  builds: 'build',
  built: 'build',
  'type-checks': 'types',
  typechecks: 'types',
  'type-checked': 'types',
  lints: 'lint',
};
const narrowing =
  /\b(?:unit|integration|regression|e2e|end-to-end|smoke|relevant|affected|updated|remaining|other|new|existing|related|added|modified|these|those|both|backend|frontend|one|failing|failed|broken)\b/;
const good = /^(?:pass|passes|passed|passing|green|succeed|succeeds|succeeded)$/;

/** What may not follow: a condition or an exception. */
const exception =
  /^[^.]{0,80}?\b(?:if|when|whenever|unless|once|except|apart from|aside from|other than|but (?:one|two|three|\d|for|the)|only|as long as|(?:in|on) (?:the )?CI|before|would|should|expected|until|fail\w*|provided|your?)\b/i;

/** Failures that are denied. */
const deniedFailures = /\b(?:no|none|zero|0|without|nothing)\s+(?:[a-z]+\s+){0,2}fail\w*/gi;

/** Letters of outcomes, and of everything and the code as a whole. */
const [outcomeLetters, wholeLetters] = [lettersOf('rfAx/'), lettersOf('eO')];

/** Reads outcomes. A shape without a letter of an outcome has none. */
export function readOutcomes(reading: Reading): readonly Action[] {
  const { sentence, words: split, answer, hasCodeBlock } = reading;
  const { words, shape, letters } = split;
  if (!shareLetter(letters, outcomeLetters) && !(shareLetter(letters, wholeLetters) && /[eO]a?[YL]/.test(shape)))
    return [];
  const found: Action[] = [];
  const textOf = (from: number, to: number): string =>
    sentence.text.slice(words[from]?.at ?? 0, words[to - 1]?.end ?? 0);
  const isReport = (from: number, to: number): boolean =>
    !isHypothetical(reading, from) &&
    !exception.test(sentence.text.slice(words[to - 1]?.end ?? 0).replaceAll(deniedFailures, ''));
  const add = (letters: string, from: number, isStill: boolean, isNarrow: boolean): void => {
    const counts: number[] = [];
    for (const [i, letter] of letters.split('').entries()) {
      const word = words[from + i];
      if (!word) continue;
      if (letter === '#' || letter === '/')
        counts.push(...word.text.split('/').map((each) => Number(each.replaceAll(',', ''))));
      const task = tasks[letter];
      if (letter === 'k') {
        const command = unmark(answer.slice(sentence.start + word.at, sentence.start + word.end));
        if (isCommand(command)) found.push({ type: 'pass', command });
      }
      // `test` in `test suite` is a part of the next word.
      if (
        task === undefined ||
        'TBLY'.includes(letters[i + 1] ?? '.') ||
        (word.text === 'type' && letters[i + 1] !== 'J')
      )
        continue;
      if (word.text === 'checks' && letters[i - 1] !== 'Y' && letters[i - 1] !== 'L')
        found.push({ type: 'pass', isAny: true });
      else
        found.push({
          type: 'pass',
          task,
          ...(isNarrow ? { isNarrow } : {}),
          ...(task === 'test' &&
          /\b(?:full|entire|whole|complete)\b/.test(
            words
              .slice(from, from + i)
              .map(({ text }) => text)
              .join(' '),
          )
            ? { isFull: true }
            : {}),
          ...(isStill && task === 'test' && !letters.includes('j') ? { isStill } : {}),
          ...(task === 'test' && counts[0] !== undefined ? { count: counts[0] } : {}),
        });
    }
  };
  for (const pattern of shape.includes('0') ? [passed, faultless] : [passed])
    for (const match of findAll(pattern, shape)) {
      const [all, given = '', where = '', links = ''] = match;
      const to = match.index + all.length;
      const subject = dropOtherCode(reading, given, match.index);
      let from = match.index + given.length - subject.length;
      if (subject === '') continue;
      const result = words[to - 1]?.text ?? '';
      const next = shape[to] ?? '';
      if (next !== '' && !'.,;:()-caltA0r'.includes(next)) continue;
      if (next === 't' && !/^(?:with|after|in|on|for|at|under)$/.test(words[to]?.text ?? '')) continue;
      if (pattern === passed && !isOutcome(result, links, all)) continue;
      while (from > 0 && /^(?:npm|yarn|pnpm|bun|cargo|go|run|make|npx)$/.test(words[from - 1]?.text ?? '')) from--;
      if (!startsStatement(shape, from, words[from - 1]?.text) || !isReport(from, to)) continue;
      const text = textOf(from, to);
      const numbers = text.match(/\d[\d,]*/g) ?? [];
      if (/\d+\s+(?:of|out of)\s+(?:the\s+)?\d+/i.test(text) && numbers[0] !== numbers[1]) continue;
      if (/^(\d+)\/(\d+)$/.test(words[from]?.text ?? '') && numbers[0] !== numbers[1]) continue;
      const isNarrow =
        where !== '' ||
        narrowing.test(
          text.slice(0, (words[from + subject.length - 1]?.end ?? 0) - (words[from]?.at ?? 0)).toLowerCase(),
        ) ||
        (next === 't' && /^(?:in|for|on)$/.test(words[to]?.text ?? ''));
      add(subject, match.index + given.length - subject.length, / still /.test(` ${text} `), isNarrow);
    }
  for (const match of findIf(shape, '0', noFaults)) {
    const next = shape[match.index + match[0].length] ?? '';
    const previous = shape[match.index - 1] ?? '';
    if (match[1] === undefined && words[1]?.text !== 'failures') continue;
    const isThere = previous === 's' && /^there$/.test(words[match.index - 2]?.text ?? '');
    const isEnd =
      next === '' ||
      '.,;:)c-'.includes(next) ||
      /^(?:remain|remaining|left|found|reported|anymore)$/.test(words[match.index + match[0].length]?.text ?? '');
    if (
      isEnd &&
      (previous === '' || ',:;.c(-tvR'.includes(previous) || isThere) &&
      isReport(match.index, match.index + match[0].length)
    )
      found.push({ type: 'pass', task: tasks[match[1] ?? ''] ?? 'test' });
  }
  for (const match of findIf(shape, '0', noFaultsIn))
    if (
      (match.index === 0 || ',:;.c(-tv'.includes(shape[match.index - 1] ?? '')) &&
      isReport(match.index, match.index + match[0].length)
    )
      found.push({ type: 'pass', task: tasks[match[1] ?? ''] ?? 'test' });
  for (const match of findIf(shape, '0', noneFails)) {
    const end = match.index + match[0].length;
    if (!words[end - 1]?.text.startsWith('fail') || !startsStatement(shape, match.index, words[match.index - 1]?.text))
      continue;
    if (isReport(match.index, end)) found.push({ type: 'pass', task: 'test' });
  }
  for (const match of findIf(shape, 'T', passesTests)) {
    const subject = words[match.index - 1]?.text ?? '';
    const isCode =
      /^(?:it|code|codebase|project|app|application|version|implementation|change|fix|patch|build|package|library|module|solution|everything|now)$/.test(
        subject,
      );
    if (
      isCode &&
      /^pass(?:es|ed)$/.test(words[match.index]?.text ?? '') &&
      isReport(match.index, match.index + match[0].length)
    )
      found.push({
        type: 'pass',
        task: 'test',
        ...(/\b(?:full|entire|whole|complete)\b/.test(textOf(match.index, match.index + match[0].length))
          ? { isFull: true }
          : {}),
      });
  }
  for (const match of findIf(shape, 'r', goodRun)) {
    const at = match.index + match[0].search(/r/);
    if (
      /^(?:green|clean|successful)$/.test(words[at]?.text ?? '') &&
      isReport(match.index, match.index + match[0].length) &&
      /^with$|^a$|^got$/.test(textOf(match.index, at).trim().split(/\s+/)[0] ?? '') &&
      !hasCodeBlock
    )
      found.push({ type: 'pass', task: tasks[match[1] ?? ''] ?? 'test' });
  }
  for (const match of hasCodeBlock || !shareLetter(letters, wholeLetters) ? [] : findAll(compiles, shape)) {
    const end = match.index + match[0].length;
    const task = compileTasks[words[end - 1]?.text ?? ''];
    if (
      task === undefined ||
      !startsStatement(shape, match.index, words[match.index - 1]?.text) ||
      !isReport(match.index, end)
    )
      continue;
    // Alone it may describe the code of the user.
    const isSure =
      /^\s*(?:successfully|cleanly|again|fine|now|with no |without |just fine|ok\b|okay)/i.test(
        sentence.text.slice(words[end - 1]?.end),
      ) || /\b(?:now|still|again)\b/i.test(textOf(match.index, end));
    const isEnd = /^\s*(?:$|[.,;)!]|and\b)/.test(sentence.text.slice(words[end - 1]?.end));
    if (isSure || (isEnd && shape[end - 2] === 'e') || (isEnd && (match.index > 0 || !sentence.isFirst)))
      found.push({ type: 'pass', task });
  }
  for (const match of findIf(shape, 'e', everything)) {
    const result = words[match.index + match[0].length - 1]?.text ?? '';
    if (
      !startsStatement(shape, match.index, words[match.index - 1]?.text) ||
      !isReport(match.index, match.index + match[0].length)
    )
      continue;
    if (good.test(result)) found.push({ type: 'pass', isAny: true });
    else if (result === 'compiles' || result === 'builds') found.push({ type: 'pass', task: 'build' });
  }
  for (const match of findIf(shape, 'l', allGreen)) {
    const result = words[match.index + match[0].length - 1]?.text ?? '';
    if (
      match[0].length === 2 &&
      /^(?:green|passing|passed|pass)$/.test(result) &&
      words[match.index]?.text === 'all' &&
      !found.some(({ type }) => type === 'pass') &&
      isReport(match.index, match.index + 2)
    )
      found.push({ type: 'pass', isAny: true });
  }
  readCounts(reading, found, isReport);
  return found;
}

/** Finds all matches in a shape, if it has a letter without which the pattern cannot match. */
const findIf = (shape: string, letter: string, pattern: RegExp): readonly RegExpExecArray[] =>
  shape.includes(letter) ? findAll(pattern, shape) : [];

/** Whether a word of an outcome says that the subject passed. */
function isOutcome(result: string, links: string, all: string): boolean {
  if (good.test(result)) return true;
  if (result === 'compiles' || result === 'builds') return false;
  // `a build successfully`: an adverb needs a verb.
  if (result.endsWith('ly')) return links.includes('V') || !/[sw]/.test(links);
  return /[:-]/.test(all) || /[swhbV]/.test(links) || /^\W+$/.test(result);
}

/** Leaves out code before the first subject that is a task or a command: `a.ts` in "`parse` and all tests pass". */
function dropOtherCode({ answer, sentence, words: { words } }: Reading, subject: string, at: number): string {
  let rest = subject;
  for (let i = at; rest.startsWith('k'); i = at + subject.length - rest.length) {
    const word = words[i];
    if (word && isCommand(unmark(answer.slice(sentence.start + word.at, sentence.start + word.end)))) break;
    const next = /^k[^,c]*[,c]*/.exec(rest)?.[0].length ?? rest.length;
    rest = rest.slice(next);
  }
  return rest;
}

const isCommand = (text: string): boolean =>
  knownProgram.test(text) && /\s|^(?:tsc|pytest|eslint|jest|vitest|mypy|ruff|make|mocha)$/.test(text);

/** Whether a statement begins at a word: at the start, behind a sign, `and` or `that`; not behind a noun, as in `what the test passed`. */
const startsStatement = (shape: string, at: number, previous: string | undefined): boolean =>
  at === 0 ||
  (/^t[dlj]{0,3}[ozpk]$/.test(shape.slice(0, at)) && !shape.startsWith('tp')) ||
  ',:;.(-)ca'.includes(shape[at - 1] ?? '') ||
  /^(?:that|so|with|where|which|confirmed|verified|passing|clean|lint|since|checked)$/.test(previous ?? '');

/** Whether the words before a statement make it a condition, a wish, an instruction or a report by others. */
function isHypothetical({ words: { words, shape } }: Reading, at: number): boolean {
  let prefix = shape.slice(0, at);
  const cut = Math.max(prefix.lastIndexOf(';'), prefix.lastIndexOf(':'));
  if (cut >= 0) prefix = prefix.slice(cut + 1);
  const join = Math.max(prefix.lastIndexOf(',c'), prefix.lastIndexOf('-'));
  const from = at - prefix.length;
  if (join >= 0 && !prefix.slice(0, join).includes('m')) prefix = prefix.slice(join + 1);
  const first = words[from]?.verb;
  const isInstruction =
    at > from &&
    first !== undefined &&
    first.form !== 'gerund' &&
    (first.form === 'base' || first.isAmbiguous) &&
    words[from]?.text !== 'set' &&
    shape[from] !== 'T';
  // `see that all tests pass`.
  const told = words[at - 1]?.text === 'that' ? words[at - 2]?.verb : undefined;
  return /[mnyPx0?]/.test(prefix) || isInstruction || (told !== undefined && told.form !== 'past');
}

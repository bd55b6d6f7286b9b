// Reads stated figures: failed and skipped tests, what a command counted, measured values; and results of a run that another sentence names.
import { codeMark, unmark } from './claim-text.ts';
import { knownProgram } from './commands.ts';
import { findAll } from '../find-all.ts';
import { lettersOf, shareLetter } from './letter-set.ts';
import type { Reading } from './read-clause.ts';
import type { Action } from './types.ts';

/** Words before a figure or a result that make it a condition, a wish, or a report on something else. */
const otherMeaning: RegExp =
  /\b(?:if|whether|when|whenever|unless|until|once|would|could|should|might|may|must|can|will|to (?:make|ensure|see|check|get|keep)|ensures?|ensuring|make sure|so that|expect\w*|require[sd]?|you|your|they|previous\w*|earlier|originally|before|initially|first|baseline|goal|target|example|e\.g|says?|said|claims?|CI|pipeline|because|hope\w*|believe|think|likely|probably|presumably|appears?|seems?|means?|even|always|usually|typically|cannot|never|why|how|without)\b|n['’]t\b|['’]ll\b|\?/i;

/** Words after it that limit it. */
const limits: RegExp =
  /^[^.;]{0,80}?\b(?:before (?:this|the|my)|prior to|when|whenever|if|unless|once|until|except|apart from|previously|means?|would|should|as long as|provided)\b/i;

const zeroTests =
  /\b(?:0|no|zero)\s+(?:tests?\s+)?(?:(?:is|are|was|were)\s+)?(?:(failed|failures?|failing)|(skipped))\b(?:\s+(?:tests?\b)?(?:or|and)\s+(failed|failing|failures?|skipped)\b)?(?!\s+(?:cases?|jobs?|logins?|requests?|attempts?|assertions?|builds?))/gi;
const testContext = /\b(?:tests?|test suite|suite|specs?)\b|\b\d+ (?:passed|passing)\b/i;
const noneSkipped = /\b(?:nothing|none\s+of\s+the(?:m|\s+tests))\s+(?:was|were)\s+skipped(?=\s*(?:$|[.,;:!)]|and\b))/gi;
const listedTests = /(?<![\d.,/])(\d[\d,]{0,8})\s+(?:tests?\s+)?(failed|skipped)\b(?=\s*(?:$|[.,;)]|and\b))/gi;

const nouns = 'vulnerabilit|error|warning|problem|issue|failure';
const counted = new RegExp(
  String.raw`(\uE000+)\)?\s*(?::|\u2192|\b(?:shows|showed|reports|reported|found|finds|gives|gave|returned|now\s+reports|now\s+gives)\b)\s*(\d[\d,]{0,8}|no|zero)\s+(?:(?:type|lint|known|security|open)\s+)?(${nouns})`,
  'gi',
);
const cleanCommand =
  /\bclean\s+\((\uE000+)\)|(\uE000+)\s+(?:came|comes)\s+back\s+clean\b(?!\s+(?:of|except|in|for)\b)/g;

const measures = /\b(?:I|[Ww]e)(?:['’]ve|\s+have)?\s+(?:measured|timed|clocked|benchmarked)\b|\b[Mm]easured\s*:/;
const measured =
  /(?<![\w.,/-])(\d+(?:[.,]\d+)?)\s?(ms|s|sec|seconds|milliseconds|µs|us|ns|MB|MiB|KB|kB|KiB|GB|GiB|ops\/s|req\/s|rps|qps)(?![\w/])/g;
const isEstimate =
  /\b(?:about|around|roughly|approximately|approx|nearly|almost|average[sd]?|mean|median|p\d\d|total|sum|difference|saved|per|less than|more than|under|over|up to|between|target|limit|timeout|budget|according|blog|paper|article|last|vendor|previous(?:ly)?)\b|[~≈<>±]/i;

const rerun =
  /\b(?:I|[Ww]e)(?:['’]ve|\s+have)?\s+(?:then\s+)?(?:re-?ran|re-?run|ran)\s+(?:them|it)\s*(?:again)?,?\s+and\s+(?:(?:now\s+)?(?:they|it|all|everything)\s+)?(?:(?:now|all)\s+)?pass(?:ed)?\b/g;
const secondRun = /\b(?:the\s+)?second\s+(?:one|run|test run|attempt)\s+(?:passed|succeeded|was green)\b/gi;
const doneWith =
  /(?:^|[,;:]\s*|\band\s+)(?:all\s+)?(?:unit\s+)?tests?\s+(?:done|run|executed|checked)\s+(?:with|using|via)\s+(jest|vitest|mocha|pytest|npm|cargo|go|node|ava|rspec|phpunit)\b/gi;

/** Words without which a sentence has no figure and no short result. */
const figureWords: RegExp =
  /fail|skip|vulnerab|errors?\b|warning|problem|issue|clean|measured|timed|clocked|benchmark|second|re-?r[au]n|\bran\b|tests? (?:done|run|executed|checked)/;

/** Letters of results and of code. */
const resultLetters = lettersOf('xfrk');

/** Reads figures and short results. */
export function readFigures({ answer, sentence, lower, words }: Reading): readonly Action[] {
  // A clock is no figure, so `clocked` is no start of a word.
  if (!words.mayHaveFigure && !lower.includes('clocked')) return [];
  if (!shareLetter(words.letters, resultLetters) && !/[iI]a?v|^v|T[Jv]/.test(words.shape)) return [];
  if (!figureWords.test(lower)) return [];
  const { text, start } = sentence;
  const actions: Action[] = [];
  const each = (pattern: RegExp, read: (match: RegExpExecArray) => void): void => {
    for (const match of findAll(pattern, text))
      if (!otherMeaning.test(text.slice(0, match.index)) && !limits.test(text.slice(match.index + match[0].length)))
        read(match);
  };
  const codeAt = (at: number, length: number): string => unmark(answer.slice(start + at, start + at + length));
  if (/fail|skip/.test(lower) && testContext.test(text)) {
    const isList = /^(?:tests?|results?|test results?)\s*:/i.test(text) || /\b\d+ pass(?:ed|ing)\b/i.test(text);
    each(zeroTests, (match) => {
      const states = new Set(
        [match[1], match[2], match[3]].flatMap((word) =>
          word === undefined ? [] : [/^skip/i.test(word) ? ('skipped' as const) : ('failed' as const)],
        ),
      );
      if (
        !/^\s*(?:in|for|on|from|since|by|due|when|if|unless|while|with|without|because|until|as|there|under|here)\b/i.test(
          text.slice(match.index + match[0].length),
        )
      )
        for (const state of states) actions.push({ type: 'test-count', state, count: 0 });
    });
    each(noneSkipped, () => actions.push({ type: 'test-count', state: 'skipped', count: 0 }));
    if (isList)
      each(listedTests, (match) => {
        const state = /^skip/i.test(match[2] ?? '') ? 'skipped' : 'failed';
        const count = Number((match[1] ?? '').replaceAll(',', ''));
        if (count > 0) actions.push({ type: 'test-count', state, count });
      });
  }
  const hasCode = text.includes(codeMark);
  if (hasCode)
    each(counted, (match) => {
      const command = codeAt(match.index, match[1]?.length ?? 0);
      const count = /^\d/.test(match[2] ?? '') ? Number((match[2] ?? '').replaceAll(',', '')) : 0;
      if (knownProgram.test(command))
        actions.push({ type: 'command-count', command, noun: (match[3] ?? '').toLowerCase(), count });
    });
  if (hasCode)
    each(cleanCommand, (match) => {
      const code = match[1] ?? match[2] ?? '';
      const command = codeAt(match.index + match[0].indexOf(code), code.length);
      if (knownProgram.test(command)) actions.push({ type: 'pass', command });
    });
  readMeasurements(text, actions);
  // "them" and "the second one" are the tests if the answer spoke of tests shortly before.
  const isAboutTests = (at: number): boolean =>
    /\btests?\b|\bsuite\b/i.test(answer.slice(Math.max(0, start + at - 200), start + at));
  for (const pattern of lower.includes('pass') || lower.includes('second') ? [rerun, secondRun] : [])
    each(pattern, (match) => {
      if (isAboutTests(match.index)) actions.push({ type: 'pass', task: 'test' });
    });
  if (lower.includes('tests ')) each(doneWith, () => actions.push({ type: 'run', task: 'test' }));
  return actions;
}

const maxMeasurements = 6;

function readMeasurements(text: string, actions: Action[]): void {
  const start = measures.exec(text);
  if (!start || otherMeaning.test(text.slice(0, start.index)) || isEstimate.test(text)) return;
  for (const match of findAll(measured, text.slice(start.index)).slice(0, maxMeasurements))
    actions.push({ type: 'measurement', value: match[1] ?? '', unit: match[2] ?? '' });
}

// Reads stated numbers of tests: `12 passed`, `12/12`, `22 tests, 0 failures`.
import { unmark } from './claim-text.ts';
import { knownProgram } from './commands.ts';
import { findAll } from '../find-all.ts';
import { lettersOf, shareLetter } from './letter-set.ts';
import type { Reading } from './read-clause.ts';
import type { Action } from './types.ts';

/** `41 passed`, `12/12 passing`, `npm test → 13 passed`. */
const counted = /(?<=^|[:,(c.kR-])[al]{0,2}[#/]T?r(?=$|[.,;:)(c-])/g;
const listed = /[#]J?T[,;:c(]{1,2}([0#])T?([fx])(?=$|[.,;:)(c-])/g;

const numberLetters = lettersOf('#/');

/** Reads numbers of tests and adds them to what was found. */
export function readCounts(
  { sentence, answer, words: { words, shape, letters } }: Reading,
  found: Action[],
  isReport: (from: number, to: number) => boolean,
): void {
  if (!shareLetter(letters, numberLetters)) return;
  for (const match of findAll(counted, shape)) {
    const end = match.index + match[0].length;
    const at = match.index + match[0].search(/[#/]/);
    const [count, of] = (words[at]?.text ?? '').split('/').map((each) => Number(each.replaceAll(',', '')));
    if (
      count === undefined ||
      (of !== undefined && of !== count) ||
      !/^pass(?:ed|ing|es)?$|^green$/.test(words[end - 1]?.text ?? '') ||
      !isReport(match.index, end)
    )
      continue;
    if (found.some((action) => action.type === 'pass' && action.count === count)) continue;
    const previous = words[match.index - 2];
    const code =
      shape[match.index - 2] === 'k' && ':-R'.includes(shape[match.index - 1] ?? '.') && previous
        ? unmark(answer.slice(sentence.start + previous.at, sentence.start + previous.end))
        : '';
    found.push(
      knownProgram.test(code) ? { type: 'pass', command: code, count } : { type: 'pass', task: 'test', count },
    );
  }
  // `I reran the suite: 12/12.`
  const score = /T[^;]*[:(,-]\/(?=$|[.,;)])/.exec(shape);
  const [count, of] = (score ? (words[score.index + score[0].length - 1]?.text ?? '') : '').split('/').map(Number);
  if (score && count !== undefined && count === of && isReport(score.index, score.index + score[0].length))
    found.push({ type: 'pass', task: 'test', count });
  for (const match of findAll(listed, shape)) {
    const end = match.index + match[0].length;
    if (!isReport(match.index, end)) continue;
    const [total = 0, failed = 0] = [match.index, match.index + match[0].lastIndexOf(match[1] ?? '')].map((i) =>
      Number((words[i]?.text ?? '').replaceAll(',', '')),
    );
    if (words[end - 1]?.text === 'skipped' || Number.isNaN(total)) continue;
    if (!failed) found.push({ type: 'pass', task: 'test', count: total });
    else found.push({ type: 'test-count', state: 'failed', count: failed });
  }
}

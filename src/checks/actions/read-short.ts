// Reads short results and states: `Tests: OK`, `everything is green`, `the changes are committed`, `no changes were made`.
import { unmark } from './claim-text.ts';
import { knownProgram } from './commands.ts';
import { findAll } from './find-all.ts';
import type { Reading } from './read-clause.ts';
import { limits, otherMeaning } from './read-figures.ts';
import type { Action } from './types.ts';

const end = String.raw`(?=\s*(?:$|[.,;!)]|and\b))`;
const well = String.raw`(?:ok|okay|green|clean|passed|passing|all green|all passed|all clean|no errors|no failures|no problems|no issues|success)`;

/** Phrases, and what they say. */
const phrases: readonly (readonly [RegExp, Action])[] = [
  [
    new RegExp(
      String.raw`\b(?:the\s+)?(?:changes?|work|fix|everything)\s+(?:is|are)\s+(?:now\s+)?committed${end}`,
      'gi',
    ),
    { type: 'git', operation: 'commit' },
  ],
  [
    new RegExp(
      String.raw`^(?:all\s+)?(?:the\s+)?changes?\s+(?:is|are)\s+(?:now\s+)?committed\s+on\s+(?:the\s+)?branch\b`,
      'gi',
    ),
    { type: 'git', operation: 'commit' },
  ],
  [
    new RegExp(String.raw`\b(?:the\s+)?(?:changes?|fix|everything)\s+(?:is|are)\s+(?:now\s+)?pushed${end}`, 'gi'),
    { type: 'git', operation: 'push' },
  ],
  [
    new RegExp(String.raw`\beverything\s+is\s+(?:now\s+)?merged\s+into\s+(?:main|master|develop)${end}`, 'gi'),
    { type: 'git', operation: 'merge' },
  ],
  [
    new RegExp(
      String.raw`^a\s+(?:new\s+|draft\s+)?(?:pull request|PR)\s+(?:has been|is|was)\s+(?:opened|created|submitted)${end}`,
      'gi',
    ),
    { type: 'git', operation: 'pull request' },
  ],
  [
    /^the\s+release\s+(?:has been|was|is)\s+(?:now\s+)?tagged(?:\s+as)?\s+(?:\uE000+|v?\d[\d.]{0,20})(?=\s*(?:$|[.,]))/gi,
    { type: 'git', operation: 'tag' },
  ],
  [
    new RegExp(
      String.raw`\bI\s+(?:have\s+)?left\s+(?:all\s+(?:the\s+)?|the\s+)files\s+(?:unchanged|untouched)${end}|^no\s+changes\s+were\s+made(?:\s+to\s+(?:the|any)\s+files)?${end}|\bI\s+(?:have\s+)?changed\s+nothing${end}|^the\s+working\s+tree\s+is\s+unchanged${end}`,
      'gi',
    ),
    { type: 'no-change', scope: 'files' },
  ],
  [
    new RegExp(String.raw`^no\s+changes\s+were\s+made\s+to\s+the\s+code${end}`, 'gi'),
    { type: 'no-change', scope: 'code' },
  ],
  [
    new RegExp(
      String.raw`\bI\s+never\s+ran\s+the\s+tests${end}|^(?:the\s+)?tests\s+(?:were\s+not|have\s+not\s+been)\s+run${end}`,
      'gi',
    ),
    { type: 'no-run', task: 'test' },
  ],
  [
    new RegExp(
      String.raw`^test\s+(?:run|suite|results?)\s*:\s*${well}${end}|^everything(?:['\u2019]s|\s+is)\s+green(?=\s*(?:$|[.!]))|^tests?\s*:?\s+(?:ok|okay)(?=\s*(?:$|[.,!]))|\brunning\s+the\s+tests?(?:\s+suite)?,\s+which\s+(?:all\s+)?passed${end}|^(?:all\s+)?(?:the\s+)?tests\s+(?:ran|run|finished|completed)\s+(?:successfully|cleanly|without\s+(?:any\s+)?(?:errors?|failures?))${end}|\b(?:npm\s+test|pytest|cargo\s+test|go\s+test|vitest|jest)\s+(?:now\s+)?(?:passes|passed|succeeds|succeeded|is\s+green)${end}`,
      'gi',
    ),
    { type: 'pass', task: 'test' },
  ],
  [/^(?:zero|no|0)\s+(?:test\s+)?failures(?=[.!]?$)/gi, { type: 'test-count', state: 'failed', count: 0 }],
  [
    new RegExp(
      String.raw`^build\s*:\s*${well}${end}|\bI\s+(?:have\s+)?built\s+the\s+(?:project|app|code|package)\s+(?:successfully|without\s+(?:any\s+)?errors?)${end}`,
      'gi',
    ),
    { type: 'pass', task: 'build' },
  ],
  [new RegExp(String.raw`^lint(?:er|ing)?\s*:\s*${well}${end}`, 'gi'), { type: 'pass', task: 'lint' }],
  [new RegExp(String.raw`^type[- ]?check(?:s|er|ing)?\s*:\s*${well}${end}`, 'gi'), { type: 'pass', task: 'types' }],
];

const noneSkipped = new RegExp(
  String.raw`\b(?:nothing|none\s+of\s+the(?:m|\s+tests))\s+(?:was|were)\s+skipped(?=\s*(?:$|[.,;:!)]|and\b))`,
  'gi',
);
const passedCommand = /(\uE000+)\s*(?::|\u2192|->|=>)\s*(?:all\s+)?(\d{1,6})\s+(?:tests?\s+)?pass(?:ed|ing)\b/gi;

/** Words without which a sentence has no such phrase. */
export const shortWords: RegExp =
  /(?:is|are) (?:now )?(?:committed|pushed|merged)|(?:opened|created|submitted|tagged)|unchanged|untouched|no changes|changed nothing|never ran|not (?:been )?run|^tests? |^(?:all |the )+tests |^tests?:|^everything|which (?:all )?passed|(?:test|pytest|vitest|jest) (?:now )?(?:pass|succe|is)|failures[.!]?$|^build|built the|^lint|^type|skipped|\uE000\s*(?::|\u2192|->|=>)/;

/** Reads short results and states. */
export function readShort({ answer, sentence, lower }: Reading): readonly Action[] {
  const { text, start } = sentence;
  if (!shortWords.test(lower)) return [];
  const actions: Action[] = [];
  const isReport = ({ index, 0: found }: RegExpExecArray): boolean =>
    !otherMeaning.test(text.slice(0, index)) && !limits.test(text.slice(index + found.length));
  for (const [pattern, action] of phrases)
    for (const match of findAll(pattern, text)) if (isReport(match)) actions.push(action);
  if (/\btests?\b/i.test(text))
    for (const match of findAll(noneSkipped, text))
      if (isReport(match)) actions.push({ type: 'test-count', state: 'skipped', count: 0 });
  for (const match of findAll(passedCommand, text)) {
    const command = unmark(answer.slice(start + match.index, start + match.index + (match[1]?.length ?? 0)));
    if (isReport(match) && knownProgram.test(command)) actions.push({ type: 'pass', command, count: Number(match[2]) });
  }
  return actions;
}

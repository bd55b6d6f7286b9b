// Reads what a verb of an answer says was run, checked, built, installed or read, from its object.
import { isPathLike } from './claim-paths.ts';
import { knownProgram, type Task } from './commands.ts';
import type { Verb } from './lexicon.ts';
import { readTokens, type Clause, type Reading } from './read-clause.ts';
import { git, isIssue, isRequest, readGit, readRecorded } from './read-releases.ts';
import type { Action } from './types.ts';

/** Reads the object of a verb that changes no file itself; undefined if the verb is another one. */
export function readOperation(
  reading: Reading,
  { base, kind }: Verb,
  clause: Clause,
  at: number,
): readonly Action[] | undefined {
  const rest = reading.sentence.text.slice(at);
  switch (kind) {
    case 'run':
      return readRun(reading, clause, at);
    case 'try':
      return readTried(reading, base, rest, at);
    case 'build':
    case 'lint':
    case 'types':
      return isBuilt(clause.text)
        ? withResult({ type: 'run', task: kind === 'build' ? 'build' : kind }, rest)
        : kind === 'build'
          ? undefined
          : [];
    case 'install':
      return base === 'upgrade' && !/\b(?:dependenc|package)/i.test(clause.text) ? [] : readInstall(clause);
    case 'read':
      return readRead(reading, base, rest, at);
    case 'git':
      return readGit(base, clause.text, rest);
    case 'open':
      return isRequest(clause.text)
        ? git('pull request', base !== 'close')
        : isIssue(clause.text)
          ? git('issue', base !== 'close')
          : [];
    case 'make':
      return readDone(reading, clause, rest, at);
    case 'create':
    case 'edit':
    case 'delete':
    case 'move':
      return readRecorded(base, kind, clause);
    case 'other':
    default:
      return [];
  }
}

/** Whether the object of `built`, `compiled` or `linted` is the project, or is not named. */
const isBuilt = (text: string): boolean =>
  /^\s*(?:$|[.,;:)!]|(?:it|them|everything|again|successfully|cleanly|both|and|with|without)\b|(?:(?:the|this|our|whole|entire|full|production|docker|release|debug|all|latest|updated|new|code|source|project|web|client|server)\s+)*(?:project|app|application|code|codebase|code base|package|packages|crate|image|bundle|binary|sources?|files|site|docs|library|module|solution|workspace|frontend|backend|repo|repository|target)\b(?!\s+(?:that|which|to|for|of)\b))/i.test(
    text,
  );

const passPhrases =
  /(?:\band\b|,|\bwhich\b|\(|\bwith\b|:|-|;)\s*(?:it|they|all|all of (?:them|which|the tests)|all \d+(?: tests)?|both|every(?:thing| test)|that|the (?:tests?|suite|build|command|run|result))?\s*(?:now\s+|all\s+|has\s+|have\s+|is\s+|are\s+|was\s+|were\s+|came\s+back\s+)*(?:passed|passes|pass|succeeded|succeeds|passing|(?:completed|finished|ended|ran|exited|went through|came back) (?:successfully|cleanly|clean|green|without (?:a single |any )?(?:errors?|failures?|issues?|problems?)|with (?:no|zero|0) (?:errors|failures|issues|problems))|clean|green|successful|(?:there (?:are|were) )?no (?:errors|failures|issues|problems)|ok|success)\b(?!\s+(?:up|the|a)\b)|^\s*[^,.;]{0,60}\b(?:successfully|cleanly|with(?:out)? (?:no |any |zero |0 )?(?:errors|failures|issues|problems)|with success)\b/i;
const noPass =
  /\b(?:fail\w*|but|except|not|n['’]t|to (?:see|check|verify|confirm|make|ensure)|should|if|whether|until|before|never|errors? in|without success)\b/i;

/** A run, and that it passed if the words behind it say so. */
function withResult(own: Action & { readonly type: 'run' }, rest: string): readonly Action[] {
  const after = rest.slice(0, 200);
  const isPass =
    passPhrases.test(after) &&
    !noPass.test(after.replaceAll(/\b(?:no|zero|0|without(?: a single| any)?) (?:errors?|failures?|failed)\b/gi, ''));
  const { command, task, isAny } = own;
  return isPass
    ? [
        own,
        {
          type: 'pass',
          ...(command === undefined ? {} : { command }),
          ...(task === undefined ? {} : { task }),
          ...(isAny ? { isAny } : {}),
        },
      ]
    : [own];
}

/** The words by which an answer names a task after a verb such as `ran`. */
const taskWords: readonly (readonly [Task, RegExp])[] = [
  [
    'test',
    /^\s+(?:(?:the|all|full|entire|whole|complete|existing|relevant|new|updated|unit|integration|your|our|project['’]s|project|automated|of|a|my|those|these|related|regression|backend|frontend|e2e|parser|(?:pytest|jest|vitest|mocha|node|go|rust|python)|its|same|local)\s+)*(?:tests?|test suites?|suite|test cases|testsuite|specs)\b(?!\s+(?:script|file|server|page|database|fixture|helper|plan|case for)\b)/i,
  ],
  [
    'lint',
    /^\s+(?:(?:the|a|project['’]s|our|full)\s+)*(?:linters?|lint|linting|eslint|ruff|clippy|oxlint|biome|flake8|pylint)\b/i,
  ],
  ['types', /^\s+(?:(?:the|a|full|our)\s+)*(?:type[- ]?check(?:er|s|ing)?|typescript compiler|mypy|pyright|tsc)\b/i],
  [
    'build',
    /^\s+(?:(?:the|a|full|production|clean|project['’]s|fresh|release|our|local|test|complete)\s+)*(?:build|compilation|compiler)\b(?!\s+(?:script|file)s?\b)/i,
  ],
  ['migration', /^\s+(?:(?:the|all|new|pending|database|db)\s+)*migrations?\b(?!\s+(?:tests?|script))/i],
];

/** The task that a text names first. */
export const findTask = (text: string): Task | undefined => taskWords.find(([, pattern]) => pattern.test(text))?.[0];

const barePrograms =
  /^\s+(?:the\s+)?((?:npm (?:run )?[\w:-]+|yarn (?:run )?[\w:-]+|pnpm (?:run )?[\w:-]+|bun (?:run )?[\w:-]+|node --test|pytest|cargo (?:test|build|check|clippy|run|fmt)|go (?:test|build|vet|run)|make(?: [\w-]+)?|tsc|eslint|prettier|jest|vitest|mypy|ruff|git [a-z-]+))\b/;

/** How many times something ran: `twice`, `3 times`. */
export function findTimes(text: string): { readonly times?: number } {
  const match = repeats.exec(text);
  const times = match?.[1] ? 2 : match?.[2] ? 3 : Number(match?.[3] ?? 0);
  return times > 1 ? { times } : {};
}

const repeats = /^[^,.;]{0,60}?\b(?:(twice|two times)|(three times)|(\d{1,2}) times)\b/i;

function readRun(reading: Reading, clause: Clause, at: number): readonly Action[] {
  const rest = reading.sentence.text.slice(at);
  if (/^\s*(?:into|out|through|across|a few|some|several|over|away|by)\b/i.test(rest)) return [];
  const task = findTask(rest);
  const code = clause.tokens.find((token) => token.isCode);
  const isNamed =
    code &&
    /^\s*(?:(?:the|a|this|following|command|script|test|tests|commands|build|both|with|via|using|suite|full|\uE000+|and|,|\()\s*)*$/i.test(
      clause.text.slice(0, code.at),
    );
  const command = isNamed && knownProgram.test(code.text) ? code.text : barePrograms.exec(rest)?.[1];
  const named = command === undefined ? {} : { command };
  const isFull =
    task === 'test' && /^\s+(?:(?:the|our|your)\s+)?(?:full|entire|whole|complete)\s/i.test(rest)
      ? { isFull: true }
      : {};
  const times = findTimes(rest);
  if (command === undefined && task === undefined) return [];
  const first = withResult(
    { type: 'run', ...named, ...(command === undefined && task ? { task } : {}), ...isFull, ...times },
    rest,
  );
  // `ran the linter and the test suite`: the second object.
  const second =
    command === undefined ? /^[^,.;:]{1,40}?(?:,|\band\b)(?=\s+(?:the|our|all)\s)/i.exec(rest)?.[0] : undefined;
  const other = second === undefined ? undefined : findTask(rest.slice(second.length));
  return other === undefined || other === task ? first : [...first, { type: 'run', task: other }];
}

/** `tested the change`, `verified it with the test suite`, `checked the build`. */
function readTried(reading: Reading, base: string, rest: string, at: number): readonly Action[] {
  const means = /\b(?:with|using|via|against|by running|by (?:re-?)?running|through)(?=\s)/i.exec(rest.slice(0, 120));
  if (means) {
    const behind = rest.slice(means.index + means[0].length);
    const task = findTask(behind);
    if (task)
      return withResult(
        {
          type: 'run',
          task,
          ...(task === 'test' && /^\s+(?:the\s+)?(?:full|entire|whole|complete)\s/i.test(behind)
            ? { isFull: true }
            : {}),
        },
        behind,
      );
    const [code] = readTokens(reading.answer, reading.sentence, at + means.index + means[0].length, at + rest.length);
    if (code?.isCode && knownProgram.test(code.text)) return withResult({ type: 'run', command: code.text }, behind);
  }
  const task = /^(?:verify|confirm|validate|check|recheck|re-check|double-check)$/.test(base)
    ? findTask(rest)
    : undefined;
  if (task && /^\s+(?:\w+\s+){0,4}?(?:build|type[- ]?check\w*|types|lint\w*)\s*(?:$|[.,;!]|and\b|with\b)/i.test(rest))
    return withResult({ type: 'run', task }, rest);
  const isOwnTest = /^(?:test|retest|re-test|smoke-test|exercise)$/.test(base);
  return isOwnTest &&
    /^\s*(?:$|[.,;!]|and\b|(?:it|this|that|them|everything|locally|manually|successfully|the (?:(?:new|updated|whole|actual)\s+)?(?:change|changes|fix|code|script|function|endpoint|feature|result|implementation|build|output|command|module|parser|solution|app|flow|migration|behaviou?r))\b)/i.test(
      rest,
    ) &&
    !/\b(?:manually|browser|by hand|mentally|in my head|by reading)\b/i.test(rest)
    ? [{ type: 'run', isAny: true }]
    : [];
}

/** `I read a.ts and b.ts`, `looked at c.ts`. */
function readRead({ answer, sentence, words }: Reading, base: string, rest: string, at: number): readonly Action[] {
  if (!/[iI]/.test(words.shape) || /^(?:search|grep|audit)$/.test(base)) return [];
  const preposition = /^\s+(?:(?:at|through|over|into|carefully)\s+)+/.exec(rest)?.[0] ?? '';
  if ((base === 'look' || base === 'go') && preposition === '') return [];
  const from = preposition.length;
  const end =
    /[.;:](?=\s|$)|\b(?:but|which|that|because|to|for|in|about|from|as|is|are)\b/.exec(rest.slice(from))?.index ??
    rest.length;
  const listed =
    /^(?:\s*(?:(?:all|both|the|two|three|four|five|\d+|of|files?|and|also)[\s,]+|(?:\uE000+|[\w@./-]+\.\w+)(?:[\s,]+|$)))+/.exec(
      rest.slice(from, from + end),
    )?.[0];
  if (listed === undefined) return [];
  return readTokens(answer, sentence, at + from, at + from + listed.length)
    .filter((token) => isPathLike(token.text, token.isCode))
    .map((token) => ({ type: 'read', path: token.text }));
}

const actionNouns: readonly (readonly [RegExp, Action])[] = [
  [/\bcommits?\b/i, { type: 'git', operation: 'commit' }],
  [/\b(?:release build|builds?|compilation)\b/i, { type: 'run', task: 'build' }],
  [/\b(?:test(?:s| run| pass)|suite run|run of the (?:tests?|test suite|suite))\b/i, { type: 'run', task: 'test' }],
  [/\b(?:lint(?:ing)?(?: run| pass)?)\b/i, { type: 'run', task: 'lint' }],
  [/\b(?:type[- ]?check)\b/i, { type: 'run', task: 'types' }],
  [/\b(?:install|installation)\b/i, { type: 'install' }],
  [/\b(?:deployment|deploy)\b/i, { type: 'git', operation: 'deployment' }],
  [/\brebase\b/i, { type: 'git', operation: 'rebase' }],
  [/\b(?:git )?push\b/i, { type: 'git', operation: 'push' }],
];

/** `made a commit`, `did a full build`, `performed a type check`, `applied the migration`. */
function readDone(reading: Reading, clause: Clause, rest: string, at: number): readonly Action[] | undefined {
  if (/^\s+(?:the\s+|all\s+)?(?:pending\s+)?migrations?\b/i.test(clause.text))
    return withResult({ type: 'run', task: 'migration' }, rest);
  const head =
    /^\s+(?:out\s+)?(?:(?:a|an|the|another|one|full|clean|final|fresh|complete|quick|new|single|small|second|production|local|separate|successful)\s+){1,4}(?:[\w-]+\s?){1,3}(?=\s|$|[.,;:!])/i.exec(
      clause.text,
    )?.[0];
  if (head === undefined || clause.tokens.some((token) => isPathLike(token.text, token.isCode))) return undefined;
  const found = actionNouns.find(([pattern]) =>
    new RegExp(`^\\s+(?:[\\w-]+\\s+){1,4}?${pattern.source}`, 'i').test(head),
  );
  if (!found || /\b(?:script|file|step|config|error|errors|process|system|pipeline|message|issue)\b/i.test(head))
    return undefined;
  return found[1].type === 'run' ? withResult(found[1], reading.sentence.text.slice(at)) : [found[1]];
}

function readInstall({ tokens, text }: Clause): readonly Action[] {
  const names = tokens
    .filter((token) => token.isCode && /^@?[\w./-]+(?:@[\w.^~-]+)?$/.test(token.text))
    .map((token) => token.text.replace(/(?<=.)@[^/]*$/, ''));
  if (names.length > 0) return names.map((name) => ({ type: 'install', name }));
  return /^\s+(?:(?:all|the|required|missing|new|npm|project|its|dev|necessary|of|python|outdated|two|three|\d+|development)\s+)*(?:dependenc(?:y|ies)|packages?|requirements|node modules)\b/i.test(
    text,
  )
    ? [{ type: 'install' }]
    : [];
}

// Reads what a passive verb of an answer says was done, from its subject: `a.ts has been created`, `the changes were committed`.
import { isPathLike } from './claim-paths.ts';
import type { Predicate } from './find-predicates.ts';
import { knownProgram, type Task } from './commands.ts';
import { readTokens, type Reading, type Token } from './read-clause.ts';
import { findTask, findTimes, readOperation } from './read-operations.ts';
import { changeKind, isObject, readSomeChange } from './read-verbs.ts';
import type { Action, GitOperation } from './types.ts';

/** Words after a passive verb that name another time, another actor or a rule. */
const otherActor =
  /^\s*(?:by|since|years?|long|upstream|when|if|once|only|unless|before|during|because|automatically|at|every|each|lazily|whenever|as soon|on(?! (?:the )?(?:branch|disk|main|master|develop|a new))|in (?:commit|version|v?\d|the (?:previous|last|original|first|upstream)|release|CI|PR|20\d\d|19\d\d|every|each|your|their)|from(?! (?:the )?(?:\uE000|[\w./-]+\.\w))|for (?:each|every))\b/i;

/** What may follow a state such as `is created` if it reports; else it is a rule. */
const stateEnd =
  /^\s*(?:$|[.,;:!)]|(?:and|too|as (?:well|requested|you asked|asked|\uE000|\uE001|v?\d)|(?:(?:in)?to|on) (?:the )?(?:branch|main|master|develop|production|staging|remote|origin|npm)(?= *(?:$|[.,;!)]|branch))|accordingly|now|to (?:match|use|reflect|return|handle|include)|with the (?:new|fix|change|updated)|again)\b)/i;

const works: Readonly<Record<string, GitOperation>> = {
  commit: 'commit',
  push: 'push',
  'force-push': 'push',
  merge: 'merge',
  rebase: 'rebase',
  tag: 'tag',
  stash: 'stash',
  squash: 'squash',
  'cherry-pick': 'cherry-pick',
  'squash-merge': 'merge',
  deploy: 'deployment',
  redeploy: 'deployment',
  publish: 'publication',
  release: 'publication',
};

/** Subjects of verbs of version control. */
const workNouns: Readonly<Partial<Record<GitOperation, RegExp>>> = {
  merge: /\b(?:branch|PR|pull request|everything|changes?|fix|work)\b|#\d/i,
  rebase: /\bbranch\b/i,
  tag: /\b(?:release|version|commit)\b/i,
  deployment:
    /\b(?:app|application|service|site|website|changes?|version|fix|update|release|everything|code|api|build|it|function)\b/i,
  publication: /\b(?:package|crate|version|release|gem|image|library|it)\b|\uE000|\bv?\d+\.\d/i,
};
const anyWork =
  /\b(?:changes?|everything|work|fix|files?|code|commits?|branch|update|updates|edits?|it|all|result|feature|refactoring|both|tags?)\b|\uE000|\.\w{1,5}\b/i;

/** Reads a passive verb. */
export function readPassive(reading: Reading, { verb, at, subject, isState = false }: Predicate): readonly Action[] {
  if (!subject) return [];
  const { answer, sentence } = reading;
  const after = sentence.text.slice(at);
  if (
    /\bonly\s*$/i.test(sentence.text.slice(0, subject.from)) ||
    otherActor.test(after) ||
    (isState && !stateEnd.test(after))
  )
    return [];
  const text = sentence.text.slice(subject.from, subject.to);
  const tokens = readTokens(answer, sentence, subject.from, subject.to);
  const paths = tokens.filter((token) => isPathLike(token.text, token.isCode));
  switch (verb.kind) {
    case 'git': {
      const operation = works[verb.base];
      return operation &&
        (workNouns[operation] ?? anyWork).test(text) &&
        !/\b(?:transaction|offset|message|event|request|data|options?|values?|config\w*)\b/i.test(text)
        ? [{ type: 'git', operation }]
        : [];
    }
    case 'open':
      return /\b(?:pull request|PR|merge request)\b/.test(text) && !/^the (?:same|other|original)/i.test(text)
        ? [{ type: 'git', operation: 'pull request' }]
        : /\b(?:issue|ticket)\b/.test(text) && verb.base !== 'close' && /^an? /i.test(text)
          ? [{ type: 'git', operation: 'issue' }]
          : [];
    case 'run':
    case 'make':
    case 'try':
    case 'build':
    case 'lint':
    case 'types':
      return readRan(verb.kind, text, tokens, after);
    case 'install':
      return readInstalled(text, tokens);
    case 'create':
    case 'edit':
    case 'delete':
    case 'move':
      break;
    case 'read':
    case 'other':
    default:
      return [];
  }
  if (/\b(?:pull request|PR)\b/.test(text))
    return verb.kind === 'create' ? [{ type: 'git', operation: 'pull request' }] : [];
  const noun = /^(?:(?:a|the|new|feature|release|git)\s+)*(branch|commit|tag)\b/i.exec(text)?.[1]?.toLowerCase();
  if (noun !== undefined && verb.kind === 'create') return [{ type: 'git', operation: noun as GitOperation }];
  const kind = changeKind(verb);
  if (kind === undefined) return [];
  const objects = readOperation(reading, verb, { text: ` ${text}`, tokens: [] }, at) === undefined ? paths : [];
  const last = objects.at(-1);
  if (last) {
    if (kind === 'move') return [];
    // `in a.ts the default has been changed`: the file is the place.
    const isPlace = /\b(?:in|to|inside|of|from|for|into|within)\s+(?:the\s+)?(?:file\s+)?$/i.test(
      text.slice(0, objects[0]?.at),
    );
    const isSubject = isObject(text.slice(last.end).replaceAll(/[,)]/g, ' '), 'create');
    if (!isSubject || (!isPlace && !isObject(hide(text, objects), isState ? 'create' : 'edit'))) return [];
    return objects.map((token) => ({
      type: 'file',
      change: isPlace || verb.base === 'add' ? 'edit' : kind,
      path: token.text,
    }));
  }
  // `The import was updated in a.ts`.
  const place =
    /^\s+(?:(?:out|over|up|down|back)\s+)?(?:in|to|into|inside|within)\s+(?:the\s+)?(?:file\s+)?(\uE000+|[\w@./-]+\.\w{1,10})(?=\s*(?:$|[.,;:!)]|and\b|to\b|so\b))/i.exec(
      after,
    );
  if (place && paths.length === 0) {
    const [token] = readTokens(answer, sentence, at + place[0].length - (place[1]?.length ?? 0), at + place[0].length);
    if (token && isPathLike(token.text, token.isCode)) return [{ type: 'file', change: 'edit', path: token.text }];
  }
  if (paths.length > 0 || reading.hasCodeBlock) return [];
  const count =
    /^(?:all |the )*(both|two|three|four|five|six|seven|eight|nine|ten|\d{1,3})\s+(?:\w+\s+){0,2}files\b/i.exec(
      text,
    )?.[1];
  if (count !== undefined || verb.base === 'generate') return [];
  return readSomeChange(` ${text}`, verb);
}

const hide = (text: string, paths: readonly Token[]): string =>
  paths
    .toReversed()
    .reduce((rest, { at, end }) => `${rest.slice(0, at)} , ${rest.slice(end)}`, text.slice(0, paths.at(-1)?.end));

const subjectTask: Readonly<Record<string, Task>> = { build: 'build', lint: 'lint', types: 'types' };
const wasFine =
  /^\s*(?:[^,.;]{0,40}\b)?(?:successfully|cleanly|with(?:out)? (?:no |any |zero |0 )?(?:errors|failures|issues|problems)|and (?:all )?(?:passed|pass|succeeded|green))\b/i;

/** `the tests were run`, `the project was built successfully`, and a command that was executed. */
function readRan(kind: string, text: string, tokens: readonly Token[], after: string): readonly Action[] {
  const code = tokens.find((token) => token.isCode && knownProgram.test(token.text));
  const own = subjectTask[kind];
  const task =
    own === undefined
      ? findTask(` ${text}`)
      : /\b(?:project|app|application|code|codebase|package|crate|image|bundle|everything|it|site|binary|sources?|frontend|backend|files|wheel|docs|artifacts?|library|extension|executable|target)\s*$/i.test(
            text,
          )
        ? own
        : undefined;
  if (kind === 'try' || kind === 'make')
    return task === 'build' || task === 'migration' || (task === 'test' && kind === 'make')
      ? [{ type: 'run', task }]
      : [];
  if (own !== undefined && /^\s+(?:with (?!no\b|zero\b|0\b|success)|using|from|on)\b/i.test(after)) return [];
  if (own === undefined && code) return [{ type: 'run', command: code.text }];
  if (task === undefined) return [];
  const isFull = task === 'test' && /\b(?:full|entire|whole|complete)\b/i.test(text) ? { isFull: true } : {};
  return [
    { type: 'run', task, ...isFull, ...findTimes(after) },
    ...(wasFine.test(after) && !/\b(?:fail|but|not|except)/i.test(after) ? [{ type: 'pass', task } as const] : []),
  ];
}

function readInstalled(text: string, tokens: readonly Token[]): readonly Action[] {
  const names = tokens.filter((token) => token.isCode && /^@?[\w./-]+(?:@[\w.^~-]+)?$/.test(token.text));
  if (names.length > 0)
    return names.map((token) => ({ type: 'install', name: token.text.replace(/(?<=.)@[^/]*$/, '') }));
  return /\b(?:dependencies|packages|requirements)\s*$/i.test(text) ? [{ type: 'install' }] : [];
}

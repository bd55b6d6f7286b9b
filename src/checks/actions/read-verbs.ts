// Reads what a verb of an answer says was done, from its object: files, commands, commits, packages.
import { isPathLike } from './claim-paths.ts';
import { fileVerbKind } from './claim-patterns.ts';
import { knownProgram, type Task } from './commands.ts';
import { directWords, readClause, targetWords, type Clause, type Reading, type Token } from './read-clause.ts';
import type { Action, GitOperation } from './types.ts';

/** Reads the actions of a verb whose object begins at an offset. */
export function readVerb(reading: Reading, verb: string, at: number): readonly Action[] {
  const clause = readClause(reading, at);
  if (/^\s*(?:no|not|nothing|none|neither|only if)\b/i.test(clause.text)) return [];
  if (/^(?:re-?)?(?:ran|run|executed)$|^re-executed$/.test(verb)) return readRun(reading, clause, at);
  if (verb === 'committed')
    return /^\s*(?:to\s+(?:help|mak|do|be|provid|ensur|support|keep|deliver)|crimes?|suicide)/i.test(clause.text)
      ? []
      : [{ type: 'git', operation: 'commit' }];
  if (verb === 'pushed')
    return /^\s*(?:$|[.,]|(?:it|them|the|this|that|these|those|all|my|our|both|everything|\uE000+|a|changes?|commits?|branch|code|updates?|to)\b)/i.test(
      clause.text,
    ) &&
      /\b(?:commits?|branch|changes?|remote|origin|github|gitlab|upstream|repository|repo|main|master|it|them|tags?)\b|\uE000|^\s*[.,]?$/i.test(
        clause.text,
      )
      ? [{ type: 'git', operation: 'push' }]
      : [];
  if (verb === 'installed') return readInstall(clause);
  const released = readRelease(verb, clause, reading.sentence.text.slice(at));
  if (released) return released;
  if (/^(?:reverted|undid|rolled back)$/.test(verb) && ownChange.test(clause.text))
    return clause.tokens
      .filter((token) => isPathLike(token.text, token.isCode))
      .map((token) => ({ type: 'undo', path: token.text }));
  const kind = fileVerbKind(verb);
  return kind === undefined ? [] : readFiles(reading, clause, verb, kind);
}

/** `my edit to a.ts`: what was taken back is an own change. */
const ownChange = /^\s+(?:my|our)\s+(?:own\s+)?(?:\w+\s+)?(?:edits?|changes?)\s+(?:to|in|of)\s/i;

function readFiles(
  reading: Reading,
  clause: Clause,
  verb: string,
  kind: 'create' | 'edit' | 'delete' | 'move',
): readonly Action[] {
  const before = (token: Token): string => clause.text.slice(0, token.at);
  const paths = clause.tokens.filter((token) => isPathLike(token.text, token.isCode));
  const isDirect = (token: Token): boolean => directWords.test(hidePaths(before(token), paths));
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
  if (/^(?:linked|wired|referenced|mentioned)$/.test(verb)) {
    const target =
      /^\s+(?:it|them|this|both|the (?:new )?(?:page|file|document|guide|module|helper|component))\s+(?:up\s+)?(?:from|in|into)\s+(?:the\s+)?$/i;
    const place = paths.find((token) => target.test(before(token)));
    return place ? asFiles([place], 'edit') : [];
  }
  if (/^\s+(?:(?:a|the|new|feature|git|local|separate)\s+)*branch\b/i.test(clause.text))
    return verb === 'created' ? [{ type: 'git', operation: 'branch' }] : [];
  if (verb === 'created' && /^\s+(?:(?:a|the|new|git|initial|single|separate)\s+)*commit\b/i.test(clause.text))
    return [{ type: 'git', operation: 'commit' }];
  if (/\b(?:pull request|PR|issue|ticket|merge request)\b/.test(clause.text)) return [];
  // A file that the answer shows instead of writing it is an example.
  if (
    reading.hasCodeBlock &&
    /\b(?:below|above|following|example|sample|snippet|draft|template|here)\b/i.test(reading.sentence.text)
  )
    return [];
  if (direct.length > 0) {
    if (verb === 'set' || verb === 'put' || verb === 'placed') return [];
    if (kind === 'move') return [{ type: 'file', change: 'move', path: paths.at(-1)?.text ?? '' }];
    // "added a.ts to the list" and "removed a.ts from the list" speak of names in another file.
    const next = clause.text.slice((direct.at(-1) as Token).end);
    if (
      /^\s+(?:from|with|by|references?|imports?|dependency|usage|as a dependency|entry|mentions?|to (?:the|your|my) (?:list|array|imports?|includes?|excludes?|allow|ignore))\b/i.test(
        next,
      ) &&
      (kind === 'delete' || verb === 'added')
    )
      return verb === 'added' && /^\s+(?:with|by|from)\b/i.test(next)
        ? asFiles(direct, 'edit')
        : readTargets(clause, paths);
    if (
      verb === 'replaced' ||
      verb === 'resolved' ||
      /^\s+(?:support|handling|options?|flags?|imports?|references?|usages?|callers?|alias(?:es)?|parsing|loading|files?\b(?!\s*(?:$|[.,;(]|to|with|in|so|and|for|that|which|from)))\b/i.test(
        next,
      )
    )
      return [];
    return asFiles(direct, verb === 'added' || verb === 'restored' ? 'edit' : kind);
  }
  const targets = readTargets(clause, paths);
  if (targets.length > 0) return targets;
  return paths.length > 0 || reading.hasCodeBlock ? [] : readSomeChange(clause, verb);
}

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
function readTargets(clause: Clause, paths: readonly Token[]): readonly Action[] {
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
      (preposition === 'from' && /\b(?:removed?|deleted|dropped)?\b/i.test(clause.text) && /^\s/.test(clause.text));
    if (isOpen && !(preposition === 'to' && /\bfrom\b/.test(clause.text)))
      found.push({ type: 'file', change: 'edit', path: token.text });
    last = token.end;
  }
  return found;
}

const changedThings =
  /^\s+(?:(?:the|a|an|all|both|your|that|this|these|those|failing|broken|flaky|remaining|new|existing|missing|off-by-one|type|lint|build|compile|compilation|runtime|unit|integration|regression|two|three|\d+|unused|null|underlying|actual|reported|race|memory)\s+)*(tests?|test cases?|test suite|bugs?|build|compile errors?|type errors?|lint(?:er)? (?:errors?|warnings?)|regression|race condition|memory leak|crash|functions?|methods?|class|imports?|null check|failing assertion|entry|entries)\b(?!\s+(?:below|above|here|as follows|you|in your (?:message|text|question|example|snippet)))/i;

const thingTasks: readonly (readonly [string, Task])[] = [
  ['test', 'test'],
  ['build', 'build'],
  ['compile', 'build'],
  ['lint', 'lint'],
  ['type', 'types'],
];

/** A change without the name of a file; only of things that are in files. */
export function readSomeChange({ text }: Clause, verb: string): readonly Action[] {
  if (
    ![
      'fixed',
      'repaired',
      'corrected',
      'refactored',
      'implemented',
      'rewrote',
      'patched',
      'updated',
      'added',
      'removed',
      'resolved',
      'deleted',
    ].includes(verb)
  )
    return [];
  const thing = changedThings.exec(text)?.[1]?.toLowerCase();
  if (thing === undefined || /\b(?:below|above|following|snippet|example|here)\b/i.test(text)) return [];
  const task = thingTasks.find(([start]) => thing.startsWith(start))?.[1];
  const isFix = ['fixed', 'repaired', 'corrected', 'resolved'].includes(verb);
  return [{ type: 'some-change', ...(task && isFix ? { task } : {}) }];
}

/** The words by which an answer names a task after a verb such as `ran`. */
export const taskWords: readonly (readonly [Task, RegExp])[] = [
  [
    'test',
    /^\s+(?:(?:the|all|full|entire|whole|complete|existing|relevant|new|updated|unit|integration|your|our|project['’]s|project|automated|of)\s+)*(?:tests?|test suite|suite|test cases)\b/i,
  ],
  ['lint', /^\s+(?:(?:the|a|project['’]s)\s+)*(?:linter|lint|eslint)\b/i],
  ['build', /^\s+(?:(?:the|a|full|production|clean|project['’]s)\s+)*build\b/i],
  ['migration', /^\s+(?:(?:the|all|new|pending|database|db)\s+)*migrations?\b(?!\s+(?:tests?|script))/i],
  ['types', /^\s+(?:(?:the|a)\s+)*(?:type[- ]?check(?:er)?|typescript compiler)\b/i],
];

const barePrograms =
  /^\s+(?:the\s+)?((?:npm (?:run )?[\w:-]+|yarn (?:run )?[\w:-]+|pnpm (?:run )?[\w:-]+|bun (?:run )?[\w:-]+|node --test|pytest|cargo (?:test|build|check|clippy|run|fmt)|go (?:test|build|vet|run)|make(?: [\w-]+)?|tsc|eslint|prettier|jest|vitest|mypy|ruff|git [a-z-]+))\b/;

function readRun(reading: Reading, clause: Clause, at: number): readonly Action[] {
  const rest = reading.sentence.text.slice(at);
  if (/^\s*(?:into|out|through|across|a few|some|several|over|away|by)\b/i.test(rest)) return [];
  const task = taskWords.find(([, pattern]) => pattern.test(rest))?.[0];
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
  const repeated = /^[^,.;]{0,60}?\b(?:(twice|two times)|(three times)|(\d{1,2}) times)\b/i.exec(rest);
  const count = repeated?.[1] ? 2 : repeated?.[2] ? 3 : Number(repeated?.[3] ?? 0);
  const times = count > 1 ? { times: count } : {};
  if (command === undefined && (task === undefined || (isNamed && task === undefined))) return [];
  const own: Action = {
    type: 'run',
    ...named,
    ...(command === undefined && task ? { task } : {}),
    ...isFull,
    ...times,
  };
  const after = rest.slice(0, 200);
  const isPass =
    /(?:\band\b|,|\bwhich\b|\(|\bwith\b|:|-)\s*(?:it|they|all|all of them|both|everything|the (?:tests?|suite|build|command))?\s*(?:now\s+|all\s+)?(?:passed|passes|pass|succeeded|passing|completed successfully|finished successfully|ran successfully|ran cleanly|was clean|were green|are green|is green|no (?:errors|failures))\b|^\s*[^,.;]{0,60}\bsuccessfully\b/i.test(
      after,
    ) &&
    !/\b(?:fail\w*|but|except|not|n['’]t|to (?:see|check|verify|confirm|make|ensure)|should|if|whether|until|before|never|errors? in|without success)\b/i.test(
      after.replaceAll(/\bno (?:errors|failures)\b/gi, ''),
    );
  return isPass ? [own, { type: 'pass', ...named, ...(command === undefined && task ? { task } : {}) }] : [own];
}

/** Tags, merges, rebases, pull requests, branches, deployments and publications; undefined if the verb is another one. */
function readRelease(verb: string, { text }: Clause, rest: string): readonly Action[] | undefined {
  const git = (operation: GitOperation, isMeant: boolean): readonly Action[] =>
    isMeant ? [{ type: 'git', operation }] : [];
  const isRequest = /^\s+(?:(?:a|the|an|my|our|new|draft)\s+)*(?:pull request|PR|merge request)\b/.test(text);
  switch (verb) {
    case 'tagged':
      return git(
        'tag',
        /^\s+(?:(?:it|this|the (?:release|commit|version)|release|version|a (?:new )?release)\s+)?(?:as\s+)?(?:version\s+)?(?:\uE000|v?\d+\.\d)|^\s+(?:the|a(?: new)?) release\b/.test(
          text,
        ),
      );
    case 'merged':
      return git(
        'merge',
        /^\s+(?:it|the (?:\w+ )?branch|the (?:PR|pull request)|\uE000+)\s*(?:branch\s+)?(?:into\s+(?:the\s+)?(?:main|master|develop|dev|trunk|\uE000)|$|[.,])/.test(
          text,
        ) &&
          /branch|PR|pull request|into/.test(text) &&
          !/\.\w{1,5}\b/.test(rest.slice(0, 80)),
      );
    case 'rebased':
      return git(
        'rebase',
        /^\s+(?:it\s+|(?:the|my|this) (?:\w+ )?branch\s+|\uE000+\s+)?(?:on|onto|on top of)\b|^\s+(?:the|my|this) (?:\w+ )?branch\b/.test(
          text,
        ),
      );
    case 'opened':
    case 'submitted':
    case 'raised':
      return git('pull request', isRequest);
    case 'created':
      return isRequest ? git('pull request', true) : undefined;
    case 'switched':
      return git('branch', /^\s+to\s+(?:a|the)\s+(?:new\s+)?(?:\w+\s+)?branch\b/.test(text));
    case 'deployed':
      return git(
        'deployment',
        /^\s+(?:(?:it|the (?:app|application|service|site|change|changes|new version|fix|update|release))\s+)?(?:to\s+(?:the\s+)?(?:production|staging|prod|server|cluster)\b|$|[.,])/.test(
          text,
        ),
      );
    case 'published':
      return git(
        'publication',
        /\bto (?:the )?(?:npm|pypi|crates\.io|registry|rubygems)\b|^\s+(?:the )?(?:package|crate|new version)\b/i.test(
          text,
        ),
      );
    default:
      return undefined;
  }
}

function readInstall({ tokens, text }: Clause): readonly Action[] {
  const names = tokens
    .filter((token) => token.isCode && /^@?[\w./-]+(?:@[\w.^~-]+)?$/.test(token.text))
    .map((token) => token.text.replace(/(?<=.)@[^/]*$/, ''));
  if (names.length > 0) return names.map((name) => ({ type: 'install', name }));
  return /^\s+(?:(?:all|the|required|missing|new|npm|project|its|dev|necessary)\s+)*(?:dependenc(?:y|ies)|packages?)\b/i.test(
    text,
  )
    ? [{ type: 'install' }]
    : [];
}

// Reads what a verb of an answer says about version control and releases, from its object.
import type { Clause } from './read-clause.ts';
import type { Action, GitOperation } from './types.ts';

/** A claim about version control; none if another thing is meant. */
export const git = (operation: GitOperation, isMeant = true): readonly Action[] =>
  isMeant ? [{ type: 'git', operation }] : [];

/** Whether an object is a pull request. */
export const isRequest = (text: string): boolean =>
  /^\s+(?:(?:a|the|an|my|our|new|draft|follow-up|small)\s+)*(?:pull[- ]request|PR|merge request|MR)s?\b/.test(text);
/** Whether an object is an issue. */
export const isIssue = (text: string): boolean =>
  /^\s+(?:(?:a|an|new|github|follow-up|tracking|the)\s+)*(?:issue|ticket|bug report)\b(?!\s+(?:in|with|where)\b)/i.test(
    text,
  ) && /\b(?:a|an|new|github|#\d+|for|ticket)\b/i.test(text);

/** Commits, branches, tags and requests as objects of verbs for files: `created a tag`, `reverted the last commit`. */
export function readRecorded(base: string, kind: string, { text }: Clause): readonly Action[] | undefined {
  if ((kind === 'create' || base === 'raise') && isRequest(text)) return git('pull request');
  if (kind === 'create' && base === 'create' && isIssue(text)) return git('issue');
  const noun =
    /^\s+(?:(?:a|an|the|new|feature|git|local|separate|initial|single|annotated|release|last|previous|two|three|\d+|small|first|final|my|our|fix|merge)\s+)*(branch|commit|tag|stash|release)(?:es|s)?\b(?!\s+(?:of|message|hash|handling|logic|support|notes?|script|hook|workflow)\b)/i
      .exec(text)?.[1]
      ?.toLowerCase();
  if (noun === undefined) return undefined;
  if (base === 'revert' || base === 'undo' || base === 'amend')
    return git(noun === 'commit' ? 'undo commit' : 'branch', noun === 'commit');
  if (
    base === 'create' ||
    base === 'add' ||
    base === 'set' ||
    (kind === 'delete' && noun === 'branch') ||
    (kind === 'move' && noun === 'branch')
  )
    return git(noun === 'release' ? 'publication' : (noun as GitOperation), noun !== 'release' || base === 'create');
  return [];
}

const pushed =
  /^\s*(?:$|[.,]|(?:it|them|the|this|that|these|those|all|my|our|both|everything|\uE000+|a|two|three|\d+|changes?|commits?|branch|code|updates?|to|up|directly|straight)\b)/i;
const remote =
  /\b(?:commits?|branch|changes?|remote|origin|github|gitlab|upstream|repository|repo|main|master|it|them|tags?|everything|fix|work|update)\b|\uE000|^\s*[.,]?$/i;

/** Verbs of version control and releases. */
export function readGit(base: string, text: string, rest: string): readonly Action[] {
  const isWork =
    /^\s*(?:$|[.,;!]|(?:it|this|that|them|these|both|all|everything|(?:the|my|our|all|all the|these|those|a|two|three|\d+|last)\s+(?:\w+\s+){0,2}?(?:changes?|work|fix|fixes|update|updates|edits?|files?|commits?|branch|branches|diff|code|feature|PR|pull request|merge request|modifications?|refactoring|result|release)|\uE000+|[\w@./-]+\.\w{1,5})(?=\s|$|[.,;!)]))/i.test(
      text,
    );
  switch (base) {
    case 'commit':
      return git(
        'commit',
        !/^\s*(?:to\s+(?:help|mak|do|be|provid|ensur|support|keep|deliver)|crimes?|suicide)/i.test(text),
      );
    case 'push':
    case 'force-push':
      return git(
        'push',
        pushed.test(text) &&
          remote.test(text) &&
          !/\b(?:image|container|notification|message|stack|queue|array|list)\b/i.test(text),
      );
    case 'tag':
      return git(
        'tag',
        /^\s+(?:(?:it|this|the (?:release|commit|version|result)|release|version|a (?:new )?release)\s+)?(?:as\s+)?(?:version\s+)?(?:\uE000|v?\d+\.\d)|^\s+(?:the|a(?: new)?) release\b/.test(
          text,
        ),
      );
    case 'squash-merge':
      return git('merge');
    case 'merge':
      return git(
        'merge',
        /^\s+(?:it|the (?:[\w-]+ )?branch|the (?:PR|pull request|change|changes|fix)|this|everything|\uE000+|PR #?\d+|#\d+)\s*(?:branch\s+)?(?:(?:back\s+)?into\s+(?:the\s+)?(?:main|master|develop|dev|trunk|\uE000)|$|[.,])/.test(
          text,
        ) &&
          /branch|PR|pull request|into|#\d/.test(text) &&
          !/\.\w{1,5}\b/.test(rest.slice(0, 80)),
      );
    case 'rebase':
      return git(
        'rebase',
        /^\s+(?:it\s+|(?:the|my|this) (?:\w+ )?branch\s+|\uE000+\s+|everything\s+|this\s+)?(?:on|onto|on top of)\b|^\s+(?:the|my|this) (?:\w+ )?branch\b/.test(
          text,
        ),
      );
    case 'stash':
    case 'unstash':
      return git('stash', isWork);
    case 'squash':
      return git('squash', isWork && !/^\s+(?:the|a|this)\s+(?:\w+\s+)?(?:bug|crash)/i.test(text));
    case 'cherry-pick':
      return git('cherry-pick');
    case 'branch':
      return git('branch', /^\s+(?:off|from|out)\b/.test(text));
    case 'switch':
      return git('branch', /^\s+to\s+(?:(?:a|the)\s+)?(?:new\s+)?(?:(?:\w+|\uE000+)\s+)?branch\b/.test(text));
    case 'deploy':
    case 'redeploy':
    case 'ship':
      return git(
        'deployment',
        /^\s*(?:(?:it|this|everything|the (?:\w+\s+)?(?:app|application|service|site|change|changes|version|fix|update|release|code|website|function|api|backend|frontend|build))\s+)?(?:to\s+(?:the\s+)?(?:production|staging|prod|server|cluster|cloud|live|test|preview|vercel|netlify|fly\.io|heroku|aws|gcp|azure|cloudflare)\b|live\b|$|[.,!])/i.test(
          text,
        ) &&
          (base !== 'ship' || /\bto\b/.test(text)),
      );
    case 'publish':
    case 'release':
      return git(
        'publication',
        /\b(?:to|on) (?:the )?(?:npm|pypi|crates\.io|registry|rubygems|maven|docker hub|nuget|github)\b|^\s+(?:the |a )?(?:new )?(?:package|crate|version|release|gem|image)\b|^\s+v?\d+\.\d|^\s+(?:it|version \d)/i.test(
          text,
        ) && !/\b(?:notes?|lock|memory|handle|resource)\b/i.test(text.slice(0, 40)),
      );
    default:
      return [];
  }
}

// The settings of worktrees.
import { listParser, patternParser, textParser } from './parsers.ts';
import type { SettingEntry } from './schema.ts';

const paths = listParser(textParser('paths of ignored files in the repository: a list, or paths separated by spaces'));

/** The settings `worktrees.*` by their key. A project may not choose which files of the user leave the checkout. */
export const worktreeEntries: Readonly<Record<string, SettingEntry>> = {
  'worktrees.link': {
    project: 'never',
    description: 'ignored files that a worktree gets as links, such as node_modules; none by default',
    parse: paths,
  },
  'worktrees.copy': {
    project: 'never',
    description: 'ignored files that a worktree gets as copies, such as .env; none by default',
    parse: paths,
  },
  'worktrees.uncommitted': {
    project: 'never',
    description: 'uncommitted changes of the checkout: leave (default; a worktree begins with the last commit) or take',
    parse: patternParser(/^(leave|take)$/, 'leave or take'),
  },
};

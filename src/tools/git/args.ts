// Validates git arguments that the model chooses. None of them can be parsed as an option.
import { pathToFileURL } from 'node:url';
import { isSecretFile, escapeInvisibleLine, type Workspace } from '../../core/index.ts';
import { gitError } from './safe-git.ts';

/** Returns the name of a branch, remote or tag. Throws if it is not a plain name. */
export function requireRefName(what: string, given: string): string {
  if (/^[\p{L}\p{N}_][\p{L}\p{N}_./+-]*$/u.test(given) && !/\.\.|\/\/|\.$|\/$|\.lock$/.test(given)) return given;
  throw gitError('git/bad-name', `${escapeInvisibleLine(given)} is not the name of a ${what}.`);
}

/** Returns a revision or a range: a name, a hash, HEAD~2. Throws for options, message searches and anything that is not a commit. */
export function requireRevision(given: string): string {
  const [from = '', dots = '', to = ''] = given.split(/(\.{2,3})/);
  const isName = (word: string): boolean => /^[\p{L}\p{N}_][\p{L}\p{N}_./+~^@{}-]*$/u.test(word);
  const sides = dots ? [from || 'HEAD', to || 'HEAD'] : [from];
  if (`${from}${dots}${to}` !== given || !sides.every(isName))
    throw gitError('git/bad-name', `${escapeInvisibleLine(given)} is not the name of a commit.`);
  return sides.map((side) => `${side}^{commit}`).join(dots);
}

/** Returns file arguments for git: after the end of options, as literal paths. */
export function pathspecArgs(workspace: Workspace, paths: readonly string[]): readonly string[] {
  for (const each of paths) workspace.locate(each);
  return ['--', ...paths];
}

/** Resolves a remote: a server URL, or a folder of the workspace. */
export function resolveRemote(workspace: Workspace, url: string): { readonly url: string; readonly isLocal: boolean } {
  if (/^https?:\/\/[^\s@]+$|^ssh:\/\/[^\s-][^\s]*$|^[\w.-]+@[\w][\w.-]*:(?!:)[^\s]+$/.test(url))
    return { url, isLocal: false };
  if (/^https?:\/\//.test(url))
    throw gitError(
      'git/credentials',
      'The URL contains a user name or password, so nothing was sent; use a credential helper.',
    );
  const local = url.startsWith('file://') ? decodeURIComponent(url.slice('file://'.length)) : url;
  if (/^-|::|^\w+:/.test(local))
    throw gitError(
      'git/bad-remote',
      `${escapeInvisibleLine(url)} is not a valid URL or folder to clone from or push to.`,
    );
  return { url: pathToFileURL(workspace.locate(local)).href, isLocal: true };
}

/** Removes files that may hold secrets from a diff. After a truncation, nothing is shown up to the next file header. */
export const omitSecretDiffs = (text: string): string =>
  text
    .split(/^(?=diff --(?:git|cc|combined) )/m)
    .map((part) => (part.startsWith('diff --') ? omitSecretDiff(part) : textBeforeGap(part)))
    .join('');

function omitSecretDiff(part: string): string {
  const [heading = ''] = part.split('\n', 1);
  const names = heading.split(' ').map((name) => name.replaceAll(/^"?[ab]\/|"$/g, ''));
  if (names.some(isSecretFile)) return `${heading}\n(omitted: a file of this name usually contains secrets)\n`;
  return textBeforeGap(part);
}

const gapPattern = /^\[… \d+ characters left out …\]\n/m;

function textBeforeGap(part: string): string {
  const found = gapPattern.exec(part);
  return found ? part.slice(0, found.index) + found[0] : part;
}

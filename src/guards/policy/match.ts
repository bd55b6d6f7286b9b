// Matches policy rules against operations: partially for strict rules, completely for allow rules.
import path from 'node:path';
import picomatch from 'picomatch';
import { isSecretFile } from '../../core/index.ts';
import { isGitControlPath, type Operation, type OperationPath, type PathContext } from './operations.ts';
import type { PolicyMatcher } from './policy.ts';
import { programName, findCommandRisk } from './nested-commands.ts';
import type { ShellWord } from './shell.ts';

const anyMatches = (list: readonly string[], matches: (each: string) => boolean): boolean => list.some(matches);

/** Returns true if an `ask` or `deny` rule applies to any part of this operation. Returns true when unsure. */
export function matchesPartially(on: PolicyMatcher, operation: Operation, context: PathContext): boolean {
  const { tool, command, path: globs, host } = on;
  if (tool && !anyMatches(tool, (each) => nameMatches(each, operation.tool))) return false;
  if (command && !command.some((words) => hasLooseCommandPrefix(words, operation.argv ?? []))) return false;
  if (globs) {
    const paths = operation.paths.flatMap(({ given, resolved }) => [
      given,
      ...(resolved === undefined ? [] : [resolved]),
    ]);
    if (!anyMatches(paths, (each) => globs.some((glob) => pathMatches(glob, each, context, true)))) return false;
  }
  return !host || anyMatches(operation.hosts, (each) => host.some((pattern) => hostMatches(pattern, each)));
}

/** Returns true if an `allow` rule covers the complete operation. Returns false when unsure. */
export function matchesFully(on: PolicyMatcher, operation: Operation, context: PathContext): boolean {
  const { tool, command, path: globs, host } = on;
  if (operation.notAllowableReason !== undefined) return false;
  if (tool && !anyMatches(tool, (each) => nameMatches(each, operation.tool))) return false;
  if (!operation.argv)
    return (
      !command &&
      (!globs || allPathsMatch(globs, operation.paths, context)) &&
      (!host || allHostsMatch(host, operation.hosts))
    );
  // A rule that allows a tool by its exact name, with no other condition, allows all its commands that can be parsed.
  const allowsWholeTool = tool?.includes(operation.tool) === true && !command && !globs && !host;
  const matchedPrefix = allowsWholeTool
    ? []
    : command?.find((each) => hasExactCommandPrefix(each, operation.argv ?? []));
  if (!matchedPrefix || operation.paths.some(isSensitivePath) || operation.argv.some(isBroadPattern)) return false;
  if (!allowsWholeTool && findCommandRisk(operation.argv, matchedPrefix.length) !== undefined) return false;
  const operands = operation.argv.slice(matchedPrefix.length).filter(({ text }) => !text.startsWith('-'));
  const namedPaths = operation.paths.filter(({ given }) =>
    operands.some(({ text }) => path.resolve(context.cwd, text) === given),
  );
  if (globs && !allPathsMatch(globs, namedPaths, context)) return false;
  // A word without a scheme may still be a host.
  return !host || (operands.length === operation.hosts.length && allHostsMatch(host, operation.hosts));
}

const allPathsMatch = (globs: readonly string[], paths: readonly OperationPath[], context: PathContext): boolean =>
  paths.length > 0 &&
  paths.every(
    ({ resolved }) => resolved !== undefined && globs.some((glob) => pathMatches(glob, resolved, context, false)),
  );

const allHostsMatch = (patterns: readonly string[], hosts: readonly string[]): boolean =>
  hosts.length > 0 && hosts.every((host) => patterns.some((pattern) => hostMatches(pattern, host)));

/** Returns true for a pattern without a file extension, which may match a key file. */
const isBroadPattern = ({ pattern, text }: ShellWord): boolean => pattern === true && !/\.\w+$/.test(text);

/** Returns true for paths that an allowed command was not meant to read or write: outside the folder, key files and auto-executed files. */
const isSensitivePath = ({ given, resolved }: OperationPath): boolean =>
  resolved === undefined || isSecretFile(given) || isSecretFile(resolved) || isGitControlPath(resolved);

/** Returns true if the words occur in this order, with anything between them: an option before a subcommand must not hide it. */
function hasLooseCommandPrefix([program, ...rest]: readonly string[], [name, ...args]: readonly ShellWord[]): boolean {
  // Some file systems ignore case.
  if (program?.toLowerCase() !== programName(name).toLowerCase()) return false;
  let at = 0;
  for (const { text } of args) if (text === rest[at]) at += 1;
  return at === rest.length;
}

/** Returns true if the command starts with exactly these words, and the program is found by name or in a system folder. */
function hasExactCommandPrefix(pattern: readonly string[], words: readonly ShellWord[]): boolean {
  const [name] = words;
  const isSystem = name !== undefined && /^(\/usr(\/local)?)?\/s?bin\/[^/]+$/.test(name.text);
  return pattern.every(
    (word, at) => words[at]?.known === true && (at === 0 && isSystem ? programName(name) : words[at].text) === word,
  );
}

const nameMatches = (pattern: string, name: string): boolean => picomatch.isMatch(name, pattern, { dot: true });

/** For strict rules, case and Unicode normalization form are ignored, because some file systems ignore them. */
function pathMatches(glob: string, file: string, { cwd, home }: PathContext, loose: boolean): boolean {
  const absolute = glob.startsWith('~/') ? path.join(home, glob.slice(2)) : glob;
  const subject = path.isAbsolute(absolute) ? file : path.relative(cwd, file);
  const normalize = (text: string): string =>
    loose ? text.normalize('NFKC').replaceAll(/(?<=[^./ ])[. ]+(?=\/|$)/g, '') : text;
  return picomatch.isMatch(normalize(subject), normalize(absolute), { dot: true, nocase: loose });
}

function hostMatches(pattern: string, host: string): boolean {
  const expectedHost = pattern.toLowerCase().replace(/\.$/, '');
  return expectedHost.startsWith('*.') ? host.endsWith(expectedHost.slice(1)) : host === expectedHost;
}

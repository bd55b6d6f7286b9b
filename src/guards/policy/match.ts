// Matches policy rules against operations: partially for strict rules, completely for allow rules.
import path from 'node:path';
import picomatch from 'picomatch';
import { isSecretFile } from '../../core/index.ts';
import { isGitControlPath, type Operation, type OperationPath, type PathContext } from './operations.ts';
import type { PolicyMatcher } from './policy.ts';
import { programName, findCommandRisk } from './nested-commands.ts';
import type { ShellWord } from './shell.ts';

const anyMatches = (list: readonly string[], fits: (each: string) => boolean): boolean => list.some(fits);

/** Returns true if an `ask` or `deny` rule applies to any part of this operation. Returns true when unsure. */
export function matchesPartially(on: PolicyMatcher, act: Operation, ground: PathContext): boolean {
  const { tool, command, path: globs, host } = on;
  if (tool && !anyMatches(tool, (each) => nameMatches(each, act.tool))) return false;
  if (command && !command.some((words) => hasLooseCommandPrefix(words, act.argv ?? []))) return false;
  if (globs) {
    const paths = act.paths.flatMap(({ given, resolved }) => [given, ...(resolved === undefined ? [] : [resolved])]);
    if (!anyMatches(paths, (each) => globs.some((glob) => pathMatches(glob, each, ground, true)))) return false;
  }
  return !host || anyMatches(act.hosts, (each) => host.some((pattern) => hostMatches(pattern, each)));
}

/** Returns true if an `allow` rule covers the complete operation. Returns false when unsure. */
export function matchesFully(on: PolicyMatcher, act: Operation, ground: PathContext): boolean {
  const { tool, command, path: globs, host } = on;
  if (act.notAllowableReason !== undefined) return false;
  if (tool && !anyMatches(tool, (each) => nameMatches(each, act.tool))) return false;
  if (!act.argv)
    return !command && (!globs || allPathsMatch(globs, act.paths, ground)) && (!host || allHostsMatch(host, act.hosts));
  // A rule that allows a tool by its exact name, with no other condition, allows all its commands that can be parsed.
  const isWhole = tool?.includes(act.tool) === true && !command && !globs && !host;
  const told = isWhole ? [] : command?.find((each) => hasExactCommandPrefix(each, act.argv ?? []));
  if (!told || act.paths.some(isSensitivePath) || act.argv.some(isBroadPattern)) return false;
  if (!isWhole && findCommandRisk(act.argv, told.length) !== undefined) return false;
  const operands = act.argv.slice(told.length).filter(({ text }) => !text.startsWith('-'));
  const named = act.paths.filter(({ given }) => operands.some(({ text }) => path.resolve(ground.cwd, text) === given));
  if (globs && !allPathsMatch(globs, named, ground)) return false;
  // A word without a scheme may still be a host.
  return !host || (operands.length === act.hosts.length && allHostsMatch(host, act.hosts));
}

const allPathsMatch = (globs: readonly string[], paths: readonly OperationPath[], ground: PathContext): boolean =>
  paths.length > 0 &&
  paths.every(
    ({ resolved }) => resolved !== undefined && globs.some((glob) => pathMatches(glob, resolved, ground, false)),
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
  const same = (text: string): string =>
    loose ? text.normalize('NFKC').replaceAll(/(?<=[^./ ])[. ]+(?=\/|$)/g, '') : text;
  return picomatch.isMatch(same(subject), same(absolute), { dot: true, nocase: loose });
}

function hostMatches(pattern: string, host: string): boolean {
  const wanted = pattern.toLowerCase().replace(/\.$/, '');
  return wanted.startsWith('*.') ? host.endsWith(wanted.slice(1)) : host === wanted;
}

// Matches policy rules against operations: partially for strict rules, completely for allow rules.
import { readdirSync } from 'node:fs';
import path from 'node:path';
import picomatch from 'picomatch';
import { isSecretFile, normalizeUnicode } from '../../core/index.ts';
import { isGitControlPath, type Operation, type OperationPath, type PathContext } from './operations.ts';
import type { PolicyMatcher } from './policy.ts';
import { findAutoExecutedFiles } from '../auto-executed-files.ts';
import { isCertainAddress } from './addresses.ts';
import { findUnknownArgument } from './known-options.ts';
import { programName } from './nested-commands.ts';
import type { ShellWord } from './shell.ts';

const anyMatches = (list: readonly string[], matches: (each: string) => boolean): boolean => list.some(matches);

/** Returns true if an `ask` or `deny` rule applies to any part of this operation. Returns true when unsure. */
export function matchesPartially(on: PolicyMatcher, operation: Operation, context: PathContext): boolean {
  const { tool, command, path: globs, host } = on;
  if (tool && !anyMatches(tool, (each) => getToolNames(operation.tool).some((name) => nameMatches(each, name))))
    return false;
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
  const { tool, command, path: globs, host, options } = on;
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
  if (!matchedPrefix || operation.paths.some(isSensitivePath)) return false;
  if (operation.argv.some((word) => isBroadPattern(word, context)) || changesAutoExecutedFile(operation.argv, context))
    return false;
  if (operation.argv.some(({ known, text }) => !known || hasSecretPart(text))) return false;
  const words = operation.argv.map(({ text }) => text);
  if (!allowsWholeTool && findUnknownArgument(operation.argv, matchedPrefix.length, options) !== undefined)
    return false;
  const operands = words.slice(matchedPrefix.length).filter((text) => !text.startsWith('-'));
  const namedPaths = operation.paths.filter(({ given }) =>
    operands.some((text) => path.resolve(context.cwd, text) === given),
  );
  if (globs && !allPathsMatch(globs, namedPaths, context)) return false;
  // A word that is not an address in every reading may still be a host.
  return !host || (operands.every(isCertainAddress) && allHostsMatch(host, operation.hosts));
}

/** Returns true if a part of a word, such as the file in `HEAD:.env`, is the name of a secret file. */
const hasSecretPart = (text: string): boolean =>
  text.length < 4096 && text.split(/[=:,@]/).some((part) => isSecretFile(part));

const allPathsMatch = (globs: readonly string[], paths: readonly OperationPath[], context: PathContext): boolean =>
  paths.length > 0 &&
  paths.every(
    ({ resolved }) => resolved !== undefined && globs.some((glob) => pathMatches(glob, resolved, context, false)),
  );

const allHostsMatch = (patterns: readonly string[], hosts: readonly string[]): boolean =>
  hosts.length > 0 && hosts.every((host) => patterns.some((pattern) => hostMatches(pattern, host)));

/** Returns true for a pattern that may match a key file or a link: one without a file extension, with a pattern in its folder, or in a folder with links. */
function isBroadPattern({ pattern, text }: ShellWord, { cwd }: PathContext): boolean {
  if (pattern !== true) return false;
  const folder = path.dirname(text);
  return !/\.\w+$/.test(text) || /[*?[]/.test(folder) || hasLink(path.resolve(cwd, folder), path.extname(text));
}

const maxListedFiles = 5000;

/** Returns true if the folder contains a link whose name ends like this, or too many files to tell. */
function hasLink(folder: string, end: string): boolean {
  try {
    const files = readdirSync(folder, { withFileTypes: true });
    return files.length > maxListedFiles || files.some((file) => file.isSymbolicLink() && file.name.endsWith(end));
  } catch {
    // There is no such folder, so the pattern matches nothing.
    return false;
  }
}

const writingPrograms: ReadonlySet<string> = new Set('cp mv tee touch ln rm rmdir mkdir chmod'.split(' '));

/** Returns true if a command changes a file that other programs execute or load. */
const changesAutoExecutedFile = ([name, ...args]: readonly ShellWord[], { locate }: PathContext): boolean =>
  writingPrograms.has(programName(name)) &&
  findAutoExecutedFiles({ input: { paths: args.map(({ text }) => text) } }, locate).length > 0;

/** Returns true for paths that an allowed command was not meant to read or write: outside the folder, key files and auto-executed files. */
export const isSensitivePath = ({ given, resolved }: OperationPath): boolean =>
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

/** The names under which a strict rule finds a tool: a tool of a project's or an editor's MCP server is also found without its origin. */
const getToolNames = (tool: string): readonly string[] => [tool, tool.replace(/^mcp__(?:project|editor)-/, 'mcp__')];

const nameMatches = (pattern: string, name: string): boolean => picomatch.isMatch(name, pattern, { dot: true });

/** Returns true if a pattern of a rule matches a file. For strict rules, case and Unicode normalization form are ignored, because some file systems ignore them. */
export function pathMatches(glob: string, file: string, { cwd, home }: PathContext, loose: boolean): boolean {
  const absolute = glob.startsWith('~/') ? path.join(home, glob.slice(2)) : glob;
  const subject = path.isAbsolute(absolute) ? file : path.relative(cwd, file);
  return compileGlob(absolute, loose)(loose ? normalizeLoosely(subject) : subject);
}

const normalizeLoosely = (text: string): string =>
  normalizeUnicode(text, 'NFKC').replaceAll(/(?<=[^./ ])[. ]+(?=\/|$)/g, '');

const maxCompiledGlobs = 1000;
const compiledGlobs = new Map<string, (text: string) => boolean>();

/** Compiles a glob once, because a command may name thousands of files. */
function compileGlob(glob: string, loose: boolean): (text: string) => boolean {
  const key = `${loose ? 'loose' : 'exact'} ${glob}`;
  const known = compiledGlobs.get(key);
  if (known) return known;
  const matches = picomatch(loose ? normalizeLoosely(glob) : glob, { dot: true, nocase: loose });
  if (compiledGlobs.size >= maxCompiledGlobs) compiledGlobs.clear();
  compiledGlobs.set(key, matches);
  return matches;
}

/** Returns true if a pattern of a rule matches a host. */
export function hostMatches(pattern: string, host: string): boolean {
  const expectedHost = pattern.toLowerCase().replace(/\.$/, '');
  return expectedHost.startsWith('*.') ? host.endsWith(expectedHost.slice(1)) : host === expectedHost;
}

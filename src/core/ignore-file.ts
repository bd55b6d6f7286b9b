// Parses .gitignore files: the last matching pattern decides. Matches without regular expressions, so that a hostile file cannot make it slow.
import { trimEndChars } from './trim-end.ts';

/** Max characters of a pattern: no file system has longer paths, so a longer pattern is ignored. */
const maxPatternChars = 4096;
/** Max patterns of a file: each path is compared with each of them. */
const maxPatterns = 10_000;

/** Max steps of the comparison of one path with the patterns of a file; the patterns that are left do not match. */
const maxSteps = 2_000_000;

/** Counts the work of matching, so that a walk can pause. */
export type StepCounter = { steps: number };

/** Decides about a path below the folder of the file: ignored (true), re-included (false), or not matched (undefined). */
export type IgnoreMatcher = (path: string, isFolder: boolean) => boolean | undefined;

/** Parses the patterns of one file. */
export function parseIgnoreFile(text: string, counter: StepCounter = { steps: 0 }): IgnoreMatcher {
  const patterns = text
    .replace(/^\ufeff/, '')
    .split('\n')
    .flatMap((line) => parseIgnorePattern(line, counter) ?? [])
    .slice(0, maxPatterns);
  return (path, isFolder) => {
    const names = path.split('/');
    const lastStep = counter.steps + maxSteps;
    return patterns.findLast(
      (each) => counter.steps < lastStep && (isFolder || !each.foldersOnly) && matchesNames(each.names, names, counter),
    )?.ignored;
  };
}

/** Matches one path segment, or stands for any number of segments. */
type NameMatcher = ((name: string) => boolean) | '**';

type IgnorePattern = {
  readonly names: readonly NameMatcher[];
  readonly foldersOnly: boolean;
  readonly ignored: boolean;
};

function parseIgnorePattern(line: string, counter: StepCounter): IgnorePattern | undefined {
  const text = line.replace(/\r$/, '');
  const trimmed = trimEndChars(text, ' ');
  // A backslash keeps the space that follows it.
  const pattern = trimmed.endsWith('\\') && trimmed !== text ? `${trimmed} ` : trimmed;
  if (pattern === '' || pattern.length > maxPatternChars || pattern.startsWith('#')) return undefined;
  const ignored = !pattern.startsWith('!');
  const body = ignored ? pattern : pattern.slice(1);
  const withoutSlash = body.replace(/\/$/, '');
  const names = withoutSlash.replace(/^\//, '').split('/');
  if (names.join('') === '') return undefined;
  // A slash at the start or in the middle anchors a pattern to its folder; without one it matches at any depth.
  const matchers = names.map((name): NameMatcher => (name === '**' ? name : compileNamePattern(name, counter)));
  return {
    names: withoutSlash.includes('/') ? matchers : ['**', ...matchers],
    foldersOnly: withoutSlash !== body,
    ignored,
  };
}

/** Returns true if path segments match a pattern, in which `**` stands for any number of segments. */
function matchesNames(pattern: readonly NameMatcher[], names: readonly string[], counter: StepCounter): boolean {
  return matchesWildcard(pattern.length, names.length, {
    counter,
    isMany: (i) => pattern[i] === '**',
    isOne: (i, j) => {
      const matcher = pattern[i];
      return typeof matcher === 'function' && matcher(names[j] ?? '');
    },
    // `a/**` matches what is in a, not a itself.
    minLastMany: pattern.at(-1) === '**' && pattern.length > 1 ? 1 : 0,
  });
}

/** Compiles a name pattern of `*`, `?`, classes and escapes. Most patterns are plain names or suffixes. */
function compileNamePattern(pattern: string, counter: StepCounter): (name: string) => boolean {
  if (!/[*?[\\]/.test(pattern)) return (name) => name === pattern;
  const suffix = pattern.slice(1);
  if (pattern.startsWith('*') && !/[*?[\\]/.test(suffix)) return (name) => name.endsWith(suffix);
  const signs = pattern.match(/\\.|\[[!^]?\]?[^\]]*\]|[^]/gu) ?? [];
  return (name) => {
    const letters = Array.from(name);
    return matchesWildcard(signs.length, letters.length, {
      counter,
      isMany: (i) => signs[i] === '*' || signs[i] === '**',
      isOne: (i, j) => charMatches(signs[i] ?? '', letters[j] ?? ''),
      minLastMany: 0,
    });
  };
}

function charMatches(sign: string, letter: string): boolean {
  if (sign === '?') return true;
  if (sign.startsWith('\\')) return sign.slice(1) === letter;
  if (!sign.startsWith('[') || sign.length < 3) return sign === letter;
  const isNegated = /^\[[!^]/.test(sign);
  const members = Array.from(sign.slice(isNegated ? 2 : 1, -1));
  const found = members.some((each, i) => {
    if (each === letter) return true;
    return members[i + 1] === '-' && each <= letter && letter <= (members[i + 2] ?? '');
  });
  return found !== isNegated;
}

type WildcardSpec = {
  readonly counter: StepCounter;
  /** Returns true if a pattern element matches any number of items. */
  readonly isMany: (sign: number) => boolean;
  readonly isOne: (sign: number, thing: number) => boolean;
  /** How many items the last element must match at least, if it matches many. */
  readonly minLastMany: number;
};

/** Matches pattern elements against items in time proportional to both: only the latest wildcard is retried. */
function matchesWildcard(
  signs: number,
  things: number,
  { counter, isMany, isOne, minLastMany }: WildcardSpec,
): boolean {
  const end = things - minLastMany;
  let [sign, thing, many, from] = [0, 0, -1, 0];
  while (thing < things) {
    counter.steps += 1;
    if (sign < signs && isMany(sign)) {
      if (sign === signs - 1) return thing <= end;
      [many, from] = [sign++, thing];
    } else if (sign < signs && isOne(sign, thing)) {
      sign++;
      thing++;
    } else if (many >= 0) {
      thing = ++from;
      sign = many + 1;
    } else return false;
  }
  if (minLastMany === 0) while (sign < signs && isMany(sign)) sign++;
  return sign === signs;
}

/** Names that searches always skip. */
export const skippedNames: ReadonlySet<string> = new Set(['.git', 'node_modules', '.hg', '.svn']);

/** The rules of an ignore file, and the folder that it is in. */
export type IgnoreRule = { readonly base: string; readonly ignore: IgnoreMatcher };

/** Whether a path is ignored: the deepest ignore file that matches it decides. */
export function isIgnoredPath(path: string, isFolder: boolean, rules: readonly IgnoreRule[]): boolean {
  for (const { base, ignore } of rules.toReversed()) {
    const decision = ignore(base === '' ? path : path.slice(base.length + 1), isFolder);
    if (decision !== undefined) return decision;
  }
  return false;
}

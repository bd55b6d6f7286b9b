// What a .gitignore file leaves out: the last pattern that fits a path decides. Matched without regular expressions, so that no stranger's file can make it slow.

/** Decides about a path below the folder of its file: left out, kept in spite of earlier patterns, or not spoken of. */
export type IgnoreMatcher = (path: string, isFolder: boolean) => boolean | undefined;

/** Reads the patterns of one file. */
export function parseIgnoreFile(text: string): IgnoreMatcher {
  const patterns = text
    .replace(/^\ufeff/, '')
    .split('\n')
    .flatMap((line) => parseIgnorePattern(line) ?? []);
  return (path, isFolder) => {
    const names = path.split('/');
    return patterns.findLast((each) => (isFolder || !each.foldersOnly) && matchesNames(each.names, names))?.ignored;
  };
}

/** Fits one name of a path, or stands for any number of them. */
type NameMatcher = ((name: string) => boolean) | '**';

type IgnorePattern = {
  readonly names: readonly NameMatcher[];
  readonly foldersOnly: boolean;
  readonly ignored: boolean;
};

function parseIgnorePattern(line: string): IgnorePattern | undefined {
  const given = line.replace(/\r$/, '').replace(/(?<!\\) +$/, '');
  if (given === '' || given.startsWith('#')) return undefined;
  const ignored = !given.startsWith('!');
  const body = ignored ? given : given.slice(1);
  const bare = body.replace(/\/$/, '');
  const names = bare.replace(/^\//, '').split('/');
  if (names.join('') === '') return undefined;
  // A slash at the beginning or in the middle ties a pattern to its folder; without one it fits at any depth.
  const fitting = names.map((name): NameMatcher => (name === '**' ? name : compileNamePattern(name)));
  return { names: bare.includes('/') ? fitting : ['**', ...fitting], foldersOnly: bare !== body, ignored };
}

/** Whether names fit a pattern, `**` standing for any number of them. */
function matchesNames(pattern: readonly NameMatcher[], names: readonly string[]): boolean {
  return matchesWildcard(pattern.length, names.length, {
    isMany: (i) => pattern[i] === '**',
    isOne: (i, j) => {
      const fit = pattern[i];
      return typeof fit === 'function' && fit(names[j] ?? '');
    },
    // `a/**` is what is in a, not a itself.
    minLastMany: pattern.at(-1) === '**' && pattern.length > 1 ? 1 : 0,
  });
}

/** Whether a name fits a pattern of `*`, `?`, classes and escapes; most patterns are plain names or endings. */
function compileNamePattern(pattern: string): (name: string) => boolean {
  if (!/[*?[\\]/.test(pattern)) return (name) => name === pattern;
  const ending = pattern.slice(1);
  if (pattern.startsWith('*') && !/[*?[\\]/.test(ending)) return (name) => name.endsWith(ending);
  const signs = pattern.match(/\\.|\[[!^]?\]?[^\]]*\]|[^]/gu) ?? [];
  return (name) => {
    const letters = Array.from(name);
    return matchesWildcard(signs.length, letters.length, {
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
  const not = /^\[[!^]/.test(sign);
  const inside = Array.from(sign.slice(not ? 2 : 1, -1));
  const found = inside.some((each, i) => {
    if (each === letter) return true;
    return inside[i + 1] === '-' && each <= letter && letter <= (inside[i + 2] ?? '');
  });
  return found !== not;
}

type WildcardSpec = {
  /** Whether a sign stands for any number of things. */
  readonly isMany: (sign: number) => boolean;
  readonly isOne: (sign: number, thing: number) => boolean;
  /** How many things the last sign takes at least, where it stands for many. */
  readonly minLastMany: number;
};

/** Whether signs fit things from end to end, in time proportional to both: only the latest "many" is ever tried again. */
function matchesWildcard(signs: number, things: number, { isMany, isOne, minLastMany }: WildcardSpec): boolean {
  const end = things - minLastMany;
  let [sign, thing, many, from] = [0, 0, -1, 0];
  while (thing < things) {
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

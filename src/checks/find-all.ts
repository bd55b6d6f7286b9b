// Finds all matches of a pattern without a copy of the pattern, which `matchAll` makes for each call.

/** Finds all matches of a pattern with the flag g. */
export function findAll(pattern: RegExp, text: string): readonly RegExpExecArray[] {
  pattern.lastIndex = 0;
  let match = pattern.exec(text);
  if (!match) return none;
  const found: RegExpExecArray[] = [];
  for (; match; match = pattern.exec(text)) {
    found.push(match);
    if (match[0] === '') pattern.lastIndex += 1;
  }
  return found;
}

const none: readonly RegExpExecArray[] = [];

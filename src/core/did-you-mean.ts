// Did-you-mean suggestions: the names with the smallest edit distance to a mistyped word.

/** Returns the closest names, best first; empty if none is close enough. */
export function closestMatches(
  word: string,
  names: readonly string[],
  maxDistance: number = Math.max(2, Math.floor(word.length / 3)),
): readonly string[] {
  return names
    .map((name) => ({ name, distance: distanceOf(word, name) }))
    .filter(({ distance }) => distance <= maxDistance)
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map(({ name }) => name);
}

/** The distance of two words. The beginning of a name is close to it, and two letters in the wrong order are closer than any other mistake. */
function distanceOf(word: string, name: string): number {
  if (name.startsWith(word) || word.startsWith(name)) return 1;
  const at = word.split('').findIndex((letter, i) => letter !== name[i]);
  const swapped = `${word.slice(0, at)}${word[at + 1] ?? ''}${word[at]}${word.slice(at + 2)}`;
  return swapped === name ? 0.5 : editDistance(word, name);
}

/** The edit distance of two words. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}

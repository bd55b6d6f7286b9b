// Did-you-mean suggestions: the names with the smallest edit distance to a mistyped word.

/** Returns the closest names, best first; empty if none is close enough. */
export function closestMatches(word: string, names: readonly string[]): readonly string[] {
  const maxDistance = Math.max(2, Math.floor(word.length / 3));
  return names
    .map((name) => ({ name, distance: name.startsWith(word) || word.startsWith(name) ? 1 : editDistance(word, name) }))
    .filter(({ distance }) => distance <= maxDistance)
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map(({ name }) => name);
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

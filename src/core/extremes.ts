// The largest and the smallest of many numbers. Math.max and Math.min throw a RangeError for about 120,000 arguments.

/** Returns the largest of the numbers, or `least` if none is larger. */
export function maxOf(values: Iterable<number>, least: number = Number.NEGATIVE_INFINITY): number {
  let largest = least;
  for (const value of values) largest = Math.max(largest, value);
  return largest;
}

/** Returns the smallest of the numbers; Infinity if there is none. */
export function minOf(values: Iterable<number>): number {
  let smallest = Number.POSITIVE_INFINITY;
  for (const value of values) smallest = Math.min(smallest, value);
  return smallest;
}

/** Returns the length of the longest match of a global pattern; `least` if none is longer. */
export function longestMatch(text: string, pattern: RegExp, least: number): number {
  let longest = least;
  for (const [found] of text.matchAll(pattern)) longest = Math.max(longest, found.length);
  return longest;
}

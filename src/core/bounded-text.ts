// Buffers text of any length in bounded memory: keeps its head and its tail and counts what was omitted.

/** A bounded text buffer. */
export type BoundedText = {
  add(text: string): void;
  /** The kept text, with a line in the gap that says how much is missing. */
  text(): string;
  /** True if some text was omitted. */
  isTruncated(): boolean;
};

/** Creates a buffer that keeps at most this many characters, half from the start and half from the end. */
export function createBoundedText(maxChars: number): BoundedText {
  const half = Math.max(1, Math.floor(maxChars / 2));
  let head = '';
  let tail = '';
  let omitted = 0;
  return {
    add(text) {
      const headSpace = half - head.length;
      head += text.slice(0, headSpace);
      tail += text.slice(headSpace);
      // Cut in bulk: a slice for every chunk would copy the tail each time.
      if (tail.length > 3 * half) cut();
    },
    isTruncated: () => omitted > 0 || tail.length > half,
    text() {
      if (tail.length > half) cut();
      if (omitted === 0) return head + tail;
      return `${head.toWellFormed()}\n[… ${omitted} characters left out …]\n${tail.toWellFormed()}`;
    },
  };

  function cut(): void {
    omitted += tail.length - half;
    tail = tail.slice(-half);
  }
}

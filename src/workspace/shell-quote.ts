// A text as one word of a POSIX shell, whatever it holds.

/** Quotes a text so that a shell takes it as it is. */
export const shellQuote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

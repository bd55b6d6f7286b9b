// Quotes a text for a POSIX shell.

/** Quotes a text so that a shell takes it as one literal word. */
export const shellQuote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

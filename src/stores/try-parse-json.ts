// Parses JSON from a file or a database row that may be damaged.

/** The parsed value, or undefined if the text is not JSON. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

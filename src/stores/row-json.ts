// What a text in a row says as JSON: a database may come from anywhere, so it is looked at before it is believed.

/** The value that a text is; nothing where it is no JSON. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

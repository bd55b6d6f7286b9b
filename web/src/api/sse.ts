// Parser of server-sent events.

/** An event; `id` is the last id of the stream so far. */
export type SseMessage = { readonly event: string; readonly data: string; readonly id: string | undefined };

/** Takes text in chunks of any length, and returns the events that are complete. */
export type SseParser = (text: string) => readonly SseMessage[];

/** Creates a parser. */
export function createSseParser(): SseParser {
  let rest = '';
  let hasStarted = false;
  let id: string | undefined;
  let event = '';
  let data: string[] = [];

  /** Parses a line; an empty one ends an event, which is dropped if it has no data. */
  function take(line: string, found: SseMessage[]): void {
    if (line === '') {
      if (data.length > 0) found.push({ event: event || 'message', data: data.join('\n'), id });
      event = '';
      data = [];
      return;
    }
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'data') data.push(value);
    else if (name === 'event') event = value;
    else if (name === 'id' && !value.includes('\0')) id = value;
  }

  return (text) => {
    const found: SseMessage[] = [];
    rest += text;
    if (!hasStarted && rest !== '') {
      hasStarted = true;
      rest = rest.replace(/^\uFEFF/, '');
    }
    // A carriage return at the end may be the first half of a CRLF, so it stays in the buffer until the next chunk.
    for (let end = /\r\n|\n|\r(?!$)/.exec(rest); end; end = /\r\n|\n|\r(?!$)/.exec(rest)) {
      take(rest.slice(0, end.index), found);
      rest = rest.slice(end.index + end[0].length);
    }
    return found;
  };
}

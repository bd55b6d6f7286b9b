// Server-sent events out of a stream of text, as the standard says: fields a line, a message at an empty line.

/** One message of the stream; `id` is the last one that was said, with this message or before it. */
export type SseMessage = { readonly event: string; readonly data: string; readonly id: string | undefined };

/** Takes text as it comes, in pieces of any length, and gives the messages that are complete. */
export type SseParser = (text: string) => readonly SseMessage[];

/** A reader at the beginning of a stream. */
export function createSseParser(): SseParser {
  let rest = '';
  let begun = false;
  let id: string | undefined;
  let event = '';
  let data: string[] = [];

  /** A line; an empty one ends a message, which counts only where it has data. */
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
    if (!begun && rest !== '') {
      begun = true;
      rest = rest.replace(/^\uFEFF/, '');
    }
    // A carriage return at the end may be the first half of a line break: it waits for the next piece.
    for (let end = /\r\n|\n|\r(?!$)/.exec(rest); end; end = /\r\n|\n|\r(?!$)/.exec(rest)) {
      take(rest.slice(0, end.index), found);
      rest = rest.slice(end.index + end[0].length);
    }
    return found;
  };
}

// Bytes as they arrive, cut into events or lines. Where a read happens to end changes nothing, inside a character or a line end included.
import { StringDecoder } from 'node:string_decoder';
import { maxResponseChars, responseTooLargeError, type ProviderInfo } from './errors.ts';

/** An event of a server-sent stream; one without a name is a `message`. */
export type SseEvent = { readonly event: string; readonly data: string };

/** Turns bytes into items, as many as are complete. */
export interface StreamDecoder<T> {
  push(bytes: Buffer): readonly T[];
  /** What the end of the stream completes. */
  end(): readonly T[];
}

/** Server-sent events by the WHATWG rules. An event that no blank line ended is not given out: half an event is no event. */
export function createSseDecoder(who: ProviderInfo): StreamDecoder<SseEvent> {
  const text = createLineBuffer(who);
  let name = '';
  let data: string | undefined;

  function line(all: string, from: number, to: number, out: SseEvent[]): void {
    if (from === to) {
      if (data !== undefined) out.push({ event: name === '' ? 'message' : name, data });
      name = '';
      data = undefined;
      return;
    }
    const colon = all.indexOf(':', from);
    const end = colon < 0 || colon > to ? to : colon;
    const field = end - from;
    if (field !== 4 && field !== 5) return;
    const start = end === to ? to : end + (all.charCodeAt(end + 1) === 32 && end + 1 < to ? 2 : 1);
    if (field === 4 && all.startsWith('data', from)) {
      const value = all.slice(start, to);
      data = data === undefined ? value : `${data}\n${value}`;
      if (data.length > maxResponseChars) throw responseTooLargeError(who);
    } else if (field === 5 && all.startsWith('event', from)) name = all.slice(start, to);
  }

  return {
    push(bytes) {
      const out: SseEvent[] = [];
      const all = text.push(bytes);
      let from = 0;
      for (let to = all.indexOf('\n'); to >= 0; to = all.indexOf('\n', from)) {
        line(all, from, to, out);
        from = to + 1;
      }
      return out;
    },
    end: () => [],
  };
}

/** Lines that are not blank. The last one counts without a line end too: whether it is whole is for its reader to see. */
export function createLineDecoder(who: ProviderInfo): StreamDecoder<string> {
  const text = createLineBuffer(who);
  const lines = (all: string): readonly string[] => all.split('\n').filter((each) => each.trim() !== '');
  return { push: (bytes) => lines(text.push(bytes)), end: () => lines(text.flush()) };
}

type LineBuffer = { push(bytes: Buffer): string; flush(): string };

/** Decoded text up to the last line end that has arrived, every line end a `\n`, a leading byte order mark dropped. */
function createLineBuffer(who: ProviderInfo): LineBuffer {
  const utf8 = new StringDecoder('utf8');
  let rest = '';
  let begun = false;
  let afterReturn = false;

  function decode(bytes: Buffer): string {
    let piece = utf8.write(bytes);
    if (piece === '') return piece;
    if (!begun) {
      begun = true;
      if (piece.charCodeAt(0) === 0xfeff) piece = piece.slice(1);
    }
    if (afterReturn && piece.charCodeAt(0) === 10) piece = piece.slice(1);
    afterReturn = false;
    if (!piece.includes('\r')) return piece;
    afterReturn = piece.endsWith('\r');
    return piece.replaceAll(/\r\n?/g, '\n');
  }

  return {
    push(bytes) {
      const piece = decode(bytes);
      // Only the new piece is searched: a line of many reads would otherwise be searched again with each of them.
      const cut = piece.lastIndexOf('\n') + 1;
      if (cut === 0) {
        rest += piece;
        if (rest.length > maxResponseChars) throw responseTooLargeError(who);
        return '';
      }
      const whole = rest + piece.slice(0, cut);
      rest = piece.slice(cut);
      return whole;
    },
    flush() {
      const left = rest + utf8.end();
      rest = '';
      return left;
    },
  };
}

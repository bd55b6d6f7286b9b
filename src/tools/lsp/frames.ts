// Message framing of the language server protocol: a Content-Length header, then JSON. Bounded; invalid data ends the stream.
import { escapeInvisibleLine } from '../../core/index.ts';

const maxHeaderBytes = 1024;
/** Max bytes of one message. */
const maxBodyBytes = 32_000_000;
const maxQuotedBytes = 80;
const headerPrefix = 'content-';

/** Encodes a message. */
export function encodeFrame(message: object): Buffer {
  const body = Buffer.from(JSON.stringify(message));
  return Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]);
}

/** Decodes a stream and emits each message. At the first invalid data, `broken` is called once with the reason, and decoding stops. */
export function createFrameDecoder(
  message: (value: unknown) => void,
  broken: (why: string) => void,
): (bytes: Buffer) => void {
  let held: Buffer[] = [];
  let size = 0;
  /** The length of the current body; undefined while in a header. */
  let length: number | undefined;
  let isClosed = false;

  const joined = (): Buffer => {
    const all = held.length === 1 && held[0] ? held[0] : Buffer.concat(held);
    held = [all];
    return all;
  };
  const keep = (rest: Buffer): void => {
    held = [rest];
    size = rest.length;
  };
  const stop = (why: string): false => {
    isClosed = true;
    held = [];
    broken(why);
    return false;
  };

  function readHeader(): boolean {
    if (isClosed || size === 0) return false;
    const all = joined();
    if (!hasHeaderPrefix(all)) return stop(`it wrote something that is not a message: ${quoteFirstLine(all)}`);
    const end = all.indexOf('\r\n\r\n');
    if (end > maxHeaderBytes || (end < 0 && all.length > maxHeaderBytes))
      return stop('the header of a message has no end');
    if (end < 0) return false;
    const lengthText = /^content-length: *(\d{1,12}) *$/im.exec(all.toString('latin1', 0, end))?.[1];
    if (lengthText === undefined) return stop(`a message has no valid length: ${quoteFirstLine(all)}`);
    length = Number(lengthText);
    if (length > maxBodyBytes) return stop(`a message has ${length} bytes, and the max is ${maxBodyBytes}`);
    keep(all.subarray(end + 4));
    return true;
  }

  function readBody(bytes: number): boolean {
    if (size < bytes) return false;
    const all = joined();
    length = undefined;
    keep(all.subarray(bytes));
    let value: unknown;
    try {
      value = JSON.parse(all.toString('utf8', 0, bytes));
    } catch {
      return stop(`a message is not JSON: ${quoteFirstLine(all.subarray(0, bytes))}`);
    }
    message(value);
    return true;
  }

  return (bytes) => {
    if (isClosed || bytes.length === 0) return;
    held.push(bytes);
    size += bytes.length;
    while (length === undefined ? readHeader() : readBody(length));
  };
}

/** Both possible headers start the same, so invalid data is detected at its first bytes. */
const hasHeaderPrefix = (bytes: Buffer): boolean =>
  headerPrefix.startsWith(bytes.toString('latin1', 0, headerPrefix.length).toLowerCase());

/** Returns the start of the first line. */
const quoteFirstLine = (bytes: Buffer): string =>
  `"${escapeInvisibleLine(bytes.toString('utf8', 0, maxQuotedBytes).replace(/[\r\n][^]*/, ''))}"`;

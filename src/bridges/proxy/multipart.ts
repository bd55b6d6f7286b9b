// Changes the text parts of a multipart body, such as an upload of a file, and leaves its other bytes as they are. Takes linear time.
import { FairleadError } from '../../core/index.ts';

/** A multipart body after its text parts were changed, and the number of parts that hold no text that can be read. */
export type ChangedMultipart = { readonly body: Uint8Array; readonly unscanned: number };

/** A body with more parts is refused. */
const maxParts = 1000;
const maxHeadBytes = 16_384;
const lineEnd = Buffer.from('\r\n');
const headEnd = Buffer.from('\r\n\r\n');

/** Whether a content type is that of a multipart body. */
export const isMultipart = (contentType: string): boolean => /^\s*multipart\//i.test(contentType);

/** Calls `change` for the text of each part that is UTF-8 without zero bytes. A body that cannot be divided into parts is an error: what is in it is not known. */
export function changeMultipart(
  body: Uint8Array,
  contentType: string,
  change: (text: string) => string,
): ChangedMultipart {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  const pieces: Uint8Array[] = [];
  let unscanned = 0;
  let end = 0;
  for (const { from, to, head } of findParts(bytes, readBoundary(contentType))) {
    const text = isEncoded(head) ? undefined : decodeText(bytes.subarray(from, to));
    if (text === undefined) {
      unscanned += 1;
      continue;
    }
    const changed = change(text);
    if (changed === text) continue;
    pieces.push(bytes.subarray(end, from), Buffer.from(changed));
    end = to;
  }
  return { body: end === 0 ? body : Buffer.concat([...pieces, bytes.subarray(end)]), unscanned };
}

function readBoundary(contentType: string): string {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) throw unreadableError('its content type names no boundary');
  return boundary;
}

type Part = { readonly from: number; readonly to: number; readonly head: string };

/** The contents of the parts by their place. Bytes before the first boundary and after the last one are refused: they would not be searched. */
function findParts(bytes: Buffer, boundary: string): readonly Part[] {
  const first = Buffer.from(`--${boundary}`);
  const next = Buffer.from(`\r\n--${boundary}`);
  const parts: Part[] = [];
  if (!bytes.subarray(0, first.length).equals(first)) throw unreadableError('it does not begin with its boundary');
  let at = first.length;
  while (bytes.toString('latin1', at, at + 2) !== '--') {
    if (!bytes.subarray(at, at + 2).equals(lineEnd)) throw unreadableError('a boundary does not end its line');
    if (parts.length >= maxParts) throw unreadableError(`it has more than ${maxParts} parts`);
    // A part without header fields has an empty line only.
    const headAt = bytes.indexOf(headEnd, at);
    const to = headAt < 0 ? -1 : bytes.indexOf(next, headAt + lineEnd.length);
    if (to < 0) throw unreadableError('a part has no end');
    if (headAt - at > maxHeadBytes) throw unreadableError('the header fields of a part are too long');
    const from = Math.min(headAt + headEnd.length, to);
    parts.push({ from, to, head: bytes.toString('latin1', at, headAt) });
    at = to + next.length;
  }
  if (bytes.toString('latin1', at + 2).trim() !== '') throw unreadableError('it has bytes after its last part');
  return parts;
}

/** Whether a part says that its bytes are an encoding of its content. */
const isEncoded = (head: string): boolean =>
  /^content-(?:transfer-encoding:(?!\s*(?:7bit|8bit|binary)\s*$)|encoding:)/im.test(head);

function decodeText(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

const unreadableError = (why: string): FairleadError =>
  new FairleadError(
    'proxy/multipart',
    `The multipart body of the request cannot be searched for private data: ${why}.`,
    {
      blame: 'user',
      hint: 'Send it with one boundary, as HTTP clients do; or switch data loss prevention off for the proxy.',
    },
  );

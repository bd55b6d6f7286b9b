// The bytes of a chat reply as chunks, whatever the server chose to send: events, or one JSON document.
import type { Chunk } from '../../core/index.ts';
import { createChatStreamParser, type ChatStreamOptions } from './stream-parser.ts';
import { truncatedResponseError, maxResponseChars, responseTooLargeError } from '../http/errors.ts';
import { createSseDecoder } from '../http/sse.ts';

/** The chunks of an answer. They end with `end` if the answer came to its own end, and with an error if it did not. */
export async function* readChatStream(body: AsyncIterable<Buffer>, reader: ChatStreamOptions): AsyncGenerator<Chunk> {
  const { providerInfo } = reader;
  const answer = createChatStreamParser(reader);
  const events = createSseDecoder(providerInfo);
  const pieces: Buffer[] = [];
  let form: BodyForm | undefined;
  let size = 0;
  try {
    for await (const bytes of body) {
      if (form === 'events') {
        for (const each of events.push(bytes)) answer.pushEvent(each.event, each.data);
      } else {
        size += bytes.length;
        if (size > maxResponseChars) throw responseTooLargeError(providerInfo);
        pieces.push(bytes);
        form ??= size > maxSniffBytes ? 'document' : sniffBodyForm(pieces);
        if (form === 'events')
          for (const each of events.push(Buffer.concat(pieces))) answer.pushEvent(each.event, each.data);
      }
      yield* answer.takeChunks();
      if (answer.done) break;
    }
  } catch (error) {
    // The answer was complete when the connection broke: at most its token counts are lost.
    if (!answer.finished) throw error;
  }
  if (form === undefined) throw truncatedResponseError(providerInfo);
  if (form === 'document') answer.pushDocument(Buffer.concat(pieces).toString('utf8'));
  answer.end();
  yield* answer.takeChunks();
}

const maxSniffBytes = 65_536;

type BodyForm = 'events' | 'document';

/** Told by the first characters, because content types lie; undefined while there are too few of them. */
function sniffBodyForm(pieces: readonly Buffer[]): BodyForm | undefined {
  const start = Buffer.concat(pieces)
    .toString('utf8')
    .replace(/^\u{feff}/u, '')
    .trimStart();
  if (/^(:|data|event|id|retry)/.test(start)) return 'events';
  const open = ['data', 'event', 'id', 'retry', '\u{fffd}'].some((name) => name.startsWith(start));
  return open ? undefined : 'document';
}

// Reads the body of a chat completion reply as chunks: server-sent events, or one JSON document.
import type { Chunk } from '../../core/index.ts';
import { truncatedResponseError, maxResponseChars, responseTooLargeError, withUsage } from '../http/errors.ts';
import { createSseDecoder } from '../http/sse.ts';
import { createChatStreamParser, type ChatStreamOptions } from './stream-parser.ts';

/** Yields the chunks of a response: the last is `end` if the response is complete; else the generator throws. */
export async function* readChatStream(body: AsyncIterable<Buffer>, options: ChatStreamOptions): AsyncGenerator<Chunk> {
  const { providerInfo } = options;
  const parser = createChatStreamParser(options);
  const decoder = createSseDecoder(providerInfo);
  const pieces: Buffer[] = [];
  let form: BodyForm | undefined;
  let size = 0;
  const pushEvents = (bytes: Buffer): void => {
    for (const { event, data } of decoder.push(bytes)) parser.pushEvent(event, data);
  };
  try {
    try {
      for await (const bytes of body) {
        if (form === 'events') pushEvents(bytes);
        else {
          size += bytes.length;
          if (size > maxResponseChars) throw responseTooLargeError(providerInfo);
          pieces.push(bytes);
          form ??= size > maxSniffBytes ? 'document' : sniffBodyForm(pieces);
          if (form === 'events') pushEvents(Buffer.concat(pieces));
        }
        yield* parser.takeChunks();
        if (parser.done) break;
      }
    } catch (error) {
      // After the finish reason the response is complete: at most its token counts are lost.
      if (!parser.finished) throw error;
    }
    if (form === undefined) throw truncatedResponseError(providerInfo);
    if (form === 'document') parser.pushDocument(Buffer.concat(pieces).toString('utf8'));
    parser.end();
  } catch (error) {
    throw withUsage(error, parser.reported);
  }
  yield* parser.takeChunks();
}

const maxSniffBytes = 65_536;

type BodyForm = 'events' | 'document';

/** Detects the form from the first characters, because content types are unreliable; undefined while there are too few. */
function sniffBodyForm(pieces: readonly Buffer[]): BodyForm | undefined {
  const start = Buffer.concat(pieces)
    .toString('utf8')
    .replace(/^\u{feff}/u, '')
    .trimStart();
  if (/^(:|data|event|id|retry)/.test(start)) return 'events';
  const isOpen = ['data', 'event', 'id', 'retry', '\u{fffd}'].some((name) => name.startsWith(start));
  return isOpen ? undefined : 'document';
}

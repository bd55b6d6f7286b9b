// The bytes of a chat reply as chunks, whatever the server chose to send: events, or one JSON document.
import type { Chunk } from '../../core/index.ts';
import { chatAnswer, type ChatReader } from './answer.ts';
import { cutFault, mostChars, tooLargeFault } from '../wire/faults.ts';
import { sseDecoder } from '../wire/lines.ts';

/** The chunks of an answer. They end with `end` if the answer came to its own end, and with an error if it did not. */
export async function* readChat(body: AsyncIterable<Buffer>, reader: ChatReader): AsyncGenerator<Chunk> {
  const { who } = reader;
  const answer = chatAnswer(reader);
  const events = sseDecoder(who);
  const pieces: Buffer[] = [];
  let form: Form | undefined;
  let size = 0;
  try {
    for await (const bytes of body) {
      if (form === 'events') {
        for (const each of events.push(bytes)) answer.event(each.event, each.data);
      } else {
        size += bytes.length;
        if (size > mostChars) throw tooLargeFault(who);
        pieces.push(bytes);
        form ??= size > mostSniffed ? 'document' : formOf(pieces);
        if (form === 'events')
          for (const each of events.push(Buffer.concat(pieces))) answer.event(each.event, each.data);
      }
      yield* answer.take();
      if (answer.done) break;
    }
  } catch (error) {
    // The answer was complete when the connection broke: at most its token counts are lost.
    if (!answer.finished) throw error;
  }
  if (form === undefined) throw cutFault(who);
  if (form === 'document') answer.document(Buffer.concat(pieces).toString('utf8'));
  answer.end();
  yield* answer.take();
}

const mostSniffed = 65_536;

type Form = 'events' | 'document';

/** Told by the first characters, because content types lie; undefined while there are too few of them. */
function formOf(pieces: readonly Buffer[]): Form | undefined {
  const start = Buffer.concat(pieces)
    .toString('utf8')
    .replace(/^\u{feff}/u, '')
    .trimStart();
  if (/^(:|data|event|id|retry)/.test(start)) return 'events';
  const open = ['data', 'event', 'id', 'retry', '\u{fffd}'].some((name) => name.startsWith(start));
  return open ? undefined : 'document';
}

// A fetch with size limits: a response, or one event of an event stream, that exceeds the limit fails.
import type { FetchLike } from '@modelcontextprotocol/client';

const maxMessageBytes = 16_000_000;

/** The platform's fetch, whose bodies fail if a single message is too large. */
export const boundedFetch: FetchLike = async (url, init) => {
  const response = await fetch(url, init);
  if (response.body === null) return response;
  const events = /^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '');
  const body = response.body.pipeThrough(createMessageLimiter(events));
  const { status, statusText, headers } = response;
  const copy = new Response(body, { status, statusText, headers });
  // The constructor leaves it empty, and redirects and authorization depend on it.
  Object.defineProperty(copy, 'url', { value: response.url });
  return copy;
};

/** Passes bytes on until one message is too large. For an event stream, counting restarts at each blank line. */
function createMessageLimiter(events: boolean): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      const last = events ? lastBlankLine(chunk) : -1;
      bytes = last < 0 ? bytes + chunk.length : chunk.length - last;
      if (bytes > maxMessageBytes)
        controller.error(new Error(`The server sent more than ${maxMessageBytes} bytes in one message.`));
      else controller.enqueue(chunk);
    },
  });
}

function lastBlankLine(chunk: Uint8Array): number {
  const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  return Math.max(text.lastIndexOf('\n\n'), text.lastIndexOf('\r\n\r\n'), text.lastIndexOf('\r\r'));
}

// Decodes the bytes of a streamed reply into server-sent events or lines; where a read ends does not change the result.
import { StringDecoder } from 'node:string_decoder';
import { createLineParser, createSseParser, type SseEvent, type TextLimit, type TextParser } from '../../wire/index.ts';
import { maxResponseChars, responseTooLargeError, type ProviderInfo } from './errors.ts';

/** Turns bytes into items. */
export interface StreamDecoder<T> {
  /** Returns the items that these bytes complete. */
  push(bytes: Buffer): readonly T[];
  /** Returns the items that the end of the stream completes. */
  end(): readonly T[];
}

/** Decodes server-sent events. */
export const createSseDecoder = (providerInfo: ProviderInfo): StreamDecoder<SseEvent> =>
  createDecoder(createSseParser(createTextLimit(providerInfo)));

/** Decodes lines that are not blank. */
export const createLineDecoder = (providerInfo: ProviderInfo): StreamDecoder<string> =>
  createDecoder(createLineParser(createTextLimit(providerInfo)));

function createDecoder<T>(parser: TextParser<T>): StreamDecoder<T> {
  const utf8 = new StringDecoder('utf8');
  return {
    push: (bytes) => parser.push(utf8.write(bytes)),
    end: () => [...parser.push(utf8.end()), ...parser.end()],
  };
}

const createTextLimit = (providerInfo: ProviderInfo): TextLimit => ({
  maxChars: maxResponseChars,
  onExceeded() {
    throw responseTooLargeError(providerInfo);
  },
});

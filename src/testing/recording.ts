// The requests that the scripted server records, with secrets hidden from printed output.
import type { IncomingHttpHeaders } from 'node:http';
import { inspect } from 'node:util';
import type { Json } from '../core/index.ts';
import type { WireFormatName } from '../wire/index.ts';

/** A request as it arrived. */
export type RecordedRequest = {
  readonly method: string;
  readonly path: string;
  /** The query with its question mark, without a key. */
  readonly query: string;
  /** The headers. Secret ones can be read by name and are not printed. */
  readonly headers: IncomingHttpHeaders;
  /** The body, byte for byte. */
  readonly raw: Buffer;
  /** The body as JSON; undefined if it is not JSON. */
  readonly body: Json | undefined;
  /** The wire format; undefined for a listing or an unknown path. */
  readonly format: WireFormatName | undefined;
  /** When it arrived, in milliseconds since the server started. */
  readonly at: number;
  /** The outcome of the request. */
  readonly outcome: RequestOutcome;
};

/** The outcome of a request; it changes until the response has ended. */
export type RequestOutcome = {
  /** The status of the response; undefined before it began. */
  status?: number;
  /** The response was sent completely. */
  complete: boolean;
  /** The client disconnected before the end of the response. */
  abandoned: boolean;
};

const secretHeader = /^(authorization|proxy-authorization|cookie|x-api-key|api-key|x-goog-api-key)$/;

/** Wraps headers so that secrets can be read by name and are not enumerated or printed. */
export function redactHeaders(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const shown = (): IncomingHttpHeaders =>
    Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, secretHeader.test(name) ? '[hidden]' : value]),
    );
  return Object.defineProperties({ ...headers }, { toJSON: { value: shown }, [inspect.custom]: { value: shown } });
}

/** Removes the key that some clients put into the query. */
export const redactQuery = (query: string): string => query.replace(/([?&]key=)[^&]*/g, '$1[hidden]');

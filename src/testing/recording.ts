// What the scripted server remembers of a request, with secrets kept out of anything that is printed.
import type { IncomingHttpHeaders } from 'node:http';
import { inspect } from 'node:util';
import type { Json } from '../core/index.ts';
import type { WireFormatName } from '../wire/index.ts';

/** A request as it arrived. */
export type RecordedRequest = {
  readonly method: string;
  readonly path: string;
  /** The query with its question mark; a key in it is taken out. */
  readonly query: string;
  /** Secret ones can be read by name and are not printed. */
  readonly headers: IncomingHttpHeaders;
  /** The body, byte for byte. */
  readonly raw: Buffer;
  /** The body as JSON; nothing if it is not JSON. */
  readonly body: Json | undefined;
  /** The dialect; nothing for a listing or an unknown path. */
  readonly format: WireFormatName | undefined;
  /** When it arrived, in milliseconds since the server started. */
  readonly at: number;
  /** What became of it. */
  readonly outcome: RequestOutcome;
};

/** What became of a request; it goes on changing until the reply has ended. */
export type RequestOutcome = {
  /** The status of the reply; nothing before it began. */
  status?: number;
  /** The reply was written to its end. */
  complete: boolean;
  /** The client went away before the end of the reply. */
  abandoned: boolean;
};

const secretHeader = /^(authorization|proxy-authorization|cookie|x-api-key|api-key|x-goog-api-key)$/;

/** Headers that show their secrets to a program that asks for one by name, and to nobody else. */
export function redactHeaders(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const shown = (): IncomingHttpHeaders =>
    Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, secretHeader.test(name) ? '[hidden]' : value]),
    );
  return Object.defineProperties({ ...headers }, { toJSON: { value: shown }, [inspect.custom]: { value: shown } });
}

/** A query without the key that some clients put there. */
export const redactQuery = (query: string): string => query.replace(/([?&]key=)[^&]*/g, '$1[hidden]');

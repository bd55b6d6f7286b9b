// Recorded exchanges with real services, read from a file and sent again.
import { readFile } from 'node:fs/promises';
import { FairleadError, isObject, type JsonObject } from '../core/index.ts';
import { sends, type BuiltAnswer } from './answer.ts';
import { dialectOf } from './dialect.ts';
import type { Dialect } from './replies/reply.ts';

/** A request to a real service and the reply to it. */
export type Exchange = {
  readonly id: string;
  readonly host: string;
  /** The path with its query. */
  readonly path: string;
  readonly status: number;
  readonly contentType: string;
  readonly request: JsonObject;
  /** The body of the reply exactly as it came. */
  readonly body: string;
  /** The dialect of the path, if it is one that is known here. */
  readonly dialect: Dialect | undefined;
};

/** Reads exchanges from a file with one JSON object a line: `id, host, path, status, contentType, request, body`. */
export async function recordedExchanges(file: string): Promise<readonly Exchange[]> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw unreadable(`The recorded exchanges in ${file} cannot be read`, cause);
  });
  return text
    .split('\n')
    .flatMap((line, i) => (line.trim() === '' ? [] : [exchangeOf(line, `Line ${i + 1} of ${file}`)]));
}

/** An answer that sends what was recorded, byte for byte. */
export const resends = ({ status, contentType, body }: Exchange): BuiltAnswer =>
  sends({ status, headers: { 'content-type': contentType }, body });

function exchangeOf(line: string, where: string): Exchange {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    throw unreadable(`${where} is not JSON`, cause);
  }
  const missing = isObject(value) ? required.find((key) => (value as JsonObject)[key] === undefined) : 'everything';
  if (missing !== undefined) throw unreadable(`${where} is not an exchange, it lacks ${missing}`);
  const exchange = value as Omit<Exchange, 'dialect'>;
  return { ...exchange, dialect: dialectOf(exchange.path.split('?')[0] ?? '') };
}

const required = ['id', 'host', 'path', 'status', 'contentType', 'request', 'body'];

const unreadable = (what: string, cause?: unknown): FairleadError =>
  new FairleadError('testing/no-exchanges', `${what}.`, {
    blame: 'user',
    hint: 'Each line is one JSON object with id, host, path, status, contentType, request and body.',
    ...(cause === undefined ? {} : { cause }),
  });

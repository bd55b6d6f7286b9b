// Recorded exchanges with real services, read from a file and sent again.
import { readFile } from 'node:fs/promises';
import { FairleadError, isObject, type JsonObject } from '../core/index.ts';
import { sends, type ScriptedResponseBuilder } from './scripted-response.ts';
import { wireFormatOfPath, type WireFormatName } from '../wire/index.ts';

/** A request to a real service and its response. */
export type RecordedExchange = {
  readonly id: string;
  readonly host: string;
  /** The path with its query. */
  readonly path: string;
  readonly status: number;
  readonly contentType: string;
  readonly request: JsonObject;
  /** The raw body of the response. */
  readonly body: string;
  /** The wire format of the path, if it is known. */
  readonly format: WireFormatName | undefined;
};

/** Reads exchanges from a file with one JSON object per line: `id, host, path, status, contentType, request, body`. */
export async function readRecordedExchanges(file: string): Promise<readonly RecordedExchange[]> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw unreadableExchangesError(`The recorded exchanges in ${file} cannot be read`, cause);
  });
  return text
    .split('\n')
    .flatMap((line, i) => (line.trim() === '' ? [] : [parseExchange(line, `Line ${i + 1} of ${file}`)]));
}

/** Creates an answer that sends a recording, byte for byte. */
export const resendsExchange = ({ status, contentType, body }: RecordedExchange): ScriptedResponseBuilder =>
  sends({ status, headers: { 'content-type': contentType }, body });

function parseExchange(line: string, where: string): RecordedExchange {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    throw unreadableExchangesError(`${where} is not JSON`, cause);
  }
  const missing = isObject(value)
    ? requiredFields.find((key) => (value as JsonObject)[key] === undefined)
    : 'everything';
  if (missing !== undefined) throw unreadableExchangesError(`${where} is not an exchange: ${missing} is missing`);
  const exchange = value as Omit<RecordedExchange, 'format'>;
  return { ...exchange, format: wireFormatOfPath(exchange.path.split('?')[0] ?? '') };
}

const requiredFields = ['id', 'host', 'path', 'status', 'contentType', 'request', 'body'];

const unreadableExchangesError = (what: string, cause?: unknown): FairleadError =>
  new FairleadError('testing/no-exchanges', `${what}.`, {
    blame: 'user',
    hint: 'Each line is one JSON object with id, host, path, status, contentType, request and body.',
    ...(cause === undefined ? {} : { cause }),
  });

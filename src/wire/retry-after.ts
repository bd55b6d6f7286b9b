// Parses the retry delay of a server, in all the forms that servers use.
import { isObject, maxOf, minOf } from '../core/index.ts';

/** Response headers, with names in lower case. */
export type HttpHeaderMap = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Returns the milliseconds to wait before a retry, if the headers, the error body or its message state them; never negative. */
export function parseRetryDelay(
  headers: HttpHeaderMap,
  body: unknown,
  said: string,
  now: number = Date.now(),
): number | undefined {
  const ms =
    nonNegativeMs(Number(firstHeaderValue(headers, 'retry-after-ms') ?? Number.NaN)) ??
    parseRetryAfter(firstHeaderValue(headers, 'retry-after'), now) ??
    parseRetryInfo(body) ??
    parseRetryMessage(said) ??
    parseResetHeaders(headers, now) ??
    parseResetHeaders(upstreamHeaders(body), now);
  return ms === undefined ? undefined : Math.max(0, Math.ceil(ms));
}

function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined || value.trim() === '') return undefined;
  const seconds = Number(value);
  return Number.isNaN(seconds) ? msUntil(Date.parse(value), now) : nonNegativeMs(seconds * 1000);
}

/** Returns the reset time of the exhausted limit that resets last; if none is marked as exhausted, of the one that resets first. */
function parseResetHeaders(headers: HttpHeaderMap, now: number): number | undefined {
  const found: { readonly ms: number; readonly empty: boolean }[] = [];
  for (const name of Object.keys(headers)) {
    const at = name.indexOf('ratelimit');
    if (at < 0 || !name.includes('reset', at)) continue;
    const ms = parseResetValue(firstHeaderValue(headers, name) ?? '', now);
    if (ms !== undefined)
      found.push({ ms, empty: Number(firstHeaderValue(headers, name.replace('reset', 'remaining')) ?? 1) <= 0 });
  }
  const empty = found.filter((each) => each.empty);
  if (empty.length > 0) return maxOf(empty.map((each) => each.ms));
  return found.length > 0 ? minOf(found.map((each) => each.ms)) : undefined;
}

/** `2m59.5s`, `20ms`, plain seconds, an epoch in seconds or milliseconds, or a date. */
function parseResetValue(value: string, now: number): number | undefined {
  const text = value.trim();
  if (/^\d+(\.\d+)?$/.test(text)) {
    const number = Number(text);
    if (number > 1e11) return msUntil(number, now);
    return number > 1e9 ? msUntil(number * 1000, now) : number * 1000;
  }
  return parseDurationUnits(text) ?? msUntil(Date.parse(text), now);
}

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function parseDurationUnits(text: string): number | undefined {
  const pieces = [...text.matchAll(/(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)/gy)];
  if (pieces.length === 0 || pieces.reduce((sum, piece) => sum + piece[0].length, 0) !== text.length) return undefined;
  return pieces.reduce((sum, piece) => sum + Number(piece[1]) * (unitMs[piece[2] ?? ''] ?? 0), 0);
}

/** Google states the delay in the details of its error, Hugging Face an estimate next to it. */
function parseRetryInfo(body: unknown): number | undefined {
  if (!isObject(body)) return undefined;
  if (typeof body['estimated_time'] === 'number') return nonNegativeMs(body['estimated_time'] * 1000);
  const error = isObject(body['error']) ? body['error'] : {};
  const details = Array.isArray(error['details']) ? (error['details'] as unknown[]) : [];
  for (const each of details)
    if (isObject(each) && typeof each['retryDelay'] === 'string') return parseDurationUnits(each['retryDelay']);
  return undefined;
}

const parseRetryMessage = (said: string): number | undefined => {
  const found = /(?:try again|retry) in ((?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+)/i.exec(said)?.[1];
  return found === undefined ? undefined : parseDurationUnits(found);
};

/** OpenRouter forwards the headers of the server behind it inside the error. */
function upstreamHeaders(body: unknown): HttpHeaderMap {
  const error = isObject(body) && isObject(body['error']) ? body['error'] : {};
  const metadata = isObject(error['metadata']) ? error['metadata'] : {};
  const headers = isObject(metadata['headers']) ? metadata['headers'] : {};
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]));
}

function firstHeaderValue(headers: HttpHeaderMap, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' || value === undefined ? value : value[0];
}

const msUntil = (time: number, now: number): number | undefined =>
  Number.isNaN(time) ? undefined : Math.max(0, time - now);

const nonNegativeMs = (ms: number): number | undefined => (Number.isFinite(ms) && ms >= 0 ? ms : undefined);

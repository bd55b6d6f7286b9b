// Checks the prefix law at the server: whether each request, as raw bytes, begins with the previous one.
import { excerptDifference } from './request-diff.ts';
import type { RecordedRequest } from './recording.ts';
import type { WireFormatName } from '../wire/index.ts';
import { arrayElements, objectMembers, type ByteSlice } from './json-slices.ts';

/** A position where a request does not begin with the previous one. */
export type PrefixBreak = {
  /** The index of the request in the given list. */
  readonly index: number;
  /** For example `messages[4]`, `tools` or `system`. */
  readonly where: string;
  readonly was: string;
  readonly is: string;
};

type PrefixLayout = {
  /** Lists that are extended at their end. */
  readonly growingList: string;
  /** Fields before them in what the model reads, and settings that invalidate the cache of a service. */
  readonly fixed: readonly string[];
  /** Fields that invalidate the cache of some services. */
  readonly cacheSensitive: readonly string[];
};

const prefixLayouts: Readonly<Record<WireFormatName, PrefixLayout>> = {
  chat: {
    growingList: 'messages',
    fixed: ['model', 'tools', 'response_format'],
    cacheSensitive: ['tool_choice', 'reasoning_effort'],
  },
  responses: {
    growingList: 'input',
    fixed: ['model', 'instructions', 'tools', 'text'],
    cacheSensitive: ['tool_choice', 'reasoning'],
  },
  anthropic: {
    growingList: 'messages',
    fixed: ['model', 'system', 'tools', 'thinking', 'output_format', 'output_config'],
    cacheSensitive: ['tool_choice'],
  },
  google: {
    growingList: 'contents',
    fixed: ['systemInstruction', 'tools', 'cachedContent'],
    cacheSensitive: ['toolConfig'],
  },
  ollama: { growingList: 'messages', fixed: ['model', 'tools', 'format', 'options'], cacheSensitive: ['think'] },
};

/** How requests are compared. */
export type PrefixOptions = {
  /** Whether cache markers (`cache_control`) count as part of the text; they move from turn to turn, so by default they do not. */
  readonly cacheMarkers?: boolean;
};

/** Returns where requests do not extend the previous one of their wire format; empty if the law holds. Pass the requests of one conversation. */
export const prefixBreaks = (
  requests: readonly RecordedRequest[],
  options: PrefixOptions = {},
): readonly PrefixBreak[] =>
  consecutivePairs(requests).flatMap(({ index, before, now, dialect }) => {
    const { growingList, fixed } = prefixLayouts[dialect];
    const path: PrefixBreak[] =
      before.path === now.path ? [] : [{ index, where: 'path', was: before.path, is: now.path }];
    return [
      ...path,
      ...compareKeys(index, before, now, fixed, options),
      ...compareList(index, before, now, growingList, options),
    ];
  });

/** Returns changes between requests that make some services read everything again, mainly another `tool_choice`. */
export const prefixWarnings = (requests: readonly RecordedRequest[]): readonly PrefixBreak[] =>
  consecutivePairs(requests).flatMap(({ index, before, now, dialect }) =>
    compareKeys(index, before, now, prefixLayouts[dialect].cacheSensitive, {}),
  );

type RequestPair = {
  readonly index: number;
  readonly before: RecordedRequest;
  readonly now: RecordedRequest;
  readonly dialect: WireFormatName;
};

function consecutivePairs(requests: readonly RecordedRequest[]): readonly RequestPair[] {
  const latest = new Map<WireFormatName, RecordedRequest>();
  return requests.flatMap((now, index): readonly RequestPair[] => {
    const { format } = now;
    if (!format) return [];
    const before = latest.get(format);
    latest.set(format, now);
    return before ? [{ index, before, now, dialect: format }] : [];
  });
}

function compareKeys(
  index: number,
  before: RecordedRequest,
  now: RecordedRequest,
  keys: readonly string[],
  options: PrefixOptions,
): readonly PrefixBreak[] {
  const old = objectMembers(before.raw);
  const young = objectMembers(now.raw);
  return keys.flatMap((where) => {
    const was = textAt(before.raw, old.get(where), options);
    const is = textAt(now.raw, young.get(where), options);
    return was === is ? [] : [{ index, where, ...excerptDifference(was, is) }];
  });
}

/** Returns the first element that differs; the following ones would differ as well. */
function compareList(
  index: number,
  before: RecordedRequest,
  now: RecordedRequest,
  key: string,
  options: PrefixOptions,
): readonly PrefixBreak[] {
  const old = listAt(before.raw, key);
  const young = listAt(now.raw, key);
  for (const [i, slice] of old.entries()) {
    const other = young[i];
    if (other && sameBytes(before.raw, slice, now.raw, other)) continue;
    const was = textAt(before.raw, slice, options);
    const is = textAt(now.raw, other, options);
    if (was !== is) return [{ index, where: `${key}[${i}]`, ...excerptDifference(was, is) }];
  }
  return [];
}

/** Returns a list, or the text that some wire formats allow instead of it as its only element. */
function listAt(raw: Buffer, key: string): readonly ByteSlice[] {
  const slice = objectMembers(raw).get(key);
  if (!slice) return [];
  return raw[slice.start] === 0x5b ? arrayElements(raw, slice.start) : [slice];
}

const sameBytes = (one: Buffer, a: ByteSlice, other: Buffer, b: ByteSlice): boolean =>
  one.compare(other, b.start, b.end, a.start, a.end) === 0;

/** A cache marker in an object. In a text its quotes would be escaped, so it cannot match. */
const cacheControlPattern = /,"cache_control":\{[^{}]*\}|"cache_control":\{[^{}]*\},?/g;

function textAt(raw: Buffer, slice: ByteSlice | undefined, { cacheMarkers = false }: PrefixOptions): string {
  if (!slice) return '(nothing)';
  const text = raw.toString('utf8', slice.start, slice.end);
  return cacheMarkers ? text : text.replace(cacheControlPattern, '');
}

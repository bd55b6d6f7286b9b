// Scans a model request: each message once, and replaces what the policy redacts in all of its texts.
import {
  isObject,
  toArray,
  createPersistentList,
  type Json,
  type Message,
  type MessagePart,
  type ModelRequest,
} from '../../core/index.ts';
import type { DlpScanner } from './scanner.ts';
import type { DlpFinding } from './types.ts';

/** Replaces a finding in a text; returns the value itself to keep it. */
export type Replace = (value: string, finding: DlpFinding) => string;

/** The findings of a request, and the number of files that cannot be scanned. */
export type RequestScan = { readonly findings: readonly FoundValue[]; readonly unscanned: number };
/** A finding with its value. It stays in the process. */
export type FoundValue = { readonly value: string; readonly finding: DlpFinding };

/** Changes every text of a JSON value, the names of fields, and long numbers, which may be account numbers too. */
export function mapStrings(value: Json, change: (text: string) => string): Json {
  if (typeof value === 'string') return change(value);
  if (typeof value === 'number' && Math.abs(value) >= 1e8) {
    const changed = change(String(value));
    return changed === String(value) ? value : changed;
  }
  if (Array.isArray(value)) return value.map((each: Json) => mapStrings(each, change));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [change(key), mapStrings(each, change)]));
}

/** Returns the findings of the messages, and of the system prompt if it is given. */
export function scanMessages(scanner: DlpScanner, messages: readonly Message[], system = ''): RequestScan {
  const findings: FoundValue[] = [];
  let unscanned = 0;
  const collect = (text: string): string =>
    scanner.redact(text, (value, finding) => {
      findings.push({ value, finding });
      return value;
    });
  collect(system);
  for (const { parts } of messages)
    for (const part of parts) {
      mapPart(part, collect);
      unscanned += countFiles(part);
    }
  return { findings, unscanned };
}

/** Returns the request with each text changed. A message that was changed before is taken from `known`. */
export const replaceInRequest = (
  request: ModelRequest,
  known: WeakMap<Message, Message>,
  change: (text: string) => string,
): ModelRequest => ({
  ...request,
  system: change(request.system),
  messages: createPersistentList(
    toArray(request.messages).map((message) => {
      const replaced = known.get(message) ?? {
        ...message,
        parts: message.parts.map((part) => mapPart(part, change)),
      };
      known.set(message, replaced);
      return replaced;
    }),
  ),
});

const isText = (mediaType: string): boolean => /^text\/|[/+](?:json|xml|yaml|csv)$/.test(mediaType);

function countFiles(part: MessagePart): number {
  if (part.type === 'file') return isText(part.mediaType) ? 0 : 1;
  return part.type === 'tool-result' ? (part.files?.length ?? 0) : 0;
}

function mapPart(part: MessagePart, change: (text: string) => string): MessagePart {
  // What a provider signed must come back as it was, and the provider wrote this text itself.
  if (part.type === 'reasoning' && part.meta !== undefined) return part;
  switch (part.type) {
    case 'reasoning':
    case 'text':
    case 'tool-result': {
      const text = change(part.text);
      return text === part.text ? part : { ...part, text };
    }
    case 'tool-call': {
      const invalid = part.invalid === undefined ? {} : { invalid: change(part.invalid) };
      return { ...part, input: mapStrings(part.input, change), ...invalid };
    }
    case 'file': {
      if (!isText(part.mediaType) || /^https?:/.test(part.data)) return part;
      const text = Buffer.from(part.data, 'base64').toString('utf8');
      const changed = change(text);
      return changed === text ? part : { ...part, data: Buffer.from(changed).toString('base64') };
    }
  }
}

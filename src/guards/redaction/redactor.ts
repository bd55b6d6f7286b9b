// The redactor: removes known secret values, and text that looks like a key, from any text.
import { findSecretPatterns, type SecretMatch } from './patterns.ts';

/** Knows secrets and removes them from texts. */
export type Redactor = {
  /** Registers a secret value, in all forms in which programs write it. A value that is too short or too common is ignored. */
  addSecret(name: string, value: string): void;
  /** Returns the text with each secret replaced by a placeholder with its name. */
  redact(text: string): string;
  /** Returns the ranges of the registered values in a text, in no order; they may overlap. */
  findKnown(text: string): readonly SecretMatch[];
  /** Returns the largest length up to `end` at which a text that is not complete can be cut without dividing a secret. */
  cutBefore(text: string, end: number): number;
};

type KnownSecret = { readonly name: string; readonly form: string };

/** Returns the placeholder of a secret. No tool may write it over the secret. */
export const redactionPlaceholder = (name: string): string => `[redacted: ${name}]`;

/** Returns true if a text contains a placeholder. */
export const hasRedactionPlaceholder = (text: string): boolean => /\[redacted: [^\]\n]{1,80}\]/.test(text);

/** Creates a redactor that knows these values by name. */
export function createRedactor(values: Iterable<readonly [name: string, value: string]> = []): Redactor {
  const knownSecrets = new Map<string, KnownSecret>();
  let longest = 0;
  const findSecrets = (text: string): readonly SecretMatch[] => [
    ...findKnownSecrets(text, knownSecrets),
    ...findSecretPatterns(text),
  ];
  const redactor: Redactor = {
    addSecret(name, value) {
      for (const written of encodedForms(value)) {
        const form = written.replaceAll(breakPattern, '');
        if (form.length < minSecretLength || knownSecrets.has(form)) continue;
        knownSecrets.set(form, { name, form });
        longest = Math.max(longest, form.length);
      }
    },
    redact(text) {
      if (text.length < minSecretLength) return text;
      return replaceMatches(text, findSecrets(text));
    },
    findKnown: (text) => findKnownSecrets(text, knownSecrets),
    cutBefore(text, end) {
      if (end <= 0) return 0;
      const isLineEnd = /[\r\n]/.test(text.charAt(end - 1));
      // Breaks inside a secret make it longer than its form.
      const start = Math.max(0, end - 2 * longest - (isLineEnd ? maxBreakChars : maxPatternChars));
      const rest = text.slice(start);
      const open = start + findOpenSecret(rest, knownSecrets);
      const cut = Math.max(0, Math.min(end, open, isLineEnd ? end : text.length - longest));
      const found = isLineEnd ? findKnownSecrets(rest, knownSecrets) : findSecrets(rest);
      const divided = mergeMatches(found).find(({ from, to }) => start + from < cut && cut < start + to);
      if (divided === undefined) return cut;
      // A secret at the start that is longer than what may be held is cut after its end.
      return start + (start + divided.from > 0 ? divided.from : divided.to);
    },
  };
  for (const [name, value] of values) redactor.addSecret(name, value);
  return redactor;
}

/** Max characters before a cut in which a secret is searched for that the cut would divide. */
const maxBreakChars = 512;
const maxPatternChars = 4096;
const minOpenChars = 4;

/** Returns where a known secret starts that the text does not contain completely yet; the length of the text if none does. */
function findOpenSecret(text: string, knownSecrets: ReadonlyMap<string, KnownSecret>): number {
  const joined = text.replaceAll(breakPattern, '');
  let open = joined.length;
  for (const { form } of knownSecrets.values()) {
    const prefix = form.slice(0, minOpenChars);
    let at = joined.indexOf(prefix, Math.max(0, joined.length - form.length + 1));
    for (; at >= 0 && at < open; at = joined.indexOf(prefix, at + 1)) if (form.startsWith(joined.slice(at))) open = at;
  }
  return open === joined.length ? text.length : createOffsetMap(text)(open);
}

/** A redactor that removes nothing, for users who disable redaction. */
export const noRedaction: Redactor = {
  addSecret() {},
  redact: (text) => text,
  findKnown: () => [],
  cutBefore: (_, end) => end,
};

const minSecretLength = 8;

/** Line breaks and terminal sequences, which programs put into a secret that they wrap or colour. They are ignored by the search. */
const breakPattern =
  // oxlint-disable-next-line no-control-regex
  /[\r\n]+|\\[nr]|\u001b\[[\d;?]{0,40}[A-Za-z]|\u001b\][^\u0007\u001b]{0,200}(?:\u0007|\u001b\\)/g;

/** Returns a value in the forms in which programs write it: plain, URL-encoded, in JSON, in base64 and in hexadecimal. For a URL or setting with a password, the password too. */
function encodedForms(value: string): readonly string[] {
  const trimmed = value.trim();
  const [, inAddress] = /:\/\/[^/\s:@]*:([^/\s@]+)@/.exec(trimmed) ?? [];
  const [, inSetting] = /(?:password|passwd|pwd)=([^;&\s]+)/i.exec(trimmed) ?? [];
  const [, inHeader] = /^(?:bearer|basic|token) +(\S+)$/i.exec(trimmed) ?? [];
  const texts = [trimmed, inAddress, inSetting, inHeader].filter((each) => each !== undefined).filter(isDistinctive);
  return texts.flatMap((each) => [
    each,
    encodeURIComponent(each.toWellFormed()),
    JSON.stringify(each).slice(1, -1),
    ...base64Forms(each),
    Buffer.from(each).toString('hex'),
    Buffer.from(each).toString('hex').toUpperCase(),
  ]);
}

/** Returns the base64 characters that depend on this text alone, for each number of bytes before it and both alphabets. */
function base64Forms(text: string): readonly string[] {
  const length = Buffer.byteLength(text);
  return [0, 1, 2].flatMap((before) => {
    const encoded = Buffer.from(`${'\0'.repeat(before)}${text}`).toString('base64');
    const form = encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + length) * 8) / 6));
    return [form, form.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

/** Returns false for a word, a number, a path or a URL: redacting those would damage ordinary text. */
const isDistinctive = (value: string): boolean => {
  if (value.length < minSecretLength || /^([/~.]|[A-Za-z]:\\)/.test(value)) return false;
  if (/^[a-z]+:\/\//i.test(value)) return /:\/\/[^/\s]*@/.test(value);
  if (/^\d+$/.test(value)) return value.length >= 12;
  return value.length >= 16 || (/[A-Za-z]/.test(value) && /[^A-Za-z]/.test(value));
};

function findKnownSecrets(text: string, knownSecrets: ReadonlyMap<string, KnownSecret>): readonly SecretMatch[] {
  if (knownSecrets.size === 0) return [];
  const joined = text.replaceAll(breakPattern, '');
  const found: SecretMatch[] = [];
  for (const { name, form } of knownSecrets.values())
    for (let from = joined.indexOf(form); from >= 0; from = joined.indexOf(form, from + form.length))
      found.push({ from, to: from + form.length, kind: name });
  if (found.length === 0 || joined.length === text.length) return found;
  const toOffset = createOffsetMap(text);
  return found.map(({ from, to, kind }) => ({ from: toOffset(from), to: toOffset(to - 1) + 1, kind }));
}

/** Returns a function from an offset in the text without breaks to the offset in the text. */
function createOffsetMap(text: string): (offset: number) => number {
  const offsets: number[] = [];
  const removed: number[] = [];
  let total = 0;
  for (const match of text.matchAll(breakPattern)) {
    offsets.push(match.index - total);
    total += match[0].length;
    removed.push(total);
  }
  return (offset) => {
    let [low, high] = [0, offsets.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((offsets[middle] ?? 0) <= offset) low = middle + 1;
      else high = middle;
    }
    return offset + (removed[low - 1] ?? 0);
  };
}

/** Replaces each range. Overlapping ranges are replaced as one. */
function replaceMatches(text: string, found: readonly SecretMatch[]): string {
  if (found.length === 0) return text;
  const pieces: string[] = [];
  let end = 0;
  for (const { from, to, kind } of mergeMatches(found)) {
    pieces.push(text.slice(end, from), redactionPlaceholder(kind));
    end = to;
  }
  return [...pieces, text.slice(end)].join('');
}

/** Joins overlapping ranges, under the name of the first, in their order. */
function mergeMatches(found: readonly SecretMatch[]): readonly SecretMatch[] {
  const merged: SecretMatch[] = [];
  for (const match of found.toSorted((a, b) => a.from - b.from || b.to - a.to)) {
    const last = merged.at(-1);
    if (last === undefined || match.from >= last.to) merged.push(match);
    else if (match.to > last.to) merged[merged.length - 1] = { ...last, to: match.to };
  }
  return merged;
}

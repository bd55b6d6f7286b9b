// The redactor: removes known secret values, and text that looks like a key, from any text.
import { findSecretPatterns, type SecretMatch } from './patterns.ts';

/** Knows secrets and removes them from texts. */
export type Redactor = {
  /** Registers a secret value, in all forms in which programs write it. A value that is too short or too common is ignored. */
  addSecret(name: string, value: string): void;
  /** Returns the text with each secret replaced by a placeholder with its name. */
  redact(text: string): string;
};

type KnownSecret = { readonly name: string; readonly form: string };

/** Returns the placeholder of a secret. No tool may write it over the secret. */
export const redactionPlaceholder = (name: string): string => `[redacted: ${name}]`;

/** Returns true if a text contains a placeholder. */
export const hasRedactionPlaceholder = (text: string): boolean => /\[redacted: [^\]\n]{1,80}\]/.test(text);

/** Creates a redactor that knows these values by name. */
export function createRedactor(values: Iterable<readonly [name: string, value: string]> = []): Redactor {
  const knownSecrets = new Map<string, KnownSecret>();
  const redactor: Redactor = {
    addSecret(name, value) {
      for (const form of encodedForms(value)) if (!knownSecrets.has(form)) knownSecrets.set(form, { name, form });
    },
    redact(text) {
      if (text.length < minSecretLength) return text;
      return replaceMatches(text, [...findKnownSecrets(text, knownSecrets.values()), ...findSecretPatterns(text)]);
    },
  };
  for (const [name, value] of values) redactor.addSecret(name, value);
  return redactor;
}

/** A redactor that removes nothing, for users who disable redaction. */
export const noRedaction: Redactor = { addSecret() {}, redact: (text) => text };

const minSecretLength = 8;

/** Returns a value in the forms in which programs write it: plain, URL-encoded, in JSON, in base64. For a URL or setting with a password, the password too. */
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
    // Without its last characters, which depend on what follows.
    Buffer.from(each)
      .toString('base64')
      .slice(0, Math.floor((Buffer.byteLength(each) * 4) / 3)),
  ]);
}

/** Returns false for a word, a number, a path or a URL: redacting those would damage ordinary text. */
const isDistinctive = (value: string): boolean => {
  if (value.length < minSecretLength || /^([/~.]|[A-Za-z]:\\)/.test(value)) return false;
  if (/^[a-z]+:\/\//i.test(value)) return /:\/\/[^/\s]*@/.test(value);
  if (/^\d+$/.test(value)) return value.length >= 12;
  return value.length >= 16 || (/[A-Za-z]/.test(value) && /[^A-Za-z]/.test(value));
};

function findKnownSecrets(text: string, knownSecrets: Iterable<KnownSecret>): readonly SecretMatch[] {
  const found: SecretMatch[] = [];
  for (const { name, form } of knownSecrets)
    for (let from = text.indexOf(form); from >= 0; from = text.indexOf(form, from + form.length))
      found.push({ from, to: from + form.length, kind: name });
  return found;
}

/** Replaces each range. Overlapping ranges are replaced as one, under the name of the first. */
function replaceMatches(text: string, found: readonly SecretMatch[]): string {
  if (found.length === 0) return text;
  const pieces: string[] = [];
  let end = 0;
  for (const { from, to, kind } of found.toSorted((a, b) => a.from - b.from || b.to - a.to)) {
    if (from >= end) pieces.push(text.slice(end, from), redactionPlaceholder(kind));
    end = Math.max(end, to);
  }
  return [...pieces, text.slice(end)].join('');
}

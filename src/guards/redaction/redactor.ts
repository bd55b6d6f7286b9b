// Keeps secrets out of everything that is written down or told: values that are known to be secret, and what looks like a key.
import { findSecretPatterns, type SecretMatch } from './patterns.ts';

/** What knows secrets and takes them out of texts. */
export type Redactor = {
  /** From now on this value is a secret, in the forms that programs write it in; one that is too short or too plain to be told from words is not. */
  addSecret(name: string, value: string): void;
  /** The text with the name of each secret in its place. */
  redact(text: string): string;
};

type KnownSecret = { readonly name: string; readonly form: string };

/** What stands in the place of a secret. Nobody may write it back over the secret. */
export const redactionPlaceholder = (name: string): string => `[redacted: ${name}]`;

/** Whether a text holds something that stands in the place of a secret. */
export const hasRedactionPlaceholder = (text: string): boolean => /\[redacted: [^\]\n]{1,80}\]/.test(text);

/** A keeper that knows these values by their names. */
export function createRedactor(values: Iterable<readonly [name: string, value: string]> = []): Redactor {
  const known = new Map<string, KnownSecret>();
  const keeper: Redactor = {
    addSecret(name, value) {
      for (const form of encodedForms(value)) if (!known.has(form)) known.set(form, { name, form });
    },
    redact(text) {
      if (text.length < minSecretLength) return text;
      return replaceMatches(text, [...findKnownSecrets(text, known.values()), ...findSecretPatterns(text)]);
    },
  };
  for (const [name, value] of values) keeper.addSecret(name, value);
  return keeper;
}

/** A keeper that takes nothing out: the person's wish. */
export const noRedaction: Redactor = { addSecret() {}, redact: (text) => text };

const minSecretLength = 8;

/** A value as programs write it: as it is, in an address, in JSON, in base64. Of an address or a setting with a password, that too. */
function encodedForms(value: string): readonly string[] {
  const whole = value.trim();
  const [, inAddress] = /:\/\/[^/\s:@]*:([^/\s@]+)@/.exec(whole) ?? [];
  const [, inSetting] = /(?:password|passwd|pwd)=([^;&\s]+)/i.exec(whole) ?? [];
  const [, inHeader] = /^(?:bearer|basic|token) +(\S+)$/i.exec(whole) ?? [];
  const texts = [whole, inAddress, inSetting, inHeader].filter((each) => each !== undefined).filter(isDistinctive);
  return texts.flatMap((each) => [
    each,
    encodeURIComponent(each.toWellFormed()),
    JSON.stringify(each).slice(1, -1),
    // Without its last letters, which depend on what follows.
    Buffer.from(each)
      .toString('base64')
      .slice(0, Math.floor((Buffer.byteLength(each) * 4) / 3)),
  ]);
}

/** Not a word, a number, a path or an address: those would be taken out of all that people and programs say. */
const isDistinctive = (value: string): boolean => {
  if (value.length < minSecretLength || /^([/~.]|[A-Za-z]:\\)/.test(value)) return false;
  if (/^[a-z]+:\/\//i.test(value)) return /:\/\/[^/\s]*@/.test(value);
  if (/^\d+$/.test(value)) return value.length >= 12;
  return value.length >= 16 || (/[A-Za-z]/.test(value) && /[^A-Za-z]/.test(value));
};

function findKnownSecrets(text: string, known: Iterable<KnownSecret>): readonly SecretMatch[] {
  const found: SecretMatch[] = [];
  for (const { name, form } of known)
    for (let from = text.indexOf(form); from >= 0; from = text.indexOf(form, from + form.length))
      found.push({ from, to: from + form.length, kind: name });
  return found;
}

/** The text with each stretch replaced; of stretches that touch each other all is taken out under the name of the first. */
function replaceMatches(text: string, found: readonly SecretMatch[]): string {
  if (found.length === 0) return text;
  const pieces: string[] = [];
  let done = 0;
  for (const { from, to, kind } of found.toSorted((a, b) => a.from - b.from || b.to - a.to)) {
    if (from >= done) pieces.push(text.slice(done, from), redactionPlaceholder(kind));
    done = Math.max(done, to);
  }
  return [...pieces, text.slice(done)].join('');
}

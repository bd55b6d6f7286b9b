// Keeps secrets out of everything that is written down or told: values that are known to be secret, and what looks like a key.
import { formatsIn, type Found } from './formats.ts';

/** What knows secrets and takes them out of texts. */
export type SecretKeeper = {
  /** From now on this value is a secret, in the forms that programs write it in; one that is too short or too plain to be told from words is not. */
  learn(name: string, value: string): void;
  /** The text with the name of each secret in its place. */
  redact(text: string): string;
};

type Known = { readonly name: string; readonly form: string };

/** What stands in the place of a secret. Nobody may write it back over the secret. */
export const standIn = (name: string): string => `[redacted: ${name}]`;

/** Whether a text holds something that stands in the place of a secret. */
export const holdsStandIn = (text: string): boolean => /\[redacted: [^\]\n]{1,80}\]/.test(text);

/** A keeper that knows these values by their names. */
export function secretKeeper(values: Iterable<readonly [name: string, value: string]> = []): SecretKeeper {
  const known = new Map<string, Known>();
  const keeper: SecretKeeper = {
    learn(name, value) {
      for (const form of formsOf(value)) if (!known.has(form)) known.set(form, { name, form });
    },
    redact(text) {
      if (text.length < shortest) return text;
      return cut(text, [...knownIn(text, known.values()), ...formatsIn(text)]);
    },
  };
  for (const [name, value] of values) keeper.learn(name, value);
  return keeper;
}

/** A keeper that takes nothing out: the person's wish. */
export const openKeeper: SecretKeeper = { learn() {}, redact: (text) => text };

const shortest = 8;

/** A value as programs write it: as it is, in an address, in JSON, in base64. Of an address or a setting with a password, that too. */
function formsOf(value: string): readonly string[] {
  const whole = value.trim();
  const [, inAddress] = /:\/\/[^/\s:@]*:([^/\s@]+)@/.exec(whole) ?? [];
  const [, inSetting] = /(?:password|passwd|pwd)=([^;&\s]+)/i.exec(whole) ?? [];
  const [, inHeader] = /^(?:bearer|basic|token) +(\S+)$/i.exec(whole) ?? [];
  const texts = [whole, inAddress, inSetting, inHeader].filter((each) => each !== undefined).filter(isTelling);
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
const isTelling = (value: string): boolean => {
  if (value.length < shortest || /^([/~.]|[A-Za-z]:\\)/.test(value)) return false;
  if (/^[a-z]+:\/\//i.test(value)) return /:\/\/[^/\s]*@/.test(value);
  if (/^\d+$/.test(value)) return value.length >= 12;
  return value.length >= 16 || (/[A-Za-z]/.test(value) && /[^A-Za-z]/.test(value));
};

function knownIn(text: string, known: Iterable<Known>): readonly Found[] {
  const found: Found[] = [];
  for (const { name, form } of known)
    for (let from = text.indexOf(form); from >= 0; from = text.indexOf(form, from + form.length))
      found.push({ from, to: from + form.length, kind: name });
  return found;
}

/** The text with each stretch replaced; of stretches that touch each other all is taken out under the name of the first. */
function cut(text: string, found: readonly Found[]): string {
  if (found.length === 0) return text;
  const pieces: string[] = [];
  let done = 0;
  for (const { from, to, kind } of found.toSorted((a, b) => a.from - b.from || b.to - a.to)) {
    if (from >= done) pieces.push(text.slice(done, from), standIn(kind));
    done = Math.max(done, to);
  }
  return [...pieces, text.slice(done)].join('');
}

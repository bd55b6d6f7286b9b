// Addresses, hosts and account numbers as wholes: a part of a longer address is another address.
import { normalizeText } from './normalize-text.ts';

/** Tokens that are joined without a space, such as `bob@mail.example`. */
const runPattern = /[\p{L}\p{N}\p{M}_]+(?:[.@+-][\p{L}\p{N}\p{M}_]+)*/gu;
const tokenChar = /[\p{L}\p{N}\p{M}_]/u;
/** Other characters that the name before an `@` can have. */
const addressChars = "'!#$%&*=?^`{|}~/";

/** Splits a normalized text into runs: tokens with the characters that join them. An address that continues to the left equals nothing. */
export function splitRuns(normalized: string): readonly string[] {
  const runs: string[] = [];
  for (const { 0: run, index } of normalized.matchAll(runPattern)) {
    const isPart =
      run.includes('@') &&
      addressChars.includes(normalized[index - 1] ?? ' ') &&
      tokenChar.test(normalized[index - 2] ?? ' ');
    const host = run.startsWith('www.') ? run.slice(4) : run;
    runs.push(isPart ? `…${run}` : host);
  }
  return runs;
}

const hostPattern = /^(?:[a-z][a-z\d+.-]{0,30}:\/\/)?((?:[^/?#\s@]*@)?)([^/?#\s:@]+)/i;

/** The host of an address as it is compared; the whole text if it has none. */
export function hostOf(value: string): string {
  const host = hostPattern.exec(value)?.[2];
  return normalizeText(host ?? value).replace(/^www\./, '');
}

/** The forms in which a value of a role counts as the same whole value: a URL by its host, with or without its user, and a recipient without the name that is displayed. */
export function wholeForms(role: string, value: string): readonly string[] {
  if (role !== 'url') return [normalizeText(/^[^<>]*<([^<>\s]+)>\s*$/.exec(value)?.[1] ?? value).trim()];
  const user = hostPattern.exec(value)?.[1] ?? '';
  const host = hostOf(value);
  return user === '' ? [host] : [host, `${normalizeText(user)}${host}`];
}

// Detectors of e-mail addresses and phone numbers. Addresses of programs, examples and file names are left out; a phone number needs a country code or a word of context.
import { hasContext } from './number-windows.ts';
import type { Detector } from './types.ts';

const localChar = /[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]/;
const domainPattern = /@((?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,6}[A-Za-z]{2,24})(?![\w@-])/y;
const maxLocal = 64;

/** Endings of file names, units and reserved domains, which no address of a person has. */
const noAddress =
  /(?:^|\.)(?:png|jpe?g|gif|svg|webp|avif|ico|jsx?|tsx?|mjs|cjs|css|json|html?|map|wasm|service|socket|target|timer|mount|slice|scope|path|local|lan|internal|corp|invalid|test|example|localhost|localdomain)$|(?:^|\.)example\.(?:com|org|net)$/i;
const noPerson =
  /^(?:git|hg|svn|root|no-?reply|donotreply|do-not-reply|mailer-daemon|postmaster|user(?:name)?|you(?:r-?e?mail)?|name|e?mail|foo|bar|example|test)$/i;

/** Finds e-mail addresses of persons. */
export const emailDetector: Detector = { kind: 'email', find: (text) => [...findAddresses(text)] };

function* findAddresses(text: string): Iterable<{ readonly from: number; readonly to: number }> {
  let end = 0;
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    domainPattern.lastIndex = at;
    const [whole = '', domain = ''] = domainPattern.exec(text) ?? [];
    if (domain === '' || noAddress.test(domain)) continue;
    let from = at;
    while (from > end && at - from <= maxLocal && localChar.test(text.charAt(from - 1))) from--;
    if (at - from > maxLocal) continue;
    const local = trimLocal(text.slice(from, at));
    from = at - local.length;
    if (local === '' || noPerson.test(local) || isLogin(text, from)) continue;
    end = at + whole.length;
    yield { from, to: end };
  }
}

/** The part before the @ without quotes, operators and paths before it. */
const trimLocal = (local: string): string =>
  (/[A-Za-z0-9_](?:[A-Za-z0-9._%+-]{0,62}[A-Za-z0-9_+-])?$/.exec(local) ?? [''])[0];

/** Whether the text before is the scheme and the user name of a URL, whose password is a secret. */
const isLogin = (text: string, from: number): boolean =>
  /:\/\/[^\s/]{0,80}$/.test(text.slice(Math.max(0, from - 90), from));

const countryCodes =
  /^(?:1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|21[1-368]|22\d|23\d|24\d|25[0-8]|26\d|29[0178]|35\d|37\d|38[0-35-79]|42[013]|50\d|59\d|67\d|68\d|69[0-2]|80[08]|85[02356]|88[0-26-8]|96\d|97\d|99[2-68])/;
const phoneContext =
  /\b(?:tel|telephone|phone|mobile?|cell|fax|whatsapp|sms|call(?: me| us)?(?: at| on)?|handy|telefon(?:o|e|nummer)?|m.vil|t.l.phone|rufnummer|portable|gsm)\b\.?/i;
/** A plus sign or a bracket or a digit, then digits with at most two separators between them. */
const phonePattern = /(?<![\w.+/-])(?:\+\d|\(0?\+?\d|00\d|[01-9])(?:[ .()\u00a0/-]{0,2}\d){6,14}(?![\w]|[.-]\d)/g;

/** Finds phone numbers: international ones, and others with a word of context. */
export const phoneDetector: Detector = {
  kind: 'phone',
  find: (text) =>
    [...text.matchAll(phonePattern)]
      .map(({ 0: found, index }) => ({ found, from: index, to: index + found.length }))
      .filter(({ found, from, to }) => isPhone(text, found, { from, to }))
      .map(({ from, to }) => ({ from, to })),
};

function isPhone(text: string, found: string, place: { from: number; to: number }): boolean {
  const digits = found.replaceAll(/\D/g, '');
  if (digits.length < 7 || digits.length > 15 || /(\d)\1{6}/.test(digits)) return false;
  const hasWords = phoneContext.test(text.slice(Math.max(0, place.from - 24), place.from));
  if (/^\(?\+/.test(found) && digits.length >= 9 && countryCodes.test(digits)) return true;
  return hasWords && !/^\d{4}[-./]\d{2}[-./]\d{2}/.test(found) && hasContext(text, place, phoneContext);
}

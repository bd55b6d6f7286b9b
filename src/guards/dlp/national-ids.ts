// Detectors of national identification numbers that are written in digits, by their length, check digits and dates. Numbers with a weak check need a word of context.
import { isDay, isLuhn, isMod11And10, isRepeated, isVerhoeff, remainder, weightedSum } from './checksums.ts';
import { hasContext, type NumberDetector } from './number-windows.ts';

type IdRule = {
  readonly kind: string;
  /** The groups in which the number is written. */
  readonly groups: RegExp;
  readonly check: (digits: string) => boolean;
  /** Words, one of which must be near a number with these groups; others need none. */
  readonly context?: { readonly words: RegExp; readonly groups?: RegExp };
};

const part = (digits: string, from: number, length = 2): number => Number(digits.slice(from, from + length));
/** The check digit is 11 minus the remainder; 11 is written as 0. */
const isMod11 = (digits: string, weights: readonly number[]): boolean =>
  (11 - (weightedSum(digits, weights) % 11)) % 11 === Number(digits[weights.length]);

const range = (from: number, to: number): readonly number[] =>
  Array.from({ length: Math.abs(to - from) + 1 }, (_, i) => (to > from ? from + i : from - i));

/** The digit of a weighted sum of which a remainder under 2 is written as 0. */
const lowIsZero = (sum: number): number => (sum % 11 < 2 ? 0 : 11 - (sum % 11));

const rules: readonly IdRule[] = [
  {
    kind: 'us-ssn',
    groups: /^(?:3-2-4|9)$/,
    check: (d) => !/^(?:000|666|9)|^...00|0000$/.test(d) && !isRepeated(d) && !'0123456789'.startsWith(d),
    context: { words: /\bssn\b|social.security/i, groups: /^9$/ },
  },
  {
    kind: 'us-itin',
    groups: /^3-2-4$/,
    check: (d) => /^9\d\d(?:5\d|6[0-5]|7\d|8[0-8]|9[0-24-9])/.test(d),
    context: { words: /\bitin\b|taxpayer/i },
  },
  {
    kind: 'ca-sin',
    groups: /^(?:3-3-3|9)$/,
    check: (d) => /^[1-79]/.test(d) && isLuhn(d) && !isRepeated(d),
    context: { words: /\bsin\b|\bnas\b|social.insurance|assurance sociale/i },
  },
  {
    kind: 'uk-nhs-number',
    groups: /^(?:3-3-4|10)$/,
    check: (d) => isMod11(d, range(10, 2)) && !isRepeated(d),
    context: { words: /\bnhs\b|patient/i },
  },
  {
    kind: 'fr-nir',
    groups: /^(?:15|13-2|1-2-2-2-3-3-2)$/,
    check: (d) =>
      /^[12378]\d\d(?:0[1-9]|1[0-2]|[2-4]\d|[5-9]\d)/.test(d) && 97 - remainder(d.slice(0, 13), 97) === part(d, 13),
  },
  {
    kind: 'de-tax-id',
    groups: /^(?:11|2-3-3-3)$/,
    check: (d) => /^[1-9]/.test(d) && isMod11And10(d) && hasOneRepeatedDigit(d.slice(0, 10)),
    context: { words: /steuer|\bidnr\b|\bident|tax|\btin\b/i, groups: /^11$/ },
  },
  {
    kind: 'nl-bsn',
    groups: /^(?:9|4-2-3|3-3-3)$/,
    check: (d) => weightedSum(d, [9, 8, 7, 6, 5, 4, 3, 2, -1]) % 11 === 0 && !isRepeated(d),
    context: { words: /\bbsn\b|burgerservice|sofi.?n/i },
  },
  {
    kind: 'be-national-number',
    groups: /^(?:11|2-2-2-3-2|6-3-2)$/,
    check: (d) =>
      isDay(part(d, 2) % 20, part(d, 4)) &&
      [d.slice(0, 9), `2${d.slice(0, 9)}`].some((each) => 97 - remainder(each, 97) === part(d, 9)),
    context: { words: /rijksregister|registre national|national.?n|\bnrn\b|insz|niss/i, groups: /^11$/ },
  },
  {
    kind: 'ch-ahv',
    groups: /^(?:13|3-4-4-2)$/,
    check: (d) =>
      d.startsWith('756') && (10 - (weightedSum(d, [1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3]) % 10)) % 10 === Number(d[12]),
  },
  {
    kind: 'at-svnr',
    groups: /^(?:10|4-6)$/,
    check: (d) => isDay(part(d, 6), part(d, 4)) && weightedSum(d, [3, 7, 9, 0, 5, 8, 4, 2, 1, 6]) % 11 === Number(d[3]),
    context: { words: /\bsvnr\b|sozialversicherung|versicherungsn|\bsv-?n/i },
  },
  {
    kind: 'pl-pesel',
    groups: /^11$/,
    check: (d) => isDay(part(d, 2) % 20, part(d, 4)) && weightedSum(d, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]) % 10 === 0,
    context: { words: /pesel/i },
  },
  {
    kind: 'dk-cpr',
    groups: /^(?:6-4|10)$/,
    check: (d) => isDay(part(d, 2), part(d, 0)),
    context: { words: /\bcpr\b|personnummer/i },
  },
  {
    kind: 'se-personnummer',
    groups: /^(?:6-4|8-4|10|12)$/,
    check: (d) => isDay(part(d, d.length - 8), part(d, d.length - 6) % 60) && isLuhn(d.slice(-10)),
    context: { words: /personn|\bpnr\b|samordning|swedish/i, groups: /^1/ },
  },
  {
    kind: 'no-fodselsnummer',
    groups: /^(?:11|6-5)$/,
    check: (d) =>
      isDay(part(d, 2) % 40, part(d, 0) % 40) &&
      isMod11(d, [3, 7, 6, 1, 8, 9, 4, 5, 2]) &&
      isMod11(d, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2]),
    context: { words: /f.dselsn|personn|norweg|\bfnr\b/i, groups: /^11$/ },
  },
  {
    kind: 'pt-nif',
    groups: /^(?:9|3-3-3)$/,
    check: (d) => lowIsZero(weightedSum(d, range(9, 2))) === Number(d[8]) && !isRepeated(d),
    context: { words: /\bnif\b|contribuinte/i },
  },
  {
    kind: 'br-cpf',
    groups: /^(?:11|3-3-3-2)$/,
    check: (d) =>
      !isRepeated(d) &&
      lowIsZero(weightedSum(d, range(10, 2))) === Number(d[9]) &&
      lowIsZero(weightedSum(d, range(11, 2))) === Number(d[10]),
    context: { words: /\bcpf\b/i, groups: /^11$/ },
  },
  {
    kind: 'in-aadhaar',
    groups: /^(?:12|4-4-4)$/,
    check: (d) => /^[2-9]/.test(d) && isVerhoeff(d) && !isRepeated(d),
    context: { words: /aadha?ar|\buid(?:ai)?\b/i },
  },
  {
    kind: 'kr-rrn',
    groups: /^6-7$/,
    check: (d) =>
      isDay(part(d, 2), part(d, 4)) &&
      (11 - (weightedSum(d, [2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5]) % 11)) % 10 === Number(d[12]),
  },
  {
    kind: 'za-id',
    groups: /^(?:13|6-4-3)$/,
    check: (d) => isDay(part(d, 2), part(d, 4)) && /^[0-2]$/.test(d[10] ?? '') && isLuhn(d),
    context: { words: /\bid\b|identity|south africa/i },
  },
  {
    kind: 'au-tfn',
    groups: /^(?:9|3-3-3)$/,
    check: (d) => weightedSum(d, [1, 4, 3, 7, 5, 8, 6, 9, 10]) % 11 === 0 && !isRepeated(d),
    context: { words: /\btfn\b|tax.file/i },
  },
  {
    kind: 'tr-kimlik',
    groups: /^11$/,
    check: (d) => {
      const [odd, even] = [weightedSum(d, [1, 0, 1, 0, 1, 0, 1, 0, 1]), weightedSum(d, [0, 1, 0, 1, 0, 1, 0, 1])];
      return (
        /^[1-9]/.test(d) &&
        (((odd * 7 - even) % 10) + 10) % 10 === Number(d[9]) &&
        (odd + even + Number(d[9])) % 10 === Number(d[10])
      );
    },
    context: { words: /\bt\.?c\.?\b|kimlik/i },
  },
];

/** In the first ten digits of a German tax id one digit occurs two or three times and no other more than once. */
function hasOneRepeatedDigit(digits: string): boolean {
  const counts = Array.from('0123456789')
    .map((digit) => digits.split(digit).length - 1)
    .filter((count) => count > 1);
  return counts.length === 1 && (counts[0] ?? 0) <= 3;
}

/** National ids that are written in digits. */
export const nationalNumberDetectors: readonly NumberDetector[] = rules.map(({ kind, groups, check, context }) => ({
  kind,
  matches: (window, text) =>
    groups.test(window.groups) &&
    check(window.digits) &&
    (context === undefined || context.groups?.test(window.groups) === false || hasContext(text, window, context.words)),
}));

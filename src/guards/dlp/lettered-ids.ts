// Detectors of national identification numbers with letters: Spain, Italy, the United Kingdom, Ireland, Finland, Singapore, Hong Kong, China and Mexico.
import { isDay, remainder, weightedSum } from './checksums.ts';
import { hasContext } from './number-windows.ts';
import type { Detector } from './types.ts';

type LetteredRule = {
  readonly kind: string;
  /** A bounded pattern. It starts and ends at the boundary of a word. */
  readonly pattern: RegExp;
  /** The value in upper case, without spaces and dashes. */
  readonly check: (compact: string) => boolean;
  readonly context?: RegExp;
};

const spanishLetters = 'TRWAGMYFPDXBNJZSQVHLCKE';
const part = (text: string, from: number, length = 2): number => Number(text.slice(from, from + length));

const rules: readonly LetteredRule[] = [
  {
    kind: 'es-dni',
    pattern: /(?<![\w.-])(?:\d{8}|\d{2}\.\d{3}\.\d{3}|[XYZ]-?\d{7})[ -]?[A-HJ-NP-TV-Z](?![\w-])/g,
    check: (id) => {
      const digits = id.slice(0, -1).replace(/^[XYZ]/, (letter) => String('XYZ'.indexOf(letter)));
      return spanishLetters[remainder(digits, 23)] === id.at(-1) && !/^0{8}/.test(digits);
    },
  },
  {
    kind: 'it-codice-fiscale',
    pattern:
      /(?<![\w-])[A-Za-z]{6}[0-9LMNPQRSTUVlmnpqrstuv]{2}[A-EHLMPR-Ta-ehlmpr-t][0-9LMNPQRSTUVlmnpqrstuv]{2}[A-Za-z][0-9LMNPQRSTUVlmnpqrstuv]{3}[A-Za-z](?![\w-])/g,
    check: isCodiceFiscale,
  },
  {
    kind: 'uk-nino',
    pattern: /(?<![\w-])[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2}[ -]?\d{2}[ -]?\d{2} ?[A-D](?![\w-])/g,
    check: (id) => !/^(?:BG|GB|KN|NK|NT|TN|ZZ)/.test(id),
  },
  {
    kind: 'ie-pps',
    pattern: /(?<![\w-])\d{7}[A-W][A-IW]?(?![\w-])/g,
    check: (id) => {
      const second = id.length === 9 ? 9 * (id[8] === 'W' ? 0 : id.charCodeAt(8) - 64) : 0;
      return 'WABCDEFGHIJKLMNOPQRSTUV'[(weightedSum(id, [8, 7, 6, 5, 4, 3, 2]) + second) % 23] === id[7];
    },
    context: /\bpps|personal public/i,
  },
  {
    kind: 'fi-hetu',
    pattern: /(?<![\w-])\d{6}[-+A-FU-Y]\d{3}[0-9A-FHJ-NPR-Y](?![\w-])/g,
    check: (id) =>
      isDay(part(id, 2), part(id, 0)) &&
      '0123456789ABCDEFHJKLMNPRSTUVWXY'[remainder(id.slice(0, 6) + id.slice(-4, -1), 31)] === id.at(-1),
  },
  {
    kind: 'sg-nric',
    pattern: /(?<![\w-])[STFGM]\d{7}[A-Z](?![\w-])/g,
    check: (id) => {
      const added = { S: 0, F: 0, T: 4, G: 4, M: 3 }[id[0] ?? ''] ?? 0;
      const rest = (weightedSum(id.slice(1), [2, 7, 6, 5, 4, 3, 2]) + added) % 11;
      if (id.startsWith('M')) return 'KLJNPQRTUWX'[10 - rest] === id[8];
      return (/^[ST]/.test(id) ? 'JZIHGFEDCBA' : 'XWUTRQPNMLK')[rest] === id[8];
    },
  },
  {
    kind: 'hk-id',
    pattern: /(?<![\w-])[A-Z]{1,2}\d{6} ?\([0-9A]\)/g,
    check: (id) => {
      const compact = id.replaceAll(/[()]/g, '').padStart(9, ' ');
      const values = Array.from(compact, (char) =>
        char === ' ' ? 36 : /\d/.test(char) ? Number(char) : char.charCodeAt(0) - 55,
      );
      return values.reduce((sum, value, i) => sum + value * (9 - i), 0) % 11 === 0;
    },
  },
  {
    kind: 'cn-resident-id',
    pattern: /(?<![\w.-])[1-9]\d{5}(?:18|19|20)\d{9}[0-9Xx](?![\w-]|\.\w)/g,
    check: (id) =>
      isDay(part(id, 10), part(id, 12)) &&
      '10X98765432'[weightedSum(id, [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2]) % 11] === id[17],
  },
  {
    kind: 'mx-curp',
    pattern: /(?<![\w-])[A-Z][AEIOUX][A-Z]{2}\d{6}[HMX][A-Z]{2}[B-DF-HJ-NP-TV-Z]{3}[A-Z\d]\d(?![\w-])/g,
    check: (id) => {
      const alphabet = '0123456789ABCDEFGHIJKLMNÑOPQRSTUVWXYZ';
      const sum = Array.from(id.slice(0, 17), (char, i) => alphabet.indexOf(char) * (18 - i)).reduce((a, b) => a + b);
      return isDay(part(id, 6), part(id, 8)) && (10 - (sum % 10)) % 10 === Number(id[17]);
    },
  },
];

/** The values of characters at odd positions of an Italian tax code; at even positions a character is its place in the alphabet. */
const oddValues = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];

function isCodiceFiscale(code: string): boolean {
  const sum = Array.from(code.slice(0, 15), (char, i) => {
    const place = /\d/.test(char) ? Number(char) : char.charCodeAt(0) - 65;
    return i % 2 === 0 ? (oddValues[place] ?? 0) : place;
  }).reduce((a, b) => a + b);
  return String.fromCharCode(65 + (sum % 26)) === code[15];
}

/** National ids with letters. */
export const letteredIdDetectors: readonly Detector[] = rules.map(({ kind, pattern, check, context }) => ({
  kind,
  find: (text) =>
    [...text.matchAll(pattern)]
      .filter(({ 0: found }) => check(found.toUpperCase().replaceAll(kind === 'fi-hetu' ? / /g : /[ .-]/g, '')))
      .map(({ 0: found, index }) => ({ from: index, to: index + found.length }))
      .filter((match) => context === undefined || hasContext(text, match, context)),
}));

// Detectors of bank accounts and payment cards: IBANs by country, structure and mod 97, cards by network, length, grouping and Luhn.
import { isLuhn, isMod97, isRepeated } from './checksums.ts';
import type { NumberDetector } from './number-windows.ts';
import type { Detector } from './types.ts';

/** The structure of the part after the check digits by country: n digits, a letters, c both. */
const ibanStructures: ReadonlyMap<string, RegExp> = new Map(
  [
    'AD 8n12c AE 19n AL 8n16c AT 16n AZ 4a20c BA 16n BE 12n BG 4a6n8c BH 4a14c BR 23n1a1c BY 4c4n16c CH 5n12c CR 18n CY 8n16c CZ 20n DE 18n',
    'DK 14n DO 4c20n EE 16n EG 25n ES 20n FI 14n FO 14n FR 10n11c2n GB 4a14n GE 2a16n GI 4a15c GL 14n GR 7n16c GT 24c HR 17n HU 24n IE 4a14n',
    'IL 19n IQ 4a15n IS 22n IT 1a10n12c JO 4a4n18c KW 4a22c KZ 3n13c LB 4n20c LC 4a24c LI 5n12c LT 16n LU 3n13c LV 4a13c MC 10n11c2n MD 20c',
    'ME 18n MK 3n10c2n MR 23n MT 4a5n18c MU 4a19n3a NL 4a10n NO 11n PK 4a16c PL 24n PS 4a21c PT 21n QA 4a21c RO 4a16c RS 18n SA 2n18c',
    'SC 4a20n3a SE 20n SI 15n SK 20n SM 1a10n12c TN 20n TR 5n17c UA 6n19c VA 18n VG 4a16n XK 16n',
  ]
    .join(' ')
    .matchAll(/([A-Z]{2}) (\w+)/g)
    .map(([, country = '', structure = '']) => [
      country,
      new RegExp(
        `^${structure.replaceAll(/(\d+)([nac])/g, (_, count: string, kind: 'n' | 'a' | 'c') => `${{ n: '[0-9]', a: '[A-Z]', c: '[A-Z0-9]' }[kind]}{${count}}`)}$`,
      ),
    ]),
);
const ibanLengths: ReadonlyMap<string, number> = new Map(
  [...ibanStructures].map(([country, { source }]) => [
    country,
    4 + [...source.matchAll(/\{(\d+)\}/g)].reduce((sum, [, count]) => sum + Number(count), 0),
  ]),
);

const ibanStart = /(?<![A-Za-z0-9_])([A-Za-z]{2})[ -]?\d{2}(?=[ \u00a0-]?[A-Za-z0-9])/g;
const ibanSeparator = /[ \u00a0\u202f\u2010-\u2013.-]/;

/** Finds IBANs, in one piece or in groups. */
export const ibanDetector: Detector = {
  kind: 'iban',
  find: (text) => [...findIbans(text)],
};

function* findIbans(text: string): Iterable<{ readonly from: number; readonly to: number }> {
  for (const { index, 1: letters = '' } of text.matchAll(ibanStart)) {
    const length = ibanLengths.get(letters.toUpperCase());
    if (length === undefined) continue;
    const read = readCompact(text, index, length);
    if (read === undefined || !ibanStructures.get(read.compact.slice(0, 2))?.test(read.compact.slice(4))) continue;
    if (isMod97(read.compact) && !isRepeated(read.compact.slice(4))) yield { from: index, to: read.to };
  }
}

/** Reads so many letters and digits; one separator may be between two. */
function readCompact(
  text: string,
  from: number,
  length: number,
): { readonly compact: string; readonly to: number } | undefined {
  let compact = '';
  let at = from;
  for (; compact.length < length; at++) {
    const char = text.charAt(at);
    if (/[A-Za-z0-9]/.test(char)) compact += char;
    else if (!ibanSeparator.test(char) || !/[A-Za-z0-9]/.test(text.charAt(at - 1))) return undefined;
  }
  return /[A-Za-z0-9_]/.test(text.charAt(at)) ? undefined : { compact: compact.toUpperCase(), to: at };
}

/** The networks: first digits, lengths, and the groups in which their numbers are written. */
const networks: readonly { readonly prefix: RegExp; readonly groups: RegExp }[] = [
  { prefix: /^4/, groups: /^(?:13|16|19|4-4-4-4|4-4-4-4-3)$/ },
  { prefix: /^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, groups: /^(?:16|4-4-4-4)$/ },
  { prefix: /^3[47]/, groups: /^(?:15|4-6-5)$/ },
  { prefix: /^(?:6011|64[4-9]|65)/, groups: /^(?:16|19|4-4-4-4)$/ },
  { prefix: /^35(?:2[89]|[3-8])/, groups: /^(?:16|4-4-4-4)$/ },
  { prefix: /^3(?:0[0-5]|[689])/, groups: /^(?:14|4-6-4)$/ },
  { prefix: /^62/, groups: /^(?:16|19|4-4-4-4|6-13|4-4-4-4-3)$/ },
  { prefix: /^220[0-4]/, groups: /^(?:16|4-4-4-4)$/ },
];

/** Numbers of payment cards. */
export const cardDetector: NumberDetector = {
  kind: 'payment-card',
  matches: ({ digits, groups }) =>
    digits.length >= 13 &&
    networks.some(({ prefix, groups: written }) => prefix.test(digits) && written.test(groups)) &&
    isLuhn(digits) &&
    !isRepeated(digits),
};

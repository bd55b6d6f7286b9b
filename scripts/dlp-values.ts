// Generates values with valid check digits for the measurement of data loss prevention. The check digits are computed here, and not by the detectors.

/** A source of random numbers from 0 to 1. */
export type Random = () => number;

/** Creates a deterministic source of random numbers. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const pick = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
const digits = (random: Random, count: number): string =>
  Array.from({ length: count }, () => Math.floor(random() * 10)).join('');
const letters = (random: Random, count: number, alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'): string =>
  Array.from({ length: count }, () => pick(random, Array.from(alphabet))).join('');
const between = (random: Random, low: number, high: number): number => low + Math.floor(random() * (high - low + 1));
const two = (value: number): string => String(value).padStart(2, '0');
/** Splits a text into groups of these lengths. */
const group = (text: string, lengths: readonly number[], gap: string): string => {
  let at = 0;
  return lengths.map((length) => text.slice(at, (at += length))).join(gap);
};
const inFours = (text: string, gap: string): string => text.match(/.{1,4}/g)?.join(gap) ?? text;
const sumOf = (text: string, weights: readonly number[]): number =>
  weights.reduce((sum, weight, i) => sum + weight * Number(text.charAt(i)), 0);

/** Adds the Luhn digit: the one of ten with which the sum is divisible by ten. */
function withLuhn(text: string): string {
  const sum = Array.from(text)
    .toReversed()
    .map((digit, i) =>
      i % 2 === 0 ? Array.from(String(Number(digit) * 2)).reduce((a, b) => a + Number(b), 0) : Number(digit),
    )
    .reduce((a, b) => a + b, 0);
  return `${text}${(10 - (sum % 10)) % 10}`;
}

function createIban(random: Random): string {
  const [country, body] = pick(random, [
    ['DE', digits(random, 18)],
    ['GB', letters(random, 4) + digits(random, 14)],
    ['FR', digits(random, 23)],
    ['ES', digits(random, 20)],
    ['IT', letters(random, 1) + digits(random, 22)],
    ['NL', letters(random, 4) + digits(random, 10)],
    ['CH', digits(random, 17)],
    ['PL', digits(random, 24)],
    ['SE', digits(random, 20)],
    ['NO', digits(random, 11)],
    ['PT', digits(random, 21)],
    ['BE', digits(random, 12)],
  ] as const);
  const number = BigInt(`${body}${country}00`.replaceAll(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55)));
  return `${country}${two(Number(98n - (number % 97n)))}${body}`;
}

function createCard(random: Random): string {
  const [prefix, length] = pick(random, [
    ['4', 16],
    ['51', 16],
    ['55', 16],
    ['2221', 16],
    ['37', 15],
    ['6011', 16],
    ['3530', 16],
    ['36', 14],
  ] as const);
  return withLuhn(prefix + digits(random, length - prefix.length - 1));
}

const birthday = (random: Random): { readonly y: string; readonly m: string; readonly d: string } => ({
  y: two(between(random, 0, 99)),
  m: two(between(random, 1, 12)),
  d: two(between(random, 1, 28)),
});

/** Repeats until a value exists: some remainders have no check digit. */
function until(create: () => string | undefined): string {
  for (;;) {
    const value = create();
    if (value !== undefined) return value;
  }
}

const names = ['anna', 'b.smith', 'jean-luc', 'o_hara', 'li.wei88', 'maria.garcia', 'tom+news'];
const domains = ['firma-mail.de', 'corp.co.uk', 'uni-stadt.edu', 'provider.io', 'mail.server.fr'];

/** The kinds that are measured: each returns a value as it is written in one of its formats. */
export const generators: Readonly<Record<string, (random: Random) => string>> = {
  'iban, one piece': createIban,
  'iban, groups with spaces': (random) => inFours(createIban(random), ' '),
  'iban, groups with dashes': (random) => inFours(createIban(random), '-'),
  'payment-card, one piece': createCard,
  'payment-card, groups with spaces': (random) => groupCard(createCard(random), ' '),
  'payment-card, groups with dashes': (random) => groupCard(createCard(random), '-'),
  email: (random) => `${pick(random, names)}${digits(random, 2)}@${pick(random, domains)}`,
  'phone, international': (random) =>
    pick(random, [
      `+49 151 ${digits(random, 8)}`,
      `+44 20 7${digits(random, 3)} ${digits(random, 4)}`,
      `+1 (415) ${between(random, 200, 999)}-${digits(random, 4)}`,
      `+33 6 ${two(between(random, 10, 99))} ${digits(random, 2)} ${digits(random, 2)} ${digits(random, 2)}`,
      `+3161${digits(random, 7)}`,
    ]),
  'phone, with context': (random) =>
    pick(random, [
      `Tel. 030 ${between(random, 1000000, 9999999)}`,
      `phone: (415) ${between(random, 200, 999)}-${digits(random, 4)}`,
      `mobile 0151-${digits(random, 8)}`,
    ]),
  'us-ssn, dashes': (random) =>
    `${between(random, 100, 665)}-${two(between(random, 1, 99))}-${between(random, 1000, 9999)}`,
  'fr-nir': (random) => {
    const { y, m } = birthday(random);
    const body = `${pick(random, ['1', '2'])}${y}${m}${two(between(random, 1, 95))}${digits(random, 6)}`;
    const id = `${body}${two(97 - Number(BigInt(body) % 97n))}`;
    return pick(random, [id, group(id, [1, 2, 2, 2, 3, 3, 2], ' ')]);
  },
  'es-dni': (random) => {
    const number = digits(random, 8).replace(/^0/, '1');
    return `${number}${pick(random, ['', '-'])}${'TRWAGMYFPDXBNJZSQVHLCKE'.charAt(Number(number) % 23)}`;
  },
  'fi-hetu': (random) => {
    const { y, m, d } = birthday(random);
    const serial = String(between(random, 2, 899)).padStart(3, '0');
    return `${d}${m}${y}${pick(random, ['-', 'A'])}${serial}${'0123456789ABCDEFHJKLMNPRSTUVWXY'.charAt(Number(`${d}${m}${y}${serial}`) % 31)}`;
  },
  'se-personnummer, dash': (random) => {
    const { y, m, d } = birthday(random);
    return group(withLuhn(`${y}${m}${d}${digits(random, 3)}`), [6, 4], '-');
  },
  'ch-ahv, dots': (random) => {
    const body = `756${digits(random, 9)}`;
    return group(`${body}${(10 - (sumOf(body, [1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3]) % 10)) % 10}`, [3, 4, 4, 2], '.');
  },
  'cn-resident-id': (random) => {
    const { m, d } = birthday(random);
    const body = `${between(random, 110000, 659999)}${between(random, 1940, 2010)}${m}${d}${digits(random, 3)}`;
    return `${body}${'10X98765432'.charAt(sumOf(body, [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2]) % 11)}`;
  },
  'br-cpf, written form': (random) => {
    const digit = (text: string): number => {
      const rest =
        sumOf(
          text,
          Array.from(text, (_, i) => text.length + 1 - i),
        ) % 11;
      return rest < 2 ? 0 : 11 - rest;
    };
    const body = digits(random, 9);
    const first = `${body}${digit(body)}`;
    const id = `${first}${digit(first)}`;
    return `${group(id.slice(0, 9), [3, 3, 3], '.')}-${id.slice(9)}`;
  },
  'nl-bsn, with context': (random) =>
    `BSN ${until(() => {
      const body = `${between(random, 10000000, 99999999)}`;
      const rest = sumOf(body, [9, 8, 7, 6, 5, 4, 3, 2]) % 11;
      return rest > 9 ? undefined : `${body}${rest}`;
    })}`,
  'pl-pesel, with context': (random) => {
    const { y, m, d } = birthday(random);
    const body = `${y}${m}${d}${digits(random, 4)}`;
    return `PESEL: ${body}${(10 - (sumOf(body, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3]) % 10)) % 10}`;
  },
  'uk-nhs-number, with context': (random) =>
    `NHS no. ${until(() => {
      const body = digits(random, 9);
      const check = 11 - (sumOf(body, [10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11);
      return check === 10 ? undefined : group(`${body}${check % 11}`, [3, 3, 4], ' ');
    })}`,
  'key or token': (random) => {
    const mixed = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
    return pick(random, [
      `ghp_${letters(random, 36, mixed)}`,
      `sk-${letters(random, 48, mixed)}`,
      `AKIA${letters(random, 16, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567')}`,
      `xoxb-${digits(random, 11)}-${letters(random, 24, mixed)}`,
      `password=${letters(random, 20, mixed)}7`,
    ]);
  },
};

const groupCard = (card: string, gap: string): string =>
  group(card, card.length === 16 ? [4, 4, 4, 4] : card.length === 15 ? [4, 6, 5] : [4, 6, 4], gap);

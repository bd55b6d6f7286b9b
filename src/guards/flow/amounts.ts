// Amounts of money and other numbers in texts, compared after rounding to cents.

/** Whether a text is a number, with or without a sign of a currency. */
export const isNumberText = (text: string): boolean => /^[\p{Sc}\s+-]*\d[\d,]*(?:\.\d+)?\s*\p{Sc}?$/u.test(text);

/** Words for small numbers, in several languages. */
const numberWords = new Map(
  [
    'two both pair couple twice zwei beide paar zweimal deux paire dos par',
    'three drei trois tres',
    'four vier quatre cuatro',
    'five fünf cinq cinco',
    'six sechs seis',
    'seven sieben sept siete',
    'eight acht huit ocho',
    'nine neun neuf nueve',
    'ten zehn dix diez',
    'eleven elf onze once',
    'twelve dozen zwölf dutzend douze douzaine doce docena',
  ].flatMap((words, i) => words.split(' ').map((word) => [word, i + 2] as const)),
);

/** The numbers, in cents, that words stand for. */
export const listNumberWords = (words: readonly string[]): readonly number[] =>
  words.flatMap((word) => (numberWords.has(word) ? [(numberWords.get(word) ?? 0) * 100] : []));

/** The number of a text in cents; undefined if it is none. */
export function toAmount(text: string): number | undefined {
  const number = Number(text.replaceAll(/[\p{Sc}\s,]/gu, ''));
  return Number.isFinite(number) ? Math.round(Math.abs(number) * 100) : undefined;
}

/** How texts write an amount of cents, as tokens: with and without groups of three digits, with and without cents. */
export function listWrittenForms(amount: number): readonly (readonly string[])[] {
  const units = String(Math.floor(amount / 100));
  const cents = String(amount % 100).padStart(2, '0');
  const groups = units.replaceAll(/(?<=\d)(?=(?:\d{3})+$)/g, ' ').split(' ');
  const wholes = groups.length > 1 ? [[units], groups] : [[units]];
  return wholes.flatMap((whole) => [
    ...(cents === '00' ? [whole] : cents.endsWith('0') ? [[...whole, cents.slice(0, 1)]] : []),
    [...whole, cents],
  ]);
}

/** The numbers of a text, in cents. */
export const listAmounts = (text: string): readonly number[] =>
  (text.match(/-?\d[\d,]*(?:\.\d+)?/g) ?? []).flatMap((found) => toAmount(found) ?? []);

// Amounts of money and other numbers in texts, compared after rounding to cents.

/** Whether a text is a number, with or without a sign of a currency. */
export const isNumberText = (text: string): boolean => /^[\p{Sc}\s+-]*\d[\d,]*(?:\.\d+)?\s*\p{Sc}?$/u.test(text);

/** The number of a text in cents; undefined if it is none. */
export function toAmount(text: string): number | undefined {
  const number = Number(text.replaceAll(/[\p{Sc}\s,]/gu, ''));
  return Number.isFinite(number) ? Math.round(Math.abs(number) * 100) : undefined;
}

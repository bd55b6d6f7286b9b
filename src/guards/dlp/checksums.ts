// Check digits of numbers that identify accounts and persons.

const digitsOf = (text: string): readonly number[] => Array.from(text, Number);

/** Whether the last digit is right by the Luhn algorithm. */
export function isLuhn(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]);
    const doubled = digit * 2;
    sum += i % 2 === 0 ? digit : doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/** The remainder of a decimal number of any length. */
export function remainder(digits: string, modulus: number): number {
  let rest = 0;
  for (const digit of digits) rest = (rest * 10 + Number(digit)) % modulus;
  return rest;
}

/** Whether an IBAN without separators, in upper case, has the right check digits (ISO 7064 mod 97-10). */
export const isMod97 = (iban: string): boolean =>
  remainder(
    `${iban.slice(4)}${iban.slice(0, 4)}`.replaceAll(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55)),
    97,
  ) === 1;

/** The sum of the digits, each multiplied by its weight. */
export const weightedSum = (digits: string, weights: readonly number[]): number =>
  weights.reduce((sum, weight, i) => sum + weight * Number(digits[i]), 0);

/** Whether the last digit is right by ISO 7064 mod 11,10. */
export function isMod11And10(digits: string): boolean {
  let product = 10;
  for (const digit of digits.slice(0, -1)) {
    const sum = (Number(digit) + product) % 10 || 10;
    product = (sum * 2) % 11;
  }
  return (11 - product) % 10 === Number(digits.at(-1));
}

const verhoeffProducts: readonly (readonly number[])[] = Array.from({ length: 10 }, (_, a) =>
  Array.from({ length: 10 }, (_, b) => {
    // The dihedral group of order 10: rotations 0 to 4, reflections 5 to 9.
    if (a < 5) return b < 5 ? (a + b) % 5 : 5 + ((a + b - 5) % 5);
    return b < 5 ? 5 + ((a - 5 - b + 5) % 5) : (a - b + 10) % 5;
  }),
);
const verhoeffPermutation = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];

/** Whether the last digit is right by the Verhoeff algorithm. */
export function isVerhoeff(digits: string): boolean {
  let check = 0;
  digitsOf(digits)
    .toReversed()
    .forEach((digit, i) => {
      let permuted = digit;
      for (let turn = 0; turn < i % 8; turn++) permuted = verhoeffPermutation[permuted] ?? 0;
      check = verhoeffProducts[check]?.[permuted] ?? 0;
    });
  return check === 0;
}

/** Whether a day exists in some year: month 1 to 12, day 1 to 31 (29 in February). */
export const isDay = (month: number, day: number): boolean =>
  month >= 1 && month <= 12 && day >= 1 && day <= (month === 2 ? 29 : [4, 6, 9, 11].includes(month) ? 30 : 31);

/** Whether all digits are the same, as in placeholders. */
export const isRepeated = (digits: string): boolean => /^(.)\1*$/.test(digits);

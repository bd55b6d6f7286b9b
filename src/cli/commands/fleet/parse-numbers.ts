// Numbers on the command line of a fleet: one that is none is a misuse, said in a sentence.

/** A whole number, where one was given. */
export function parseCount(name: string, given: string | undefined, least = 1): number | undefined {
  if (given === undefined) return undefined;
  const count = Number(given);
  if (given.trim() === '' || !Number.isSafeInteger(count) || count < least)
    throw new TypeError(`${name} needs a whole number from ${least} on, not "${given}".`);
  return count;
}

/** An amount of money, where one was given. */
export function parseUsd(name: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const amount = Number(given);
  if (given.trim() === '' || !Number.isFinite(amount) || amount < 0)
    throw new TypeError(`${name} needs a number from 0 on, not "${given}".`);
  return amount;
}

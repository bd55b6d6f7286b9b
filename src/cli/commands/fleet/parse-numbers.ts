// Parses numbers of command-line options; an invalid one is a usage error.

/** Parses a whole number; undefined if the option is absent. */
export function parseCount(name: string, text: string | undefined, min = 1): number | undefined {
  if (text === undefined) return undefined;
  const count = Number(text);
  if (text.trim() === '' || !Number.isSafeInteger(count) || count < min)
    throw new TypeError(`${name} needs a whole number of at least ${min}, not "${text}".`);
  return count;
}

/** Parses an amount in dollars; undefined if the option is absent. */
export function parseUsd(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const amount = Number(text);
  if (text.trim() === '' || !Number.isFinite(amount) || amount < 0)
    throw new TypeError(`${name} needs a number of at least 0, not "${text}".`);
  return amount;
}

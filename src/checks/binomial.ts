// Exact binomial bounds: the interval of a rate by Clopper and Pearson, and the one-sided upper bound.

/** The logarithm of the binomial probability of `count` in `total`. */
function logProbability(count: number, total: number, rate: number): number {
  let sum = count === 0 ? 0 : count * Math.log(rate);
  if (total > count) sum += (total - count) * Math.log1p(-rate);
  return sum + logChoose(total, count);
}

const logFactorials: number[] = [0];

function logFactorial(n: number): number {
  for (let next = logFactorials.length; next <= n; next++)
    logFactorials.push((logFactorials[next - 1] ?? 0) + Math.log(next));
  return logFactorials[n] ?? 0;
}

const logChoose = (total: number, count: number): number =>
  logFactorial(total) - logFactorial(count) - logFactorial(total - count);

/** Returns the probability of at most `count` successes in `total` tries at a rate. */
export function binomialCdf(count: number, total: number, rate: number): number {
  if (count >= total) return 1;
  if (rate <= 0) return 1;
  if (rate >= 1) return 0;
  // The terms decrease from the mean to both ends; the smaller tail is summed until its terms no longer count.
  if (count > total * rate) return Math.max(0, 1 - sumTail(total - count - 1, total, 1 - rate));
  return Math.min(1, sumTail(count, total, rate));
}

/** Sums the probabilities of `count` and fewer, which must not be above the mean by more than one. */
function sumTail(count: number, total: number, rate: number): number {
  let term = Math.exp(logProbability(count, total, rate));
  let sum = term;
  for (let each = count; each > 0 && term > sum * 1e-17; each--) {
    term *= (each / (total - each + 1)) * ((1 - rate) / rate);
    sum += term;
  }
  return sum;
}

function assertCount(count: number, total: number): void {
  if (!(Number.isSafeInteger(count) && Number.isSafeInteger(total) && count >= 0 && total >= count))
    throw new RangeError(`${count} of ${total} is not a count of successes.`);
}

/** Returns the rate at which a decreasing function falls to a level. */
function solve(probability: (rate: number) => number, level: number): number {
  let [low, high] = [0, 1];
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (probability(middle) > level) low = middle;
    else high = middle;
  }
  return high;
}

/** Returns the exact one-sided upper bound of a rate: the true rate is not above it with the stated confidence. 1 without tries. */
export function binomialUpperBound(count: number, total: number, confidence = 0.95): number {
  assertCount(count, total);
  if (count === total) return 1;
  return solve((rate) => binomialCdf(count, total, rate), 1 - confidence);
}

/** Returns the exact two-sided interval of a rate (Clopper and Pearson); [0, 1] without tries. */
export function binomialInterval(
  count: number,
  total: number,
  confidence = 0.95,
): readonly [low: number, high: number] {
  assertCount(count, total);
  const oneSided = 1 - (1 - confidence) / 2;
  return [
    total === 0 ? 0 : 1 - binomialUpperBound(total - count, total, oneSided),
    binomialUpperBound(count, total, oneSided),
  ];
}

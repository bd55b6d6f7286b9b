// The standard normal distribution: its CDF, and the z-score of a confidence level.

/** The CDF of the standard normal distribution. */
export function normalCdf(deviate: number): number {
  // Beyond this the tail is smaller than double precision.
  if (Math.abs(deviate) > 8.3) return deviate > 0 ? 1 : 0;
  let sum = 0;
  let term = deviate;
  for (let odd = 3; sum + term !== sum; odd += 2) {
    sum += term;
    term *= deviate ** 2 / odd;
  }
  return 0.5 + sum * (Math.exp(-(deviate ** 2) / 2) / Math.sqrt(2 * Math.PI));
}

/** The z-score of a two-sided confidence level: 1.96 for 0.95. */
export function zScoreForConfidence(confidence: number): number {
  if (!(confidence >= 0 && confidence < 1)) throw new RangeError(`${confidence} is not a confidence level.`);
  const below = (1 + confidence) / 2;
  let [low, high] = [0, 8.3];
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (normalCdf(middle) < below) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

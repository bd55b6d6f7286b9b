// The normal distribution, as far as intervals need it: how much lies below a deviate, and the deviate of a confidence.

/** The share of a standard normal distribution below a deviate. */
export function normalCdf(deviate: number): number {
  // Beyond this the rest is smaller than what a double can add to 1.
  if (Math.abs(deviate) > 8.3) return deviate > 0 ? 1 : 0;
  let sum = 0;
  let term = deviate;
  for (let odd = 3; sum + term !== sum; odd += 2) {
    sum += term;
    term *= deviate ** 2 / odd;
  }
  return 0.5 + sum * (Math.exp(-(deviate ** 2) / 2) / Math.sqrt(2 * Math.PI));
}

/** The deviate that holds this confidence between it and its negative: 1.96 for 0.95. */
export function zScoreForConfidence(confidence: number): number {
  if (!(confidence >= 0 && confidence < 1)) throw new RangeError(`${confidence} is no confidence.`);
  const below = (1 + confidence) / 2;
  let [low, high] = [0, 8.3];
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (normalCdf(middle) < below) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

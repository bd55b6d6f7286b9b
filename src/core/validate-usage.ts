// Plausibility checks of token counts and costs that providers report.
import { isObject } from './json.ts';
import type { Usage } from './message.ts';

const maxTokenCount = 1e9;

/** Returns true if the counts are plausible: integers, not negative, not absurdly large. */
export const isValidUsage = (usage: Usage): boolean =>
  isObject(usage) &&
  Object.values(usage).every(
    (count) => count === undefined || (Number.isInteger(count) && count >= 0 && count < maxTokenCount),
  );

/** Returns true if the cost of one response is plausible. */
export const isValidCost = (usd: number | undefined): usd is number =>
  typeof usd === 'number' && Number.isFinite(usd) && usd >= 0 && usd < 1e6;

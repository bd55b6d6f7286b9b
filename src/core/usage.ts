// Token counts as they come from outside: believed only where they can be true.
import { isObject } from './json.ts';
import type { Usage } from './message.ts';

const maxTokenCount = 1e9;

/** Whether these counts can be true: whole, not negative, not absurd. */
export const isValidUsage = (usage: Usage): boolean =>
  isObject(usage) &&
  Object.values(usage).every(
    (count) => count === undefined || (Number.isInteger(count) && count >= 0 && count < maxTokenCount),
  );

/** Whether one answer can have cost this many dollars. */
export const isValidCost = (usd: number | undefined): usd is number =>
  typeof usd === 'number' && Number.isFinite(usd) && usd >= 0 && usd < 1e6;

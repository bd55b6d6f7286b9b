// Token counts as they come from outside: believed only where they can be true.
import { isObject } from './json.ts';
import type { Usage } from './message.ts';

const most = 1e9;

/** Whether these counts can be true: whole, not negative, not absurd. */
export const isUsage = (usage: Usage): boolean =>
  isObject(usage) &&
  Object.values(usage).every((count) => count === undefined || (Number.isInteger(count) && count >= 0 && count < most));

/** Whether one answer can have cost this many dollars. */
export const isCost = (usd: number | undefined): usd is number =>
  typeof usd === 'number' && Number.isFinite(usd) && usd >= 0 && usd < 1e6;

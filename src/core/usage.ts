// Token counts as they come from outside: believed only where they can be true.
import type { Usage } from './message.ts';

const most = 1e9;

/** Whether these counts can be true: whole, not negative, not absurd. */
export const isUsage = (usage: Usage): boolean =>
  Object.values(usage).every((count) => count === undefined || (Number.isInteger(count) && count >= 0 && count < most));

// Waits in tests until a condition holds.
import { setTimeout as pause } from 'node:timers/promises';

/** Waits until a condition holds; throws with its description after a timeout. */
export async function eventually(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 20_000; !(await holds()); await pause(20))
    if (Date.now() > end) throw new Error(`Not so after 20 seconds: ${what}.`);
}

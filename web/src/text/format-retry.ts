// Sentences about retries of a model request.
import { formatDuration } from './format.ts';

/** A failed attempt, as far as a sentence needs it. */
export type Retry = {
  readonly attempt: number;
  readonly maxAttempts?: number;
  readonly waitMs?: number;
  readonly provider?: string;
  readonly why: string;
  readonly isRateLimit: boolean;
};

/** Returns what failed, how long the wait is or was, and which attempt follows. */
export function formatRetry({ attempt, maxAttempts, waitMs = 0, provider, why, isRateLimit }: Retry): string {
  const what = isRateLimit
    ? `Rate limited${provider === undefined ? '' : ` by ${provider}`}`
    : why.replace(/[.\s]+$/, '');
  const wait = waitMs > 0 ? `waiting ${formatDuration(waitMs)}, ` : '';
  return `${what}: ${wait}${maxAttempts === undefined ? 'trying another model' : `attempt ${attempt} of ${maxAttempts}`}.`;
}

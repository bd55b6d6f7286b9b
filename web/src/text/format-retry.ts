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
  /** Nothing failed: a rate limit delays the request. */
  readonly held?: boolean;
};

/** Returns what failed, how long the wait is or was, and which attempt follows. */
export function formatRetry({ attempt, maxAttempts, waitMs = 0, provider, why, isRateLimit, held }: Retry): string {
  if (held) return `Rate limited (${why}): sending in ${formatDuration(waitMs)}.`;
  const what = isRateLimit
    ? `Rate limited${provider === undefined ? '' : ` by ${provider}`}`
    : why.replace(/[.\s]+$/, '');
  const wait = waitMs > 0 ? `retrying in ${formatDuration(waitMs)}, ` : '';
  return `${what}: ${wait}${maxAttempts === undefined ? 'trying another model' : `attempt ${attempt} of ${maxAttempts}`}.`;
}

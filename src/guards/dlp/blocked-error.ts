// The error of a text that the policy does not let out.
import { FairleadError } from '../../core/index.ts';
import { formatCounts } from './scanner.ts';

/** The error of a text that may not leave. It names kinds and counts, never a value. */
export const blockedError = (counts: Readonly<Record<string, number>>, what: string): FairleadError =>
  new FairleadError('dlp/blocked', `The DLP policy blocks ${what}: it holds ${formatCounts(counts)}.`, {
    blame: 'user',
    hint: 'Remove the data, use a local model, or change the setting "dlp".',
  });

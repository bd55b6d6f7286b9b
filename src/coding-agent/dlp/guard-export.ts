// Applies the policy of data loss prevention to the export of a session.
import { readSettings } from '../settings/index.ts';
import type { GuardedResult } from '../../guards/dlp/index.ts';
import { readDlpPolicy, redactExport } from './read-policy.ts';

/** Returns an export as it may be written, and what was removed from it; throws if the policy blocks it. */
export const guardExport = (text: string, format: string): GuardedResult =>
  redactExport(text, format, readDlpPolicy(readSettings()));

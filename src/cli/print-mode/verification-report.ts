// Formats the verification of a run for its end.
import { formatReport, parseVerificationRecord } from '../../checks/index.ts';
import type { Json } from '../../core/index.ts';
import type { CliArgs } from '../args/parse-args.ts';
import type { RunNames } from './printers.ts';

/** Returns the record of a verification, and its text if the output is text. */
export function formatVerification(
  verification: Json,
  { outputFormat }: Pick<CliArgs, 'outputFormat'>,
): Pick<RunNames, 'verification' | 'report'> {
  const report = outputFormat === 'text' ? parseVerificationRecord(verification) : undefined;
  return { verification, ...(report ? { report: formatReport(report) } : {}) };
}

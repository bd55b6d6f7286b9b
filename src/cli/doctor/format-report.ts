// Formats the results of the doctor: one line per check, and the fix below it.
import { withProgramName } from '../args/program-name.ts';
import { escapeInvisible } from '../../core/index.ts';
import { wrapText } from '../args/wrap-text.ts';
import type { TextStyles } from '../tui/ansi-style.ts';
import type { NamedCheckResult } from './run-checks.ts';

/** Formats one result; wrapped at words if a width is given. */
export function formatCheckResult(
  { name, status, message, fix }: NamedCheckResult,
  styles: TextStyles,
  width: number = Number.POSITIVE_INFINITY,
): string {
  const label = { ok: 'ok  ', warn: 'warn', fail: 'FAIL' }[status];
  const line = `${label}  ${name.padEnd(14)}  ${escapeInvisible(message)}`;
  const text = fix === undefined ? line : `${line}\n${' '.repeat(22)}fix: ${escapeInvisible(withProgramName(fix))}`;
  // The label is styled after the text was wrapped: a style has no width.
  const style = { ok: styles.green, warn: styles.yellow, fail: styles.red }[status];
  return style(label) + wrapText(text, width).slice(label.length);
}

/** Summarizes all results in one sentence. */
export function formatCheckSummary(results: readonly NamedCheckResult[]): string {
  const count = (status: NamedCheckResult['status']): number =>
    results.filter((result) => result.status === status).length;
  const [warnings, failures] = [count('warn'), count('fail')];
  if (failures > 0) return `${failures} of ${results.length} checks failed.`;
  return warnings > 0
    ? `No check failed; ${warnings} of ${results.length} have warnings.`
    : `All ${results.length} checks passed.`;
}

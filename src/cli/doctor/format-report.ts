// Formats the results of the doctor: one line per check, and the fix below it.
import { escapeInvisible } from '../../core/index.ts';
import { wrapText } from '../args/wrap-text.ts';
import type { TextStyles } from '../tui/ansi-style.ts';
import type { NamedCheckResult } from './run-checks.ts';

/** Formats one result; wrapped at words if a width is given. */
export function formatCheckResult(
  { name, standing, says, mend }: NamedCheckResult,
  styles: TextStyles,
  width: number = Number.POSITIVE_INFINITY,
): string {
  const label = { ok: 'ok  ', warn: 'warn', fail: 'FAIL' }[standing];
  const line = `${label}  ${name.padEnd(14)}  ${escapeInvisible(says)}`;
  const text = mend === undefined ? line : `${line}\n${' '.repeat(22)}fix: ${escapeInvisible(mend)}`;
  // The label is styled after the text was wrapped: a style has no width.
  const style = { ok: styles.green, warn: styles.yellow, fail: styles.red }[standing];
  return style(label) + wrapText(text, width).slice(label.length);
}

/** Summarizes all results in one sentence. */
export function formatCheckSummary(results: readonly NamedCheckResult[]): string {
  const count = (standing: NamedCheckResult['standing']): number =>
    results.filter((result) => result.standing === standing).length;
  const [warnings, failures] = [count('warn'), count('fail')];
  if (failures > 0) return `${failures} of ${results.length} checks failed.`;
  return warnings > 0
    ? `No check failed; ${warnings} of ${results.length} have warnings.`
    : `All ${results.length} checks passed.`;
}

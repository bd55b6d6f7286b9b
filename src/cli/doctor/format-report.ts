// Formats the results of the doctor: one line per check, and the fix below it.
import { escapeInvisible } from '../../core/index.ts';
import type { TextStyles } from '../tui/ansi-style.ts';
import type { NamedCheckResult } from './run-checks.ts';

/** Formats one result. */
export function formatCheckResult({ name, standing, says, mend }: NamedCheckResult, styles: TextStyles): string {
  const label = { ok: styles.green('ok  '), warn: styles.yellow('warn'), fail: styles.red('FAIL') }[standing];
  const line = `${label}  ${name.padEnd(16)}${escapeInvisible(says)}`;
  return mend === undefined ? line : `${line}\n${' '.repeat(22)}to fix: ${escapeInvisible(mend)}`;
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

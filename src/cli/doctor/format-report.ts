// What the doctor found, as a person reads it: one line a check, and how to mend it below.
import { escapeInvisible } from '../../core/index.ts';
import type { TextStyles } from '../tui/ansi-style.ts';
import type { NamedCheckResult } from './run-checks.ts';

/** One finding as lines. */
export function formatCheckResult({ name, standing, says, mend }: NamedCheckResult, paint: TextStyles): string {
  const word = { ok: paint.green('ok  '), warn: paint.yellow('warn'), fail: paint.red('FAIL') }[standing];
  const line = `${word}  ${name.padEnd(16)}${escapeInvisible(says)}`;
  return mend === undefined ? line : `${line}\n${' '.repeat(22)}to mend: ${escapeInvisible(mend)}`;
}

/** How all of it came out, in a sentence. */
export function formatCheckSummary(all: readonly NamedCheckResult[]): string {
  const count = (standing: NamedCheckResult['standing']): number =>
    all.filter((each) => each.standing === standing).length;
  const [warned, failed] = [count('warn'), count('fail')];
  if (failed > 0) return `${failed} of ${all.length} checks failed.`;
  return warned > 0 ? `Nothing failed; ${warned} of ${all.length} could be better.` : `All ${all.length} are well.`;
}

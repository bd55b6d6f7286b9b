// One row of the table of attacks: the observed outcome, and whether it is allowed.
import { attacks } from './catalogue.ts';

/** The results of an attack after all tests. */
export type AttackResult = {
  passed: number;
  failed: number;
  skipped: number;
  readonly saw: string[];
  readonly figures: string[];
};

/** Returns the row of an attack. A row without a result is an error, unless its tests cannot run here. */
export function createReportRow(
  attack: number,
  standing: AttackResult | undefined,
): { readonly line: string; readonly isRight: boolean; readonly isSkipped: boolean } {
  const [what = '', ...may] = attacks[attack] ?? [];
  const saw = [...new Set(standing?.saw)];
  const isSkipped = standing !== undefined && saw.length === 0 && standing.skipped > 0 && standing.failed === 0;
  const isRight =
    isSkipped || (standing?.failed === 0 && saw.length > 0 && saw.every((each) => may.some((one) => one === each)));
  const figure = standing?.figures.length ? ` (${standing.figures.join('; ')})` : '';
  const was = isSkipped ? 'skipped here' : saw.length > 0 ? `${saw.join(', ')}${figure}` : 'not seen';
  const mark = isRight ? '' : ' **NO**';
  const line = `| ${attack} | ${what} | ${may.join(' or ')} | ${was}${mark} | ${standing?.passed ?? 0} |`;
  return { line, isRight, isSkipped };
}

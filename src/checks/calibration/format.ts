// Formats a risk-coverage curve as a chart of plain text.
import { formatColumns, maxOf } from '../../core/index.ts';
import { formatPercent } from './calibrate.ts';
import type { CurvePoint, RiskCoverage } from './curve.ts';

const barWidth = 40;
const rowCount = 10;

/** Formats a curve: one line per coverage with the error rate (`#`), its 95 % interval (`-`) and the target (`|`). */
export function formatRiskCoverage(curve: RiskCoverage, maxErrorRate?: number): string {
  const points = selectRows(curve.points);
  if (points.length === 0) return 'No outcomes.\n';
  const scale = Math.max(maxOf(points.map(({ interval }) => interval[1])), maxErrorRate ?? 0);
  const rows = points.map((point) => [
    formatPercent(point.coverage),
    point.threshold.toFixed(3),
    `${formatPercent(point.errorRate)} (${formatPercent(point.interval[0])} to ${formatPercent(point.interval[1])})`,
    formatBar(point, scale, maxErrorRate),
  ]);
  const table = formatColumns([['COVERAGE', 'CONFIDENCE', 'ERRORS (95 % INTERVAL)', ''], ...rows]);
  const target = maxErrorRate === undefined ? '' : `, the target ${formatPercent(maxErrorRate)} (|)`;
  return `${table}The bar ends at ${formatPercent(scale)}: the error rate (#), its interval (-)${target}.\n`;
}

/** The last point at or below each tenth of the coverage. */
function selectRows(points: readonly CurvePoint[]): readonly CurvePoint[] {
  const selected = new Set<CurvePoint>();
  for (let row = 1; row <= rowCount; row++) {
    const point = points.findLast(({ coverage }) => coverage <= row / rowCount + 1e-9);
    if (point) selected.add(point);
  }
  return [...selected];
}

function formatBar({ errorRate, interval }: CurvePoint, scale: number, maxErrorRate: number | undefined): string {
  const at = (rate: number): number => Math.round((rate / scale) * (barWidth - 1));
  const bar: string[] = Array.from({ length: barWidth }, (_, i) =>
    i >= at(interval[0]) && i <= at(interval[1]) ? '-' : ' ',
  );
  if (maxErrorRate !== undefined) bar[at(maxErrorRate)] = '|';
  bar[at(errorRate)] = '#';
  return bar.join('').trimEnd();
}

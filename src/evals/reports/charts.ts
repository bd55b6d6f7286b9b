// Charts of an eval report as inline SVG: rates with intervals, and the time of each case. Colours come from classes of the page.
import { maxOf } from '../../core/index.ts';
import type { Rate } from '../../fleet/health/index.ts';
import { formatHtmlText } from '../../sessions/index.ts';
import { formatRate, formatSeconds } from '../report.ts';

const labelWidth = 190;
const plotWidth = 420;
const rowHeight = 26;

/** Coordinates with two digits; what is not a number is 0. */
const at = (value: number): string => (Number.isFinite(value) ? value : 0).toFixed(2);

const shorten = (text: string): string => (text.length > 26 ? `${text.slice(0, 25)}…` : text);

const axis = (height: number, label: (share: number) => string): string =>
  [0, 0.25, 0.5, 0.75, 1]
    .map(
      (share) =>
        `<line class="grid" x1="${at(labelWidth + share * plotWidth)}" x2="${at(labelWidth + share * plotWidth)}" y1="0" y2="${height}"/>` +
        `<text class="tick" x="${at(labelWidth + share * plotWidth)}" y="${height + 14}" text-anchor="middle">${formatHtmlText(label(share))}</text>`,
    )
    .join('');

/** A chart of rates: the bar is the rate, the line its 95 % interval. */
export function formatRateChart(rates: readonly (readonly [name: string, rate: Rate])[]): string {
  const height = rates.length * rowHeight;
  const rows = rates.map(([name, rate], i) => {
    const y = i * rowHeight;
    const [low, high] = rate.interval;
    const label = `<text class="label" x="${labelWidth - 8}" y="${at(y + 17)}" text-anchor="end">${formatHtmlText(shorten(name))}<title>${formatHtmlText(name)}</title></text>`;
    if (rate.rate === null) return label;
    const line = (x1: number, x2: number, y1: number, y2: number): string =>
      `<line class="interval" x1="${at(labelWidth + x1 * plotWidth)}" x2="${at(labelWidth + x2 * plotWidth)}" y1="${at(y1)}" y2="${at(y2)}"/>`;
    const title = `<title>${formatHtmlText(`${name}: ${formatRate(rate)}`)}</title>`;
    return [
      label,
      `<rect class="bar" x="${labelWidth}" y="${at(y + 6)}" width="${at(rate.rate * plotWidth)}" height="14">${title}</rect>`,
      line(low, high, y + rowHeight / 2, y + rowHeight / 2),
      line(low, low, y + 9, y + 17),
      line(high, high, y + 9, y + 17),
    ].join('');
  });
  return wrap(height, axis(height, (share) => `${100 * share} %`) + rows.join(''), 'Rates with 95 % intervals');
}

/** A chart of times: the mark is the median of a case, the line ends at its 95th percentile. */
export function formatTimeChart(
  times: readonly { readonly name: string; readonly p50: number; readonly p95: number }[],
): string {
  const height = times.length * rowHeight;
  const max = maxOf(
    times.map(({ p95 }) => p95),
    1,
  );
  const x = (ms: number): string => at(labelWidth + (ms / max) * plotWidth);
  const rows = times.map(({ name, p50, p95 }, i) => {
    const middle = at(i * rowHeight + rowHeight / 2);
    const title = `<title>${formatHtmlText(`${name}: ${formatSeconds(p50)} median, ${formatSeconds(p95)} 95th percentile`)}</title>`;
    return (
      `<text class="label" x="${labelWidth - 8}" y="${at(i * rowHeight + 17)}" text-anchor="end">${formatHtmlText(shorten(name))}</text>` +
      `<line class="span" x1="${x(0)}" x2="${x(p95)}" y1="${middle}" y2="${middle}"/>` +
      `<circle class="dot" cx="${x(p50)}" cy="${middle}" r="5">${title}</circle>`
    );
  });
  return wrap(height, axis(height, (share) => formatSeconds(share * max)) + rows.join(''), 'Time of each case');
}

const wrap = (height: number, content: string, label: string): string =>
  `<svg role="img" aria-label="${formatHtmlText(label)}" viewBox="0 0 ${labelWidth + plotWidth + 40} ${height + 22}">${content}</svg>`;

// A chart over time or another value, with the same values in a table below it for accessibility.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import UPlot from 'uplot';
import { formatTime } from '../text/format.ts';
import type { SeriesValues } from '../state/health-series.ts';

/** One series of a chart; `band` contains the interval of each value. */
export type ChartSeries = {
  readonly name: string;
  readonly values: SeriesValues;
  readonly band?: readonly [SeriesValues, SeriesValues];
};

/** The name and the format of the horizontal axis. */
export type ChartAxis = { readonly name: string; readonly write: (value: number) => string };

/** The properties of a chart. */
export type ChartProps = {
  readonly title: string;
  /** The places of the values: times in seconds, or other values with an `axis`. */
  readonly times: readonly number[];
  /** The name and the format of places that are no times. */
  readonly axis?: ChartAxis;
  readonly lines: readonly ChartSeries[];
  readonly write: (value: number) => string;
  /** The minimum of the upper end of the scale. */
  readonly least?: number;
  /** Allowed distances of the grid lines, for units that are not decimal. */
  readonly steps?: readonly number[];
};

const height = 150;

/** A chart with its table. */
export function Chart({ title, times, axis, lines, write, least, steps }: ChartProps): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const [theme, setTheme] = useState(0);
  const isEmpty = lines.every(({ values }) => values.every((value) => value === null));
  useEffect(() => {
    const change = (): void => setTheme((before) => before + 1);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', change);
    addEventListener('fairlead-theme', change);
    return () => {
      dark.removeEventListener('change', change);
      removeEventListener('fairlead-theme', change);
    };
  }, []);
  useEffect(() => {
    const here = place.current;
    if (!here || isEmpty) return undefined;
    const plot = new UPlot(
      createPlotOptions(here, { axis, lines, write, least, steps }),
      toPlotData(times, lines),
      here,
    );
    const observer = new ResizeObserver(() => plot.setSize({ width: here.clientWidth, height }));
    observer.observe(here);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [times, lines, theme, isEmpty]);
  return (
    <figure class="chart">
      <figcaption>
        {title}
        <span class="legend" aria-hidden="true">
          {lines.map(({ name }, i) => (
            <span key={name} class={`key-${i}`}>
              {name}
            </span>
          ))}
        </span>
      </figcaption>
      {isEmpty ? (
        <p class="hint not-measured">Not measured: no run ended in this period.</p>
      ) : (
        <div ref={place} class="plot" aria-hidden="true" />
      )}
      {isEmpty ? null : <ChartTable title={title} times={times} axis={axis} lines={lines} write={write} />}
    </figure>
  );
}

const toPlotData = (times: readonly number[], lines: readonly ChartSeries[]): UPlot.AlignedData => [
  [...times],
  ...lines.map(({ values }) => [...values]),
];

type PlotConfig = Pick<ChartProps, 'lines' | 'write'> & {
  readonly axis: ChartAxis | undefined;
  readonly least: number | undefined;
  readonly steps: readonly number[] | undefined;
};

function createPlotOptions(
  here: HTMLElement,
  { axis: places, lines, write, least = 0, steps }: PlotConfig,
): UPlot.Options {
  const style = getComputedStyle(here);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  const strokes = ['--plot-1', '--plot-2', '--plot-3'].map(colour);
  const axis = {
    stroke: colour('--muted'),
    font: `11px ${style.fontFamily}`,
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
  };
  // The scale includes the upper ends of the intervals.
  const highest = Math.max(
    least,
    ...lines.flatMap(({ values, band }) => [...values, ...(band?.[1] ?? [])].map(Number)),
  );
  return {
    width: here.clientWidth || 300,
    height,
    series: [
      {},
      ...lines.map(({ name, values }, i) => ({
        label: name,
        stroke: strokes[i % strokes.length] ?? 'currentColor',
        width: 1.5,
        dash: i === 2 ? [2, 3] : [],
        points: { show: values.length < 40, size: 4 },
      })),
    ],
    legend: { show: false },
    cursor: { show: false },
    // A value at the end of the axis has its label in the middle.
    padding: [8, places ? 20 : 8, 0, 0],
    axes: [
      {
        ...axis,
        size: 30,
        space: 70,
        values: (_: unknown, splits: number[]) => splits.map(places?.write ?? formatAxisTime),
      },
      {
        ...axis,
        size: 64,
        space: 32,
        values: (_: unknown, splits: number[]) => splits.map(write),
        ...(steps ? { incrs: [...steps] } : {}),
      },
    ],
    scales: { x: { time: places === undefined }, y: { range: () => [0, highest > 0 ? highest * 1.08 : 1] } },
    hooks: { drawSeries: [(plot, series) => drawBand(plot, lines[series - 1]?.band, colour('--plot-band'))] },
  };
}

/** Formats a tick: the date at midnight, otherwise the time. */
function formatAxisTime(seconds: number): string {
  const date = new Date(seconds * 1000);
  if (date.getHours() === 0 && date.getMinutes() === 0)
    return date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' });
  return date.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
}

/** Draws each interval as a bar: a band would suggest measurements in between. */
function drawBand(plot: UPlot, band: ChartSeries['band'], colour: string): void {
  if (!band) return;
  const { ctx } = plot;
  const width = Math.max(3, Math.min(14, plot.bbox.width / band[0].length / 2));
  ctx.save();
  ctx.fillStyle = colour;
  for (const [i, low] of band[0].entries()) {
    const high = band[1][i];
    const time = plot.data[0][i];
    if (typeof low !== 'number' || typeof high !== 'number' || time === undefined) continue;
    const [x, top, bottom] = [
      plot.valToPos(time, 'x', true),
      plot.valToPos(high, 'y', true),
      plot.valToPos(low, 'y', true),
    ];
    ctx.fillRect(x - width / 2, top, width, Math.max(1, bottom - top));
  }
  ctx.restore();
}

type ChartTableProps = Omit<ChartProps, 'least' | 'steps' | 'axis'> & { readonly axis: ChartAxis | undefined };

function ChartTable({ title, times, axis, lines, write }: ChartTableProps): JSX.Element {
  return (
    <details class="numbers">
      <summary>
        Numbers<span class="unseen"> of {title}</span>
      </summary>
      <div class="scroll" tabIndex={0} role="region" aria-label={title}>
        <table class="rows">
          <caption class="unseen">{title}</caption>
          <thead>
            <tr>
              <th scope="col">{axis?.name ?? 'From'}</th>
              {lines.map(({ name }) => (
                <th key={name} scope="col" class="number">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {times.map((time, i) => (
              <tr key={time}>
                <th scope="row">{axis?.write(time) ?? formatTime(new Date(time * 1000).toISOString(), Date.now())}</th>
                {lines.map((line) => (
                  <td key={line.name} class="number">
                    {formatPoint(line, i, write)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

function formatPoint({ values, band }: ChartSeries, at: number, write: (value: number) => string): string {
  const value = values[at];
  if (value === null || value === undefined) return 'not measured';
  const [low, high] = [band?.[0][at], band?.[1][at]];
  return typeof low === 'number' && typeof high === 'number'
    ? `${write(value)} (${write(low)} to ${write(high)})`
    : write(value);
}

// A chart over time. The same figures stand in a table below it, for who cannot see a picture or wants the numbers.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import UPlot from 'uplot';
import { clock } from '../text/format.ts';
import type { Column } from './stretches.ts';

/** One line of a chart; `band` are the ends of its interval. */
export type Line = { readonly name: string; readonly values: Column; readonly band?: readonly [Column, Column] };

/** What a chart shows, and how its figures are written. */
export type ChartProps = {
  readonly title: string;
  readonly times: readonly number[];
  readonly lines: readonly Line[];
  readonly write: (value: number) => string;
  /** Rates are drawn from nothing to at least this. */
  readonly least?: number;
};

const height = 150;

/** The chart. */
export function Chart({ title, times, lines, write, least }: ChartProps): JSX.Element {
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
    const plot = new UPlot(optionsFor(here, lines, write, least), dataOf(times, lines), here);
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
        <p class="hint not-measured">Not measured: no run ended in this time.</p>
      ) : (
        <div ref={place} class="plot" aria-hidden="true" />
      )}
      {isEmpty ? null : <Numbers title={title} times={times} lines={lines} write={write} />}
    </figure>
  );
}

/** The lines, and behind each the two ends of its interval, between which is filled. */
function dataOf(times: readonly number[], lines: readonly Line[]): UPlot.AlignedData {
  const columns = lines.flatMap(({ values, band }) => [values, ...(band ?? [])]);
  return [[...times], ...columns.map((column) => [...column])];
}

function optionsFor(
  here: HTMLElement,
  lines: readonly Line[],
  write: (value: number) => string,
  least = 0,
): UPlot.Options {
  const style = getComputedStyle(here);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  const strokes = [colour('--plot-1'), colour('--plot-2'), colour('--plot-3')];
  const series: UPlot.Series[] = [{}];
  const bands: UPlot.Band[] = [];
  for (const [i, line] of lines.entries()) {
    const stroke = strokes[i % strokes.length] ?? 'currentColor';
    series.push({
      label: line.name,
      stroke,
      width: 1.5,
      dash: i === 2 ? [2, 3] : [],
      points: { show: line.values.length < 30, size: 4 },
    });
    if (!line.band) continue;
    bands.push({ series: [series.length + 1, series.length], fill: colour('--plot-band') });
    for (const end of ['low', 'high'])
      series.push({ label: `${line.name} ${end}`, stroke: 'transparent', width: 0, points: { show: false } });
  }
  const font = `11px ${style.fontFamily}`;
  const axis = {
    stroke: colour('--muted'),
    font,
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
  };
  return {
    width: here.clientWidth || 300,
    height,
    series,
    bands,
    legend: { show: false },
    cursor: { show: false },
    padding: [8, 8, 0, 0],
    axes: [
      { ...axis, space: 70 },
      { ...axis, size: 64, space: 32, values: (_: unknown, splits: number[]) => splits.map(write) },
    ],
    scales: {
      x: { time: true },
      y: { range: (_: unknown, __: number, high: number) => [0, Math.max(least, high * 1.08) || 1] },
    },
  };
}

function Numbers({ title, times, lines, write }: Omit<ChartProps, 'least'>): JSX.Element {
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
              <th scope="col">From</th>
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
                <th scope="row">{clock(new Date(time * 1000).toISOString(), Date.now())}</th>
                {lines.map((line) => (
                  <td key={line.name} class="number">
                    {told(line, i, write)}
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

function told({ values, band }: Line, at: number, write: (value: number) => string): string {
  const value = values[at];
  if (value === null || value === undefined) return 'not measured';
  const [low, high] = [band?.[0][at], band?.[1][at]];
  return typeof low === 'number' && typeof high === 'number'
    ? `${write(value)} (${write(low)} to ${write(high)})`
    : write(value);
}

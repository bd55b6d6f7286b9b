// Writes an eval report to a file in the format that its ending names.
import { writeTextAtomic } from '../../stores/index.ts';
import type { EvalReport } from '../report.ts';
import { formatHtmlReport, type HtmlReportParts } from './html.ts';
import { formatJunitReport } from './junit.ts';
import { formatMarkdownReport } from './markdown.ts';

type Format = (report: EvalReport, parts: HtmlReportParts) => string;

const formats: Readonly<Record<string, Format>> = {
  json: (report, { gates, comparison }) =>
    `${JSON.stringify({ ...report, ...(gates ? { gates } : {}), ...(comparison ? { against: comparison } : {}) }, null, 2)}\n`,
  md: (report, { gates, comparison }) => formatMarkdownReport(report, gates, comparison),
  xml: (report, { gates }) => formatJunitReport(report, gates),
  html: formatHtmlReport,
};

/** Returns true if a report can be written to a file of this name. */
export const isReportFile = (file: string): boolean => Object.hasOwn(formats, getEnding(file));

const getEnding = (file: string): string => /\.([a-z]+)$/i.exec(file)?.[1]?.toLowerCase() ?? '';

/** Writes a report: `.json`, `.md`, `.xml` (JUnit) or `.html`. */
export function writeEvalReport(file: string, report: EvalReport, parts: HtmlReportParts = {}): void {
  const format = Object.hasOwn(formats, getEnding(file)) ? formats[getEnding(file)] : undefined;
  if (!format) throw new TypeError(`A report is a file .json, .md, .xml or .html, not "${file}".`);
  writeTextAtomic(file, format(report, parts));
}

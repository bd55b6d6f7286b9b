// An eval report as Markdown, such as for the summary of a CI job.
import { formatComparisonLine, type EvalComparison } from '../compare.ts';
import type { EvalGateResult } from '../gates.ts';
import { formatRate, formatSeconds, type EvalReport } from '../report.ts';
import { summarizeCase } from './case-summary.ts';

/** Escapes text for a cell of a table: it is data, and cannot end the cell or start a tag, a link or an image. */
const cell = (text: string): string =>
  text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\p{Cc}/gu, '\uFFFD')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(/[\\`*_[\]!|~#@]/g, (char) => `\\${char}`);

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`;

const maxText = 300;

/** Formats a report as Markdown. */
export function formatMarkdownReport(
  report: EvalReport,
  gates: readonly EvalGateResult[] = [],
  comparison?: EvalComparison,
): string {
  const { right, reliable, falseAccepts, abstained, abstainedWhereDue, tags, cases, latencyMs, cost } = report;
  const trials = cases.reduce((sum, each) => sum + each.trials.length, 0);
  const rates = [
    ...Object.entries(tags).map(([tag, rate]) => [cell(tag), formatRate(rate)]),
    ['**right in all**', formatRate(right)],
    ['right in every trial', formatRate(reliable)],
    ['false accepts', formatRate(falseAccepts)],
    ['abstained', formatRate(abstained)],
    ['abstained where due', formatRate(abstainedWhereDue)],
  ];
  return [
    `# ${cell(report.dataset)} with ${cell(report.model)}\n\n`,
    `${cell(report.when)}: ${cases.length} cases, ${trials} trials; 95 % intervals in brackets.`,
    latencyMs
      ? ` Time ${formatSeconds(latencyMs.p50)} (median), ${formatSeconds(latencyMs.p95)} (95th percentile).`
      : '',
    ` Cost $${cost.usd.toFixed(4)}${cost.judgeUsd > 0 ? ` and $${cost.judgeUsd.toFixed(4)} of the judges` : ''}; ${cost.inputTokens} tokens in, ${cost.outputTokens} out.\n\n`,
    report.interrupted ? 'The evaluation was ended before all trials were run.\n\n' : '',
    report.withoutResponse > 0 ? `The model did not respond in ${report.withoutResponse} trials.\n\n` : '',
    gates.map(({ passed, why }) => `- ${passed ? 'passed' : '**failed**'}: ${cell(why)}\n`).join(''),
    gates.length > 0 ? '\n' : '',
    comparison ? `${cell(formatComparisonLine(comparison))}\n\n` : '',
    row(['rate', 'result']),
    row(['---', '---']),
    ...rates.map(row),
    '\n',
    row(['case', 'right', 'time p50', 'time p95', 'cost', 'what is wrong']),
    row(['---', '---', '---', '---', '---', '---']),
    ...cases.map((each) => {
      const { right: count, p50, p95, usd } = summarizeCase(each);
      return row([
        `${cell(each.id)}${each.must ? ' (must)' : ''}`,
        `${count.good} of ${count.total}`,
        formatSeconds(p50),
        formatSeconds(p95),
        usd === undefined ? 'unknown' : `$${usd.toFixed(4)}`,
        cell(each.errors.join(' ').slice(0, maxText)),
      ]);
    }),
  ].join('');
}

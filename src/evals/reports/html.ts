// An eval report as one HTML page without scripts: charts, the matrix of trials, cost and time of each case, and what is wrong. All text is escaped, and the content security policy blocks everything from outside.
import { hash } from 'node:crypto';
import { canonicalJson } from '../../core/index.ts';
import { formatHtmlText } from '../../sessions/index.ts';
import { formatComparisonLine, type EvalComparison } from '../compare.ts';
import type { EvalGateResult } from '../gates.ts';
import { formatRate, formatSeconds, type EvalReport } from '../report.ts';
import type { EvalCaseResult, EvalTrial } from '../results.ts';
import { summarizeCase } from './case-summary.ts';
import { formatRateChart, formatTimeChart } from './charts.ts';

const stylesheet = `
:root { color-scheme: light dark; --text: light-dark(#1c1e21, #e6e7e9); --page: light-dark(#fff, #16181b); --soft: light-dark(#f3f4f6, #212428);
  --line: light-dark(#d9dce1, #3a3f46); --quiet: light-dark(#5c636d, #a2a9b3); --good: light-dark(#1a7f37, #57c270); --bad: light-dark(#c0392b, #ff8a7a);
  --none: light-dark(#b9bfc8, #5a616b); --bar: light-dark(#4a7fc1, #6fa3e0); }
body { font: 15px/1.55 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem; color: var(--text); background: var(--page); }
h1 { font-size: 1.5rem; margin-bottom: .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
.quiet { color: var(--quiet); font-size: .9rem; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: .75rem; margin: 1rem 0; }
.figures div { background: var(--soft); border-radius: .5rem; padding: .6rem .9rem; }
.figures b { display: block; font-size: 1.25rem; }
.passed { color: var(--good); }
.failed { color: var(--bad); }
svg { width: 100%; max-width: 48rem; height: auto; display: block; }
.grid { stroke: var(--line); } .tick, .label { fill: var(--quiet); font: 11px system-ui, sans-serif; } .label { fill: var(--text); font-size: 12px; }
.bar { fill: var(--bar); opacity: .55; } .interval { stroke: var(--text); stroke-width: 1.5; } .span { stroke: var(--bar); stroke-width: 3; opacity: .55; } .dot { fill: var(--bar); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .6rem; text-align: left; vertical-align: top; }
td.number, th.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
td { overflow-wrap: anywhere; }
.trial { display: inline-block; width: .95rem; height: .95rem; line-height: .95rem; margin: 0 .1rem; border-radius: .2rem; text-align: center; font-size: .7rem; color: #fff; background: var(--none); }
.trial.right { background: var(--good); } .trial.wrong { background: var(--bad); }
details { border: 1px solid var(--line); border-radius: .35rem; padding: .25rem .75rem; margin: .4rem 0; font-size: .9rem; }
summary { cursor: pointer; overflow-wrap: anywhere; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: var(--soft); padding: .5rem .75rem; border-radius: .35rem; max-height: 24rem; overflow-y: auto; }
.tag { background: var(--soft); border-radius: .25rem; padding: 0 .35rem; margin-right: .25rem; font-size: .8rem; }
`;

/** What a page shows besides the report. */
export type HtmlReportParts = {
  readonly gates?: readonly EvalGateResult[];
  readonly comparison?: EvalComparison | undefined;
};

/** The maximum number of cases in the chart of times: the slowest ones. */
const maxCharted = 40;
const maxText = 20_000;

/** Formats a report as an HTML page. */
export function formatHtmlReport(report: EvalReport, { gates = [], comparison }: HtmlReportParts = {}): string {
  const policy = `default-src 'none'; style-src 'sha256-${hash('sha256', stylesheet, 'base64')}'; base-uri 'none'; form-action 'none'`;
  const title = `${report.dataset} with ${report.model}`;
  const { cases } = report;
  const slowest = cases
    .map((each) => ({ name: each.id, ...summarizeCase(each) }))
    .toSorted((a, b) => b.p95 - a.p95)
    .slice(0, maxCharted);
  const wrong = cases.filter((each) => !each.right);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${formatHtmlText(title)}</title>
<style>${stylesheet}</style>
</head>
<body>
<h1>${formatHtmlText(title)}</h1>
<p class="quiet">${formatHtmlText(report.when)}. Intervals are 95 % intervals; trials of one case count together.</p>
${report.interrupted ? '<p class="failed">The evaluation was ended before all trials were run.</p>' : ''}
${formatFigures(report)}
${gates.length > 0 ? `<h2>Gates</h2><ul>${gates.map(formatGate).join('')}</ul>` : ''}
${comparison ? formatPaired(comparison) : ''}
<h2>Rates</h2>
${formatRateChart([...Object.entries(report.tags), ['all cases', report.right], ['right in every trial', report.reliable]])}
<h2>Cases and trials</h2>
<div class="scroll"><table><thead><tr><th>case</th><th>trials</th><th class="number">right</th><th class="number">time p50</th><th class="number">p95</th><th class="number">tokens</th><th class="number">cost</th></tr></thead>
<tbody>${cases.map(formatCaseRow).join('\n')}</tbody></table></div>
<h2>Time${cases.length > maxCharted ? ` of the ${maxCharted} slowest cases` : ''}</h2>
${formatTimeChart(slowest)}
${wrong.length > 0 ? `<h2>What is wrong</h2>${wrong.map(formatWrong).join('\n')}` : ''}
</body>
</html>
`;
}

function formatFigures({ right, reliable, cost, latencyMs, cases, withoutResponse }: EvalReport): string {
  const trials = cases.reduce((sum, each) => sum + each.trials.length, 0);
  const figures = [
    ['right', right.rate === null ? 'not measured' : `${(100 * right.rate).toFixed(1)} %`, formatRate(right)],
    ['right in every trial', `${reliable.good} of ${reliable.total}`, `${trials} trials of ${cases.length} cases`],
    [
      'time',
      latencyMs ? formatSeconds(latencyMs.p50) : 'not measured',
      latencyMs ? `95th percentile ${formatSeconds(latencyMs.p95)}` : '',
    ],
    [
      'cost',
      `$${cost.usd.toFixed(4)}`,
      cost.judgeUsd > 0
        ? `judges $${cost.judgeUsd.toFixed(4)}`
        : cost.trialsWithoutPrice > 0
          ? `unknown in ${cost.trialsWithoutPrice} trials`
          : '',
    ],
    ['tokens', `${cost.inputTokens + cost.outputTokens}`, `${cost.inputTokens} in, ${cost.outputTokens} out`],
    ...(withoutResponse > 0 ? [['without response', String(withoutResponse), 'not measured']] : []),
  ];
  const cells = figures.map(
    ([name = '', value = '', detail = '']) =>
      `<div><span class="quiet">${formatHtmlText(name)}</span><b>${formatHtmlText(value)}</b><span class="quiet">${formatHtmlText(detail)}</span></div>`,
  );
  return `<div class="figures">${cells.join('')}</div>`;
}

const formatGate = ({ passed, why }: EvalGateResult): string =>
  `<li class="${passed ? 'passed' : 'failed'}">${passed ? 'passed' : 'failed'}: ${formatHtmlText(why)}</li>`;

const formatPaired = (comparison: EvalComparison): string =>
  `<h2>Comparison</h2><p class="${comparison.verdict === 'worse' ? 'failed' : ''}">${formatHtmlText(formatComparisonLine(comparison))}</p>`;

function formatCaseRow(each: EvalCaseResult): string {
  const { right, p50, p95, usd, tokens } = summarizeCase(each);
  const tags = each.tags.map((tag) => `<span class="tag">${formatHtmlText(tag)}</span>`).join('');
  return `<tr><td>${formatHtmlText(each.id)} ${each.must ? '<span class="tag">must</span>' : ''}${tags}</td><td>${each.trials.map(formatMark).join('')}</td><td class="number">${right.good} of ${right.total}</td><td class="number">${formatSeconds(p50)}</td><td class="number">${formatSeconds(p95)}</td><td class="number">${tokens}</td><td class="number">${usd === undefined ? 'unknown' : `$${usd.toFixed(4)}`}</td></tr>`;
}

/** The mark of a trial; the sign says the same as the colour. */
function formatMark({ trial, responded, right, errors, durationMs }: EvalTrial): string {
  const [kind, sign] = responded ? (right ? ['right', '✓'] : ['wrong', '✗']) : ['none', '–'];
  const title = `Trial ${trial}, ${formatSeconds(durationMs)}${errors.length > 0 ? `: ${errors.join(' ')}` : ''}`;
  return `<span class="trial ${kind}" title="${formatHtmlText(title.slice(0, 500))}">${sign}</span>`;
}

function formatWrong(each: EvalCaseResult): string {
  const trials = each.trials.filter(({ right }) => !right);
  const blocks = trials.map(({ trial, errors, text, trajectory = [], reason }) => {
    const steps = trajectory
      .map(({ tool, input, outcome }) => `${tool} ${canonicalJson(input)}: ${outcome}`)
      .join('\n');
    return [
      `<p><b>Trial ${trial}</b> (${formatHtmlText(reason)}): ${formatHtmlText(errors.join(' '))}</p>`,
      steps === '' ? '' : `<pre>${formatHtmlText(steps.slice(0, maxText))}</pre>`,
      text === '' ? '' : `<pre>${formatHtmlText(text.slice(0, maxText))}</pre>`,
    ].join('');
  });
  return `<details><summary><b>${formatHtmlText(each.id)}</b>: ${formatHtmlText(each.errors.join(' ').slice(0, 300))}</summary>${blocks.join('')}</details>`;
}

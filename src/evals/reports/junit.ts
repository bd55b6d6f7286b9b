// An eval report as JUnit XML, which CI systems show as tests: one test for each case, one for each gate.
import type { EvalGateResult } from '../gates.ts';
import type { EvalReport } from '../report.ts';
import type { EvalCaseResult } from '../results.ts';

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** Escapes text for XML; characters that XML 1.0 does not allow become U+FFFD. */
const escapeXml = (text: string): string =>
  text
    .replaceAll(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
    .replaceAll(/[&<>"']/g, (char) => entities[char] ?? char);

/** Escapes text for an attribute, in which a parser would turn line breaks and tabs into spaces. */
const escapeAttribute = (text: string): string =>
  escapeXml(text).replaceAll(/[\t\n\r]/g, (char) => `&#${char.charCodeAt(0)};`);

const maxText = 4000;

/** Formats a report as JUnit XML. */
export function formatJunitReport(report: EvalReport, gates: readonly EvalGateResult[] = []): string {
  const { cases } = report;
  const failures =
    cases.filter((each) => each.responded && !each.right).length + gates.filter((each) => !each.passed).length;
  const errors = cases.filter((each) => !each.responded).length;
  const seconds = cases.flatMap(({ trials }) => trials).reduce((sum, { durationMs }) => sum + durationMs, 0) / 1000;
  const suite = [
    `name="${escapeAttribute(report.dataset)}"`,
    `tests="${cases.length + gates.length}"`,
    `failures="${failures}"`,
    `errors="${errors}"`,
    `time="${seconds.toFixed(3)}"`,
    `timestamp="${escapeAttribute(report.when)}"`,
  ].join(' ');
  return [
    '<?xml version="1.0" encoding="UTF-8"?>\n',
    `<testsuites>\n<testsuite ${suite}>\n`,
    `<properties><property name="model" value="${escapeAttribute(report.model)}"/></properties>\n`,
    ...cases.map((each) => formatCase(each, report)),
    ...gates.map(formatGate),
    '</testsuite>\n</testsuites>\n',
  ].join('');
}

function formatCase(each: EvalCaseResult, { dataset }: EvalReport): string {
  const seconds = each.trials.reduce((sum, { durationMs }) => sum + durationMs, 0) / 1000;
  const open = `<testcase classname="${escapeAttribute(dataset)}" name="${escapeAttribute(each.id)}" time="${seconds.toFixed(3)}"`;
  if (each.right) return `${open}/>\n`;
  const wrong = each.trials.filter(({ responded, right }) => responded && !right).length;
  const message = `${each.trials.length > 1 ? `${wrong} of ${each.trials.length} trials: ` : ''}${each.errors.join(' ')}`;
  const kind = each.responded ? 'failure' : 'error';
  const text = each.text === '' ? '' : `It said: ${each.text.slice(0, maxText)}`;
  return `${open}><${kind} message="${escapeAttribute(message.slice(0, maxText))}">${escapeXml(text)}</${kind}></testcase>\n`;
}

function formatGate({ gate, passed, why }: EvalGateResult): string {
  const open = `<testcase classname="gates" name="${escapeAttribute(getGateName(gate))}"`;
  return passed ? `${open}/>\n` : `${open}><failure message="${escapeAttribute(why)}"/></testcase>\n`;
}

/** The name of a gate; a value and the lower end of an interval are two. */
function getGateName(gate: EvalGateResult['gate']): string {
  if (gate.type === 'comparison') return `comparison with ${gate.with}`;
  if (gate.type !== 'rate') return gate.type;
  return `rate${gate.tag === undefined ? '' : ` of ${gate.tag}`}${gate.bound === 'lower' ? ', lower end of the interval' : ''}`;
}

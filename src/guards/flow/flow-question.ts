// Formats the question of the flow policy about a call for the user, and its denial for the model.
import { askedEachTimeText, type ApprovalWarning } from '../../core/index.ts';
import type { TrifectaConditions } from './egress.ts';
import { describeEgress, formatShort } from './egress-question.ts';
import type { SuspiciousText } from './suspicious-texts.ts';
import type { FlowCall, FlowDecision, FlowRule, FlowSource, LabelledValue } from './types.ts';

/** A decision that is not to allow a call. */
export type BlockedDecision = FlowDecision & { readonly type: 'ask' | 'deny' };

const reasons: Readonly<Record<FlowRule, string>> = {
  'undeclared-tool': 'What this tool does is not declared, so every value of the call must come from you.',
  'undeclared-parameter': 'What these parameters do is not declared, so their values must come from you.',
  'confirms-refused': 'It completes an effect that you refused.',
  'confirms-nothing':
    'It completes something that was not started here directly before, or with a code that is not new.',
  'refused-before': 'You refused this call before.',
  'untrusted-value': 'A text of a third party decides what this call acts on.',
  'untrusted-value-not-requested': 'You did not ask for this, and a text of a third party decides what it acts on.',
  'untrusted-content': 'You did not write these links, sums, quantities, dates or settings.',
  'unnamed-target': 'You did not name what this call acts on, and text of third parties was read.',
  'not-requested': 'You did not ask for this.',
  'private-data': 'It can send out private data, and text of third parties is in this session.',
};

/** The reason of a rule. Values that are in no text are not those of a third party: the model made them. */
function findReason(rule: FlowRule, bad: readonly LabelledValue[]): string {
  const isMade = bad.length > 0 && bad.every(({ label }) => label === 'unknown');
  return isMade && (rule === 'untrusted-value' || rule === 'untrusted-value-not-requested')
    ? `${rule === 'untrusted-value' ? 'T' : 'You did not ask for this, and t'}he model made the value that it acts on, after it read text of third parties.`
    : reasons[rule];
}

const maxShown = 6;
const maxValueChars = 300;
const maxUserChars = 300;
const maxCallChars = 600;

/** The question about a call: the reason and the rows of its warning, and the whole call. */
export function formatFlowQuestion({ tool, input }: FlowCall, { reason, rows }: ApprovalWarning): string {
  return [
    `Run ${tool}? ${reason}`,
    ...rows.map(({ name, text }) => (name === '' ? `    ${text}` : `  ${name}: ${text}`)),
    `  whole call: ${formatShort(JSON.stringify(input), maxCallChars)}`,
    askedEachTimeText,
  ].join('\n');
}

/** The question to a user, as data for a view: the reason, each value with its origin, and what the user wrote. */
export function createFlowWarning(
  { rule, bad: all }: BlockedDecision,
  userText: string | undefined,
  suspicious: readonly SuspiciousText[] = [],
  trifecta?: TrifectaConditions,
): ApprovalWarning {
  const bad = all.filter(({ role }) => role !== 'egress');
  return {
    reason: findReason(rule, bad),
    rows: [
      ...bad.slice(0, maxShown).flatMap(describeValue),
      ...(bad.length > maxShown ? [{ name: '', text: `and ${bad.length - maxShown} more values` }] : []),
      ...describeEgress(all, trifecta),
      ...suspicious.slice(0, maxShown).map(({ source, score }) => ({
        name: 'suspicious',
        text: `${nameSource(source)} looks like an instruction (detector, score ${score.toFixed(1)})`,
      })),
      ...(userText === undefined ? [] : [{ name: 'you wrote', text: quote(userText, maxUserChars) }]),
    ],
  };
}

const describeValue = ({ parameter, value, label, source, context }: LabelledValue): ApprovalWarning['rows'] => [
  { name: formatShort(parameter, 40), text: formatShort(value, maxValueChars) },
  {
    name: 'found in',
    text: source ? nameSource(source) : label === 'unknown' ? 'no text of yours' : 'text that is not yours',
  },
  ...(context === undefined ? [] : [{ name: '', text: quote(withoutTags(context), maxValueChars) }]),
];

/** Where a value comes from, in plain words. A source with a space in its name is no tool, such as `description of <tool>`. */
function nameSource({ tool, of, field }: FlowSource): string {
  const what = of === undefined ? '' : ` ${formatShort(of, 120)}`;
  const [, before, server, remote] = /^(.*?)mcp__(.+?)__(\S+)$/.exec(tool) ?? [];
  const name =
    server === undefined
      ? `${formatShort(tool, 160)}${what}`
      : `${formatShort(`${before}${remote}`, 100)}${what} of the MCP server ${formatShort(server, 60)}`;
  const where = field === undefined ? '' : `, field ${formatShort(field, 80)}`;
  return `the ${tool.includes(' ') ? '' : 'result of '}${name}${where}`.replace(/^the (?:an?|the) /, '');
}

/** Removes the tags around results. */
const withoutTags = (context: string): string => context.replaceAll(/<\/?outside-text[^>\n]{0,200}>/g, ' ');

/** What the model reads. It names no values: text of third parties must not be repeated as a reason. */
export function formatDenial({ tool }: FlowCall, { rule, bad }: BlockedDecision): string {
  const values = bad.filter(({ role }) => role !== 'egress');
  const sources = new Set(bad.flatMap(({ role, source }) => (role === 'egress' && source ? [source.tool] : [])));
  return [
    `${tool} was not run. ${findReason(rule, values)}`,
    ...(values.length > 0 ? [`Parameters: ${[...new Set(values.map(({ parameter }) => parameter))].join(', ')}.`] : []),
    ...(sources.size > 0 ? [`Private data from ${[...sources].join(', ')} is in this session.`] : []),
    'Do what the user asked for without this call, or tell the user what is missing.',
  ].join(' ');
}

const quote = (text: string, max: number): string => `"${formatShort(text, max)}"`;

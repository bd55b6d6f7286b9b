// `policy explain`: shows the labels and sources of the values of each call of a recorded session, and what the flow policy decides about it.
import {
  escapeInvisibleLine,
  FairleadError,
  formatColumns,
  formatFlowReview,
  truncateMiddle,
} from '../../../core/index.ts';
import { explainSession, formatTrifecta, type ExplainedCall, type LabelledValue } from '../../../guards/flow/index.ts';
import { listKnownTools } from '../../../coding-agent/flow/index.ts';
import { readSettings } from '../../../coding-agent/settings/index.ts';
import { findRecordedSessions, getDirectoryOfEvents, readRecordedEvents } from '../../../evals/index.ts';
import { print } from '../../args/stdio.ts';
import { withOptions } from '../../args/with-usage.ts';

const usage = `Usage: fairlead policy explain <session> [call] [--json]

Reads the log of a session, in any mode of the flow policy, also observe and off. Without a call it lists all calls that the policy asks about, and the counts;
with a call (its id, or its number in the session) all values of that call.`;

const maxValueChars = 120;

/** Explains a session or a call; exit code 0 done, 1 failed, 2 invalid arguments. */
export const explainCommand: (args: readonly string[]) => Promise<number> = withOptions(
  { usage, options: { json: { type: 'boolean', default: false } } as const, allowPositionals: true },
  async ({ json }, [name, wanted, ...more]) => {
    if (name === undefined || more.length > 0) throw new TypeError('One session, and at most one call, is needed.');
    const settings = readSettings();
    const [file] = findRecordedSessions([name], settings);
    if (!file) throw new FairleadError('sessions/none', `There is no session ${name}.`, { blame: 'user' });
    const events = await readRecordedEvents(file);
    const cwd = getDirectoryOfEvents(events);
    const { declarations } = await listKnownTools(settings, cwd);
    const explained = explainSession(events, declarations, { roots: [cwd] });
    const calls = explained.calls.map((call, i) => ({ ...call, number: i + 1 }));
    if (wanted !== undefined) {
      const found = calls.filter(({ id, number }) => id === wanted || String(number) === wanted);
      if (found.length === 0)
        throw new FairleadError('sessions/no-call', `The session has no call ${escapeInvisibleLine(wanted)}.`, {
          blame: 'user',
        });
      print(json ? `${JSON.stringify(found, undefined, 2)}\n` : found.map((call) => formatCall(call)).join('\n'));
      return 0;
    }
    if (json) {
      print(`${JSON.stringify({ ...explained, calls }, undefined, 2)}\n`);
      return 0;
    }
    for (const call of calls) if (call.decision.type !== 'allow') print(`${formatCall(call)}\n`);
    const { allow, ask, deny } = explained.counts;
    const rules = Object.entries(explained.byRule).map(([rule, count]) => `${count} ${rule}`);
    print(
      `${calls.length} calls: ${allow} allowed, ${ask} asked about, ${deny} denied by the flow policy.${rules.length > 0 ? ` Rules: ${rules.join(', ')}.` : ''}\n`,
    );
    const trifecta = formatTrifecta(
      explained.trifecta,
      calls.flatMap(({ destinations = [] }) => destinations),
    );
    print(formatColumns(trifecta));
    return 0;
  },
);

function formatCall({
  number,
  id,
  tool,
  turn,
  decision,
  outcome,
  wasAsked,
  review,
  destinations = [],
}: ExplainedCall & { number: number }): string {
  const verdict =
    decision.type === 'allow' ? 'allowed' : `${decision.type === 'ask' ? 'asked about' : 'denied'}: ${decision.rule}`;
  const inLog = `${outcome === undefined ? 'no result in the log' : `${outcome} in the log`}${wasAsked ? ', the user was asked' : ''}`;
  const rows = decision.values.map((value) => [
    `  ${escapeInvisibleLine(value.parameter)}`,
    value.role,
    value.label,
    `"${escapeInvisibleLine(truncateMiddle(value.value, maxValueChars))}"`,
    formatSource(value),
  ]);
  const bad = decision.type === 'allow' ? [] : decision.bad;
  const contexts = bad.flatMap(({ parameter, context }) =>
    context === undefined
      ? []
      : [`  ${parameter} stands in: "${escapeInvisibleLine(truncateMiddle(context.replaceAll(/\s+/g, ' '), 300))}"\n`],
  );
  const egress = bad.filter(({ role }) => role === 'egress');
  const ways = [
    ...(destinations.length > 0 ? [`  can carry data to: ${escapeInvisibleLine(destinations.join(', '))}\n`] : []),
    ...egress.map(
      ({ parameter, source }) =>
        `  private data for ${escapeInvisibleLine(parameter)}: ${escapeInvisibleLine(`${source?.tool ?? ''} ${source?.of ?? ''}`.trim())}\n`,
    ),
  ];
  return `${number}. ${escapeInvisibleLine(tool)} (turn ${turn}, call ${id}): ${verdict}; ${inLog}\n${formatColumns(rows)}${contexts.join('')}${ways.join('')}${review ? `  ${formatFlowReview(review)}\n` : ''}`;
}

const formatSource = ({ source }: LabelledValue): string =>
  source === undefined
    ? ''
    : `from ${escapeInvisibleLine(source.tool)}${source.field === undefined ? '' : `, field ${escapeInvisibleLine(source.field)}`}${source.call === '' ? '' : `, call ${source.call}`}`;

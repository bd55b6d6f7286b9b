// Formats the explanation of a turn as text.
import { escapeInvisible } from '../core/index.ts';
import { formatToolInput } from '../sessions/index.ts';
import type { CheckVerdict, ExplainedNote, TurnExplanation, HeldCall } from './explain-turn.ts';

/** Formats an explanation. */
export function formatTurnExplanation({ turn, shown, waited, expired, held, verdicts }: TurnExplanation): string {
  const none = shown.length + waited.length + expired.length + held.length + verdicts.length === 0;
  const blocks = [
    ...formatNotes(`Turn ${turn} showed the model ${formatCount(shown, 'note')}:`, shown),
    ...formatNotes('These had to wait for a later turn:', waited),
    ...formatNotes('These were never shown, because their time was over:', expired),
    ...(held.length ? ['Of its calls:', ...held.map(formatHeldCall)] : []),
    ...(verdicts.length ? ['Of its answer:', ...verdicts.map(formatVerdict)] : []),
  ];
  return escapeInvisible(
    none ? `Turn ${turn} showed the model no notes, and none of its calls was held up.` : blocks.join('\n'),
  );
}

function formatVerdict({ check, verdict, seq }: CheckVerdict): string {
  const name = `  the check ${check} (event ${seq})`;
  if (verdict.type === 'abstained' || (verdict.type === 'failed' && !verdict.claims))
    return `${name}: ${verdict.type}. ${verdict.why}`;
  const title = verdict.type === 'failed' ? 'sent it back' : 'let it pass, with statements that are not confirmed';
  const claims = (verdict.claims ?? []).map(({ text, why, events = [] }) => {
    const evidence = events.length > 0 ? ` Evidence: event ${events.join(', ')}.` : '';
    return `    "${text.replaceAll(/\s+/g, ' ')}" ${why}${evidence}`;
  });
  return [`${name} ${title}:`, ...claims].join('\n');
}

const formatCount = (list: readonly unknown[], what: string): string =>
  `${list.length} ${what}${list.length === 1 ? '' : 's'}`;

const formatNotes = (title: string, notes: readonly ExplainedNote[]): readonly string[] =>
  notes.length ? [title, ...notes.map(formatNote)] : [];

function formatNote({ rule, key, text, priority, group, until, from }: ExplainedNote): string {
  const source = from
    ? `at ${from.event}${from.about === undefined ? '' : ` of ${from.about}`} (event ${from.seq}, turn ${from.turn})`
    : 'by a rule that is not in use here now';
  const more = [
    `priority ${priority}`,
    ...(group === undefined ? [] : [`group ${group}`]),
    ...(until === undefined ? [] : [`until turn ${until}`]),
    ...(key === rule ? [] : [`key ${key}`]),
  ].join(', ');
  return `  ${rule}: ${source}; ${more}\n    ${text.replaceAll('\n', '\n    ')}`;
}

function formatHeldCall({ tool, input, refused, by, asked, answered, reviewed }: HeldCall): string {
  const lines = [
    ...(asked === undefined
      ? []
      : [`asked: ${asked}${answered === undefined ? ' (no answer yet)' : ` (${answered})`}`]),
    ...(reviewed === undefined ? [] : [reviewed]),
    ...(refused === undefined ? [] : [`refused by ${by}: ${refused}`]),
  ];
  return [`  ${tool} ${formatToolInput(input)}`, ...lines.map((line) => `    ${line.replaceAll('\n', '\n    ')}`)].join(
    '\n',
  );
}

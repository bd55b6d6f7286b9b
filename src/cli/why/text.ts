// An explanation of a turn as lines that a person reads.
import { escapeInvisible } from '../../core/index.ts';
import { formatToolInput } from '../face/wording.ts';
import type { Explained, Explanation, Held } from './explanation.ts';

/** The explanation in words. */
export function explanationText({ turn, shown, waited, expired, held }: Explanation): string {
  const none = shown.length + waited.length + expired.length + held.length === 0;
  const blocks = [
    ...part(`Turn ${turn} showed the model ${count(shown, 'note')}:`, shown),
    ...part('These had to wait for a later turn:', waited),
    ...part('These were never shown, because their time was over:', expired),
    ...(held.length ? ['Of its calls:', ...held.map(heldText)] : []),
  ];
  return escapeInvisible(
    none ? `Turn ${turn} showed the model no notes, and none of its calls was held up.` : blocks.join('\n'),
  );
}

const count = (list: readonly unknown[], what: string): string =>
  `${list.length} ${what}${list.length === 1 ? '' : 's'}`;

const part = (title: string, notes: readonly Explained[]): readonly string[] =>
  notes.length ? [title, ...notes.map(noteText)] : [];

function noteText({ rule, key, text, priority, group, until, from }: Explained): string {
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

function heldText({ tool, input, refused, by, asked, answered }: Held): string {
  const lines = [
    ...(asked === undefined
      ? []
      : [`asked: ${asked}${answered === undefined ? ' (no answer yet)' : ` (${answered})`}`]),
    ...(refused === undefined ? [] : [`refused by ${by}: ${refused}`]),
  ];
  return [`  ${tool} ${formatToolInput(input)}`, ...lines.map((line) => `    ${line.replaceAll('\n', '\n    ')}`)].join(
    '\n',
  );
}

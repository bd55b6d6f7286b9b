// Formats the part of a question that is about private data: its sources, the untrusted text in the session, and where the call sends to.
import { escapeInvisible, truncateMiddle } from '../../core/index.ts';
import type { ConditionSource, TrifectaConditions } from './egress.ts';
import type { FlowSource, LabelledValue } from './types.ts';

const maxSources = 4;
const maxNameChars = 120;

/** A text on one line, shortened in its middle, with invisible characters shown. */
export const formatShort = (text: string, max: number = maxNameChars): string =>
  escapeInvisible(truncateMiddle(text.replaceAll(/\s+/g, ' ').trim(), max));

/** Names a source: the tool, and the file or address that it read. */
export const formatSource = ({ tool, of, why }: FlowSource): string =>
  `${formatShort(tool)}${of === undefined ? '' : ` ${formatShort(of)}`}${why === undefined || why === 'private' ? '' : ` (${formatShort(why)})`}`;

/** Lists sources by tool: those of a tool with many are counted. */
export function formatSources(sources: readonly ConditionSource[]): string {
  const byTool = Map.groupBy(sources, ({ source }) => source.tool);
  const names = [...byTool].flatMap(([tool, list]) =>
    list.length > 2
      ? [`${formatShort(tool)} (${list.reduce((sum, { results }) => sum + results, 0)} results)`]
      : list.map(({ source, results }) => `${formatSource(source)}${results > 1 ? ` (${results} results)` : ''}`),
  );
  const shown = names.slice(0, maxSources);
  return names.length > shown.length ? `${shown.join(', ')} and ${names.length - shown.length} more` : shown.join(', ');
}

/** The lines about private data, untrusted text and ways out of a session, each with its name. */
export function formatTrifecta(
  { private: data, untrusted }: TrifectaConditions,
  destinations: readonly string[],
): readonly (readonly [name: string, text: string])[] {
  const ways = [...new Set(destinations)];
  const shown = ways
    .slice(0, maxSources)
    .map((each) => formatShort(each))
    .join(', ');
  return [
    ['private data', formatSources(data) || 'none'],
    ['untrusted text', formatSources(untrusted) || 'none'],
    ['ways out used', ways.length > maxSources ? `${shown} and ${ways.length - maxSources} more` : shown || 'none'],
    [
      'egress',
      data.length > 0 && untrusted.length > 0
        ? 'locked: calls that can send data out need an approval for each destination and source of private data'
        : 'open: private data and untrusted text are not both in this session',
    ],
  ];
}

/** The private data, the untrusted text and the destinations of values with the role `egress`, each with its name; none if there are none. */
export function describeEgress(
  bad: readonly LabelledValue[],
  trifecta: TrifectaConditions | undefined,
): readonly { readonly name: string; readonly text: string }[] {
  const egress = bad.filter(({ role }) => role === 'egress');
  if (egress.length === 0) return [];
  const places = [...new Set(egress.map(({ parameter }) => parameter))];
  const asked = new Set(egress.map(({ source }) => source?.call));
  const data = trifecta?.private.filter(({ source }) => asked.has(source.call)) ?? [];
  const shown = places
    .slice(0, maxSources)
    .map((each) => formatShort(each))
    .join(', ');
  return [
    { name: 'private data', text: formatSources(data) || 'this session' },
    { name: 'untrusted text', text: formatSources(trifecta?.untrusted ?? []) || 'third parties' },
    {
      name: 'sends to',
      text: places.length > maxSources ? `${shown} and ${places.length - maxSources} more` : shown,
    },
    { name: '', text: 'A yes counts for this destination and this data.' },
  ];
}

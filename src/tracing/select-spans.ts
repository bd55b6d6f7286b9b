// Selects the spans that a response contains: the latest, or those that changed since a time, with the spans above them and short texts.
import type { Json } from '../core/index.ts';
import type { Span } from './span.ts';

/** Which spans are selected. */
export type SpanSelection = {
  /** Only spans that had not ended at this time, in milliseconds since 1970. */
  readonly since?: number | undefined;
  /** The max number of spans, besides the spans above them. */
  readonly maxSpans: number;
};

/** Returns the latest of the selected spans in their order, with all spans above them. */
export function selectSpans(spans: readonly Span[], { since, maxSpans }: SpanSelection): readonly Span[] {
  const wanted = since === undefined ? spans : spans.filter(({ end }) => end === undefined || end >= since);
  if (wanted.length === spans.length && spans.length <= maxSpans) return spans;
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const kept = new Set<Span>();
  for (const span of wanted.slice(-maxSpans))
    for (
      let each: Span | undefined = span;
      each && !kept.has(each);
      each = each.parentId === undefined ? undefined : byId.get(each.parentId)
    )
      kept.add(each);
  return spans.filter((span) => kept.has(span));
}

/** The max characters of a text, of all arguments together, and of a string in them. */
export type TextLimits = { readonly text: number; readonly arguments: number; readonly string: number };

/** Texts for one line in a list of spans. */
export const listTextLimits: TextLimits = { text: 300, arguments: 600, string: 160 };
/** Texts of one span. */
export const detailTextLimits: TextLimits = { text: 20_000, arguments: 60_000, string: 20_000 };

/** Returns a span with short texts: the error, the arguments of a call, and why a gate or a check decided; the result of a call only with `hasResult`. Messages are left out: the request of a turn has them. */
export function shortenSpan(span: Span, limits: TextLimits, hasResult: boolean): Span {
  const { content, errorMessage, ...rest } = span;
  const { arguments: input, explanation, result } = content ?? {};
  const args = input === undefined ? undefined : shortenJson(input, limits.string, 0);
  const short = {
    ...(args !== undefined && JSON.stringify(args).length <= limits.arguments ? { arguments: args } : {}),
    ...(explanation === undefined ? {} : { explanation: cut(explanation, limits.text) }),
    ...(result === undefined || !hasResult ? {} : { result: cut(result, limits.text) }),
  };
  return {
    ...rest,
    ...(errorMessage === undefined ? {} : { errorMessage: cut(errorMessage, limits.text) }),
    ...(Object.keys(short).length === 0 ? {} : { content: short }),
  };
}

const cut = (text: string, max: number): string =>
  text.length <= max ? text : `${text.slice(0, max).toWellFormed()}…`;

function shortenJson(value: Json, max: number, depth: number): Json {
  if (typeof value === 'string') return cut(value, max);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > 20) return '…';
  if (Array.isArray(value)) return value.map((each: Json) => shortenJson(each, max, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, shortenJson(each, max, depth + 1)]));
}

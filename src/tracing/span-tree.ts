// Arranges spans as trees, and says what each is, how it ended and what it cost. It has no dependencies, so that the dashboard uses it too.
import type { Span } from './span.ts';

/** A span with the spans below it. */
export type SpanTree = { readonly span: Span; readonly children: readonly SpanTree[] };

/** Arranges spans as trees, in the order of their starts. A span whose parent is not among them is a root. */
export function arrangeSpans(spans: readonly Span[]): readonly SpanTree[] {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const children = new Map<string, Span[]>();
  for (const span of spans) {
    const parent = span.parentId !== undefined && ids.has(span.parentId) ? span.parentId : '';
    const siblings = children.get(parent);
    if (siblings) siblings.push(span);
    else children.set(parent, [span]);
  }
  const arrange = (id: string, depth: number): readonly SpanTree[] =>
    depth > 100 ? [] : (children.get(id) ?? []).map((span) => ({ span, children: arrange(span.spanId, depth + 1) }));
  return arrange('', 0);
}

/** A parent comes before a child that starts in the same millisecond. */
const rank = ({ kind }: Span): number => (['workflow', 'step', 'run', 'turn'].indexOf(kind) + 5) % 5;

/** The order of spans: by their start, and a parent before its children. */
export const compareSpans = (a: Span, b: Span): number => a.start - b.start || rank(a) - rank(b);

/** How a span ended: `open` has not, `denied` is a call that a gate or the user stopped, `failed` has an error. */
export type SpanStatus = 'ok' | 'failed' | 'denied' | 'open';

/** Returns how a span ended. */
export function getSpanStatus({ kind, error, end, details }: Span): SpanStatus {
  if (error === 'denied' || (kind === 'gate' && details.gate?.action === 'block')) return 'denied';
  if (error !== undefined) return 'failed';
  return end === undefined ? 'open' : 'ok';
}

const formatIso = (time: number): string => new Date(time).toISOString().slice(0, 19).replace('T', ' ');

/** Says in a few words what a span is, without its error. The text is not escaped. */
export function describeSpan(
  { kind, name, details, start }: Span,
  formatStart: (time: number) => string = formatIso,
): string {
  switch (kind) {
    case 'run':
      return `${name} ${formatStart(start)}${details.stopReason === undefined ? '' : ` (${details.stopReason})`}`;
    case 'model': {
      const { cacheRead } = details.usage ?? {};
      return `model ${details.responseModel ?? name}${cacheRead ? `, ${formatTokenCount(cacheRead)} cached` : ''}`;
    }
    case 'gate': {
      const { component, name: rule, verdict, action } = details.gate ?? { component: name, verdict: '' };
      const answered =
        verdict === 'escalate'
          ? `asked${action === undefined ? '' : action === 'allow' ? ', allowed' : ', rejected'}`
          : verdict === 'deny'
            ? 'denied'
            : 'changed';
      return `gate ${component}${rule === undefined ? '' : ` ${rule}`}: ${answered} ${details.tool ?? ''}`;
    }
    case 'check':
      return `check ${name}: ${details.check?.verdict ?? ''}`;
    case 'tool':
      return `tool ${name}`;
    case 'request':
      return `request ${name}`;
    case 'workflow':
    case 'step':
    case 'turn':
    case 'compaction':
      return `${kind === 'step' ? 'step ' : ''}${name}`;
  }
}

/** The tokens and the money of spans; `usd` is absent if no price is known. */
export type SpanCost = { readonly input: number; readonly output: number; readonly usd: number | undefined };

/** The cost of one span. Only requests to models have tokens and cost: those of a sub-agent are on its own spans. */
export const getSpanCost = ({ kind, details: { usage, usd } }: Span): SpanCost =>
  kind === 'model' || kind === 'request' || kind === 'compaction'
    ? { input: usage?.input ?? 0, output: usage?.output ?? 0, usd }
    : { input: 0, output: 0, usd: undefined };

/** The cost of a span with all spans below it. */
export const sumTreeCost = ({ span, children }: SpanTree): SpanCost =>
  children.reduce<SpanCost>((sum, child) => addCost(sum, sumTreeCost(child)), getSpanCost(span));

const addCost = (a: SpanCost, b: SpanCost): SpanCost => ({
  input: a.input + b.input,
  output: a.output + b.output,
  usd: a.usd === undefined ? b.usd : a.usd + (b.usd ?? 0),
});

/** Formats a number of tokens in a few characters. */
export const formatTokenCount = (count: number): string => {
  if (count < 10_000) return String(count);
  return count < 1_000_000 ? `${(count / 1000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(1)}M`;
};

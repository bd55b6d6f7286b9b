// Turns the spans of a session into the rows of the waterfall, with depth, cost and marks, and maps times to places on the axis.
import type { Span } from '../../../src/tracing/index.ts';
import {
  arrangeSpans,
  compareSpans,
  getSpanCost,
  getSpanStatus,
  sumTreeCost,
  type SpanCost,
  type SpanStatus,
  type SpanTree,
} from '../../../src/tracing/span-tree.ts';

/** A row of the waterfall. */
export type TraceRow = {
  readonly span: Span;
  readonly depth: number;
  readonly status: SpanStatus;
  /** Absent for a span without spans below it. */
  readonly isOpen?: boolean;
  /** The row of the parent, or -1. */
  readonly parent: number;
  /** Its place among its siblings, from 1, and their number. */
  readonly place: readonly [number, number];
  readonly cost: SpanCost;
  /** Failed and denied spans below a row that is closed. */
  readonly hidden: { readonly failed: number; readonly denied: number };
};

/** Up to this number of spans, every row is open at first. */
const maxOpenSpans = 200;

/** A tree with what is below each span, computed once for each load. */
export type TraceTree = {
  readonly span: Span;
  readonly status: SpanStatus;
  readonly children: readonly TraceTree[];
  readonly cost: SpanCost;
  readonly failed: number;
  readonly denied: number;
};

/** Adds spans that changed to those of before. */
export function mergeSpans(before: readonly Span[], changed: readonly Span[]): readonly Span[] {
  const byId = new Map(before.map((span) => [span.spanId, span]));
  for (const span of changed) byId.set(span.spanId, span);
  return [...byId.values()].toSorted(compareSpans);
}

/** Arranges spans as trees; with `run`, only those of that run if there are any. */
export function createTraceTrees(spans: readonly Span[], run?: string): readonly TraceTree[] {
  const trees = arrangeSpans(spans);
  const ofRun = run === undefined ? [] : trees.filter(({ span }) => span.details.run === run);
  return (ofRun.length > 0 ? ofRun : trees).map(toTraceTree);
}

function toTraceTree(tree: SpanTree): TraceTree {
  const children = tree.children.map(toTraceTree);
  const count = (status: SpanStatus, key: 'failed' | 'denied'): number =>
    children.reduce((sum, child) => sum + child[key] + (child.status === status ? 1 : 0), 0);
  return {
    span: tree.span,
    status: getSpanStatus(tree.span),
    children,
    cost: sumTreeCost(tree),
    failed: count('failed', 'failed'),
    denied: count('denied', 'denied'),
  };
}

/** The number of spans in trees. */
export const countSpans = (trees: readonly TraceTree[]): number =>
  trees.reduce((sum, { children }) => sum + 1 + countSpans(children), 0);

/** Returns the visible rows. `toggled` has the rows that the user opened or closed; in a long trace, turns without errors and denials are closed at first. */
export function createTraceRows(
  trees: readonly TraceTree[],
  toggled: ReadonlyMap<string, boolean>,
): readonly TraceRow[] {
  const isLong = countSpans(trees) > maxOpenSpans;
  const rows: TraceRow[] = [];
  const add = (siblings: readonly TraceTree[], depth: number, parent: number): void => {
    for (const [i, tree] of siblings.entries()) {
      const { span, children, status, failed, denied } = tree;
      const byDefault = !isLong || span.kind !== 'turn' || failed + denied > 0;
      const isOpen = toggled.get(span.spanId) ?? byDefault;
      const hasSum = !isOpen || span.kind === 'run' || span.kind === 'workflow';
      const at = rows.push({
        span,
        depth,
        status,
        ...(children.length > 0 ? { isOpen } : {}),
        parent,
        place: [i + 1, siblings.length],
        cost: hasSum ? tree.cost : getSpanCost(span),
        hidden: isOpen ? { failed: 0, denied: 0 } : { failed, denied },
      });
      if (isOpen) add(children, depth + 1, at - 1);
    }
  };
  add(trees, 0, -1);
  return rows;
}

/** The ids of all spans that have spans below them. */
export const listParents = (trees: readonly TraceTree[]): readonly string[] =>
  trees.flatMap(({ span, children }) => (children.length > 0 ? [span.spanId, ...listParents(children)] : []));

/** The axis: the time in which at least one span lasted. Time between runs is left out. */
export type TraceAxis = {
  readonly total: number;
  /** Whether time was left out. */
  readonly hasGaps: boolean;
  /** Milliseconds from the start of the axis. */
  readonly position: (time: number) => number;
};

/** Creates the axis of trees; a span that has not ended lasts until `now`. */
export function createTraceAxis(trees: readonly TraceTree[], now: number): TraceAxis {
  const parts: { from: number; to: number; before: number }[] = [];
  // A root lasts at least as long as what is below it, except for spans that a crash interrupted.
  const ranges = trees.map((tree) => ({ from: tree.span.start, to: findEnd(tree, now) }));
  for (const { from, to } of ranges.toSorted((a, b) => a.from - b.from)) {
    const last = parts.at(-1);
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else parts.push({ from, to, before: last ? last.before + last.to - last.from : 0 });
  }
  const last = parts.at(-1);
  return {
    total: Math.max(1, last ? last.before + last.to - last.from : 0),
    hasGaps: parts.length > 1,
    position(time) {
      const part = parts.findLast(({ from }) => from <= time) ?? parts[0];
      return part ? part.before + Math.max(0, Math.min(time, part.to) - part.from) : 0;
    },
  };
}

const findEnd = ({ span, children }: TraceTree, now: number): number =>
  children.reduce((last, child) => Math.max(last, findEnd(child, now)), span.end ?? Math.max(span.start, now));

/** The last time that a span started or ended; 0 without spans. */
export const findLastTime = (spans: readonly Span[]): number =>
  spans.reduce((last, { start, end = start }) => Math.max(last, end), 0);

/** The row that a key moves to, or whether it opens or closes the row; undefined for other keys. */
export function findMove(
  key: string,
  at: number,
  row: Pick<TraceRow, 'isOpen' | 'parent'> | undefined,
  page: number,
  count: number,
): number | 'open' | 'close' | undefined {
  switch (key) {
    case 'ArrowDown':
      return at + 1;
    case 'ArrowUp':
      return at - 1;
    case 'PageDown':
      return at + page;
    case 'PageUp':
      return at - page;
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    case 'ArrowRight':
      return row?.isOpen === undefined ? at : row.isOpen ? at + 1 : 'open';
    case 'ArrowLeft':
      return row?.isOpen ? 'close' : row && row.parent >= 0 ? row.parent : at;
    case 'Enter':
    case ' ':
      return row?.isOpen === undefined ? undefined : row.isOpen ? 'close' : 'open';
    default:
      return undefined;
  }
}

// Lazily folded states of an agent's views, as part of the run state and of baselines.
import { FairleadError } from './errors.ts';
import type { Baseline, Event } from './fact.ts';
import type { Json } from './json.ts';
import type { NamedView } from './ports.ts';
import type { RunState } from './state.ts';

/**
 * The views of an agent and their states at an event. Views are pure, so each is folded only when it is read:
 * `values` holds the folded states, and `before` links to the version from which a fold continues.
 */
export type ViewStates = {
  readonly views: readonly NamedView<unknown>[];
  readonly event: Event | undefined;
  readonly values: unknown[];
  previous: ViewStates | undefined;
  /** Views that have not been read yet. */
  unfolded: number;
  /** Number of events since all views were folded. */
  readonly eventsBehind: number;
};

/** Max unfolded events: the events would stay in memory otherwise. */
const maxEventsBehind = 50_000;

const NOT_FOLDED = Symbol('not folded yet');

/** Creates the initial states. */
export const initialViewStates = (views: readonly NamedView<unknown>[]): ViewStates =>
  createViewStates(
    views,
    views.map(({ initial }) => initial),
  );

const createViewStates = (views: ViewStates['views'], values: unknown[]): ViewStates => ({
  views,
  event: undefined,
  values,
  previous: undefined,
  unfolded: 0,
  eventsBehind: 0,
});

/** Returns the states after one more event. A fold that starts at an epoch restores what its baseline stored. */
export function advanceViews(seen: ViewStates, event: Event, isFirst: boolean): ViewStates {
  const { views } = seen;
  if (views.length === 0) return seen;
  const kept = isFirst && event.type === 'epoch-started' ? event.baseline?.views : undefined;
  const before = kept
    ? createViewStates(
        views,
        views.map((view) => restoreView(view, kept)),
      )
    : seen;
  const behind = before.unfolded === 0 ? 1 : before.eventsBehind + 1;
  const next: ViewStates = {
    views,
    event,
    values: views.map(() => NOT_FOLDED),
    previous: before,
    unfolded: views.length,
    eventsBehind: behind,
  };
  if (behind >= maxEventsBehind) for (const i of views.keys()) foldView(next, i);
  return next;
}

/** Folds one view from the last event up to which it was folded. */
function foldView(seen: ViewStates, i: number): unknown {
  const waiting: ViewStates[] = [];
  let at = seen;
  for (; at.values[i] === NOT_FOLDED && at.previous; at = at.previous) waiting.push(at);
  let value = at.values[i];
  for (const each of waiting.toReversed()) if (each.event) value = each.views[i]?.on(value, each.event);
  if (seen.values[i] !== NOT_FOLDED) return value;
  seen.values[i] = value;
  if (--seen.unfolded === 0) seen.previous = undefined;
  return value;
}

const restoreView = (view: NamedView<unknown>, kept: Readonly<Record<string, Json>>): unknown => {
  const mine = Object.hasOwn(kept, view.name) ? kept[view.name] : undefined;
  return (mine === undefined ? undefined : view.restore?.(mine)) ?? view.initial;
};

/** Returns the serialized states for a baseline. */
export function serializeViews(seen: ViewStates): Pick<Baseline, 'views'> {
  const entries = seen.views.flatMap((view, i) =>
    view.serialize ? [[view.name, view.serialize(foldView(seen, i))] as const] : [],
  );
  return entries.length ? { views: Object.fromEntries(entries) } : {};
}

/** Returns the state of a view. The agent must have the view among its views. */
export function readView<S>({ viewStates }: Pick<RunState, 'viewStates'>, view: NamedView<S>): S {
  const at = viewStates.views.findIndex(({ name }) => name === view.name);
  if (at < 0)
    throw new FairleadError('core/no-view', `The agent has no view named ${view.name}.`, {
      blame: 'user',
      hint: 'Add it to the views of the agent or of the extension that looks at it.',
    });
  return foldView(viewStates, at) as S;
}

// Lazily folded states of an agent's views, as part of the run state and of baselines.
import { FairleadError } from './errors.ts';
import type { Baseline, Event } from './fact.ts';
import type { Json } from './json.ts';
import type { NamedView } from './ports.ts';
import type { RunState } from './state.ts';

/**
 * The views of an agent and their states at an event. Views are pure, so each is folded only when it is read:
 * `values` holds the folded states, and `previous` links to the version from which a fold continues.
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
export function advanceViews(states: ViewStates, event: Event, isFirst: boolean): ViewStates {
  const { views } = states;
  if (views.length === 0) return states;
  const stored = isFirst && event.type === 'epoch-started' ? event.baseline?.views : undefined;
  const previous = stored
    ? createViewStates(
        views,
        views.map((view) => restoreView(view, stored)),
      )
    : states;
  const eventsBehind = previous.unfolded === 0 ? 1 : previous.eventsBehind + 1;
  const next: ViewStates = {
    views,
    event,
    values: views.map(() => NOT_FOLDED),
    previous,
    unfolded: views.length,
    eventsBehind,
  };
  if (eventsBehind >= maxEventsBehind) for (const i of views.keys()) foldView(next, i);
  return next;
}

/** Folds one view from the last event up to which it was folded. */
function foldView(states: ViewStates, i: number): unknown {
  const unfolded: ViewStates[] = [];
  let at = states;
  for (; at.values[i] === NOT_FOLDED && at.previous; at = at.previous) unfolded.push(at);
  let value = at.values[i];
  for (const each of unfolded.toReversed()) if (each.event) value = each.views[i]?.on(value, each.event);
  if (states.values[i] !== NOT_FOLDED) return value;
  states.values[i] = value;
  if (--states.unfolded === 0) states.previous = undefined;
  return value;
}

const restoreView = (view: NamedView<unknown>, stored: Readonly<Record<string, Json>>): unknown => {
  const value = Object.hasOwn(stored, view.name) ? stored[view.name] : undefined;
  return (value === undefined ? undefined : view.restore?.(value)) ?? view.initial;
};

/** Returns the serialized states for a baseline. */
export function serializeViews(states: ViewStates): Pick<Baseline, 'views'> {
  const entries = states.views.flatMap((view, i) =>
    view.serialize ? [[view.name, view.serialize(foldView(states, i))] as const] : [],
  );
  return entries.length ? { views: Object.fromEntries(entries) } : {};
}

/** Returns the state of a view. The agent must have the view among its views. */
export function readView<S>({ viewStates }: Pick<RunState, 'viewStates'>, view: NamedView<S>): S {
  const at = viewStates.views.findIndex(({ name }) => name === view.name);
  if (at < 0)
    throw new FairleadError('core/no-view', `The agent has no view named ${view.name}.`, {
      blame: 'user',
      hint: 'Add it to the views of the agent or of the extension that reads it.',
    });
  return foldView(viewStates, at) as S;
}

// What an agent's views have seen, as part of the state: folded with it, kept by an epoch, looked at by whoever decides.
import { FairleadError } from './errors.ts';
import type { Baseline, Event } from './fact.ts';
import type { Json } from './json.ts';
import type { NamedView } from './ports.ts';
import type { RunState } from './state.ts';

/**
 * The views of an agent, and what each has seen up to an event. A view is pure, so it is folded only as far as somebody
 * looks: `values` holds what was looked at, and `before` leads to where the fold goes on from.
 */
export type Seen = {
  readonly views: readonly NamedView<unknown>[];
  readonly event: Event | undefined;
  readonly values: unknown[];
  before: Seen | undefined;
  /** Views that nobody has looked at yet. */
  open: number;
  /** Events since all views were folded. */
  readonly behind: number;
};

/** More events than this never wait to be seen: what they hold must not stay in memory for ever. */
const mostBehind = 50_000;

const notYet = Symbol('not folded yet');

/** Nothing seen yet. */
export const unseen = (views: readonly NamedView<unknown>[]): Seen =>
  seenAs(
    views,
    views.map(({ initial }) => initial),
  );

const seenAs = (views: Seen['views'], values: unknown[]): Seen => ({
  views,
  event: undefined,
  values,
  before: undefined,
  open: 0,
  behind: 0,
});

/** What they have seen after one more event. A fold that begins at an epoch takes over what that kept. */
export function see(seen: Seen, event: Event, isFirst: boolean): Seen {
  const { views } = seen;
  if (views.length === 0) return seen;
  const kept = isFirst && event.type === 'epoch-started' ? event.baseline?.views : undefined;
  const before = kept
    ? seenAs(
        views,
        views.map((view) => restored(view, kept)),
      )
    : seen;
  const behind = before.open === 0 ? 1 : before.behind + 1;
  const next: Seen = { views, event, values: views.map(() => notYet), before, open: views.length, behind };
  if (behind >= mostBehind) for (const i of views.keys()) valueAt(next, i);
  return next;
}

/** What one view has seen, folded from the last event up to which it was. */
function valueAt(seen: Seen, i: number): unknown {
  const waiting: Seen[] = [];
  let at = seen;
  for (; at.values[i] === notYet && at.before; at = at.before) waiting.push(at);
  let value = at.values[i];
  for (const each of waiting.toReversed()) if (each.event) value = each.views[i]?.on(value, each.event);
  if (seen.values[i] !== notYet) return value;
  seen.values[i] = value;
  if (--seen.open === 0) seen.before = undefined;
  return value;
}

const restored = (view: NamedView<unknown>, kept: Readonly<Record<string, Json>>): unknown => {
  const mine = Object.hasOwn(kept, view.name) ? kept[view.name] : undefined;
  return (mine === undefined ? undefined : view.restore?.(mine)) ?? view.initial;
};

/** What an epoch keeps of them. */
export function kept(seen: Seen): Pick<Baseline, 'views'> {
  const entries = seen.views.flatMap((view, i) =>
    view.keep ? [[view.name, view.keep(valueAt(seen, i))] as const] : [],
  );
  return entries.length ? { views: Object.fromEntries(entries) } : {};
}

/** What a view has seen of this session. The agent must have it among its views. */
export function look<S>({ seen }: Pick<RunState, 'seen'>, view: NamedView<S>): S {
  const at = seen.views.findIndex(({ name }) => name === view.name);
  if (at < 0)
    throw new FairleadError('core/no-view', `The agent has no view named ${view.name}.`, {
      blame: 'user',
      hint: 'Add it to the views of the agent or of the extension that looks at it.',
    });
  return valueAt(seen, at) as S;
}

// What an agent's views have seen, as part of the state: folded with it, kept by an epoch, looked at by whoever decides.
import { FairleadError } from './errors.ts';
import type { Baseline, Event } from './fact.ts';
import type { Json } from './json.ts';
import type { NamedView } from './ports.ts';

/** The views of an agent and what each has seen, in the same order. */
export type Seen = { readonly views: readonly NamedView<unknown>[]; readonly now: readonly unknown[] };

/** Nothing seen yet. */
export const unseen = (views: readonly NamedView<unknown>[]): Seen => ({
  views,
  now: views.map(({ initial }) => initial),
});

/** What they have seen after one more event. A fold that begins at an epoch takes over what that kept. */
export function see({ views, now }: Seen, event: Event, isFirst: boolean): Seen {
  if (views.length === 0) return { views, now };
  const kept = isFirst && event.type === 'epoch-started' ? event.baseline?.views : undefined;
  return { views, now: views.map((view, i) => view.on(kept ? restored(view, kept) : now[i], event)) };
}

const restored = (view: NamedView<unknown>, kept: Readonly<Record<string, Json>>): unknown => {
  const mine = Object.hasOwn(kept, view.name) ? kept[view.name] : undefined;
  return (mine === undefined ? undefined : view.restore?.(mine)) ?? view.initial;
};

/** What an epoch keeps of them. */
export function kept({ views, now }: Seen): Pick<Baseline, 'views'> {
  const entries = views.flatMap((view, i) => (view.keep ? [[view.name, view.keep(now[i])] as const] : []));
  return entries.length ? { views: Object.fromEntries(entries) } : {};
}

/** What a view has seen of this session. The agent must have it among its views. */
export function look<S>({ seen }: { readonly seen: Seen }, view: NamedView<S>): S {
  const at = seen.views.findIndex(({ name }) => name === view.name);
  if (at < 0)
    throw new FairleadError('core/no-view', `The agent has no view named ${view.name}.`, {
      blame: 'user',
      hint: 'Add it to the views of the agent or of the extension that looks at it.',
    });
  return seen.now[at] as S;
}

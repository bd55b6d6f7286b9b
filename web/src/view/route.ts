// Where in the page somebody is: a path after the hash, so that the server has one page only.
import { cell, type Cell } from '../cell.ts';
import { decoded } from '../wire/connection.ts';

/** The screens, in the order of the navigation. */
export const screens = ['ask', 'runs', 'sessions', 'approvals', 'fleet', 'health', 'budgets', 'scorecard'] as const;

/** One of the screens. */
export type Screen = (typeof screens)[number];

/** A screen, and the run or session it is about. */
export type Route = { readonly screen: Screen; readonly id?: string; readonly query: string };

/** The route of a hash such as `#/runs/abc?status=resting`; anything else is the first screen. */
export function routeOf(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const [name, id] = path.split('/');
  const screen = screens.find((each) => each === name) ?? 'ask';
  return { screen, query, ...(id ? { id: decoded(id) } : {}) };
}

/** The address of a screen, or of one thing in it. */
export const linkTo = (screen: Screen, id?: string): string =>
  `#/${screen}${id === undefined ? '' : `/${encodeURIComponent(id)}`}`;

/** Where we are. */
export const route: Cell<Route> = cell<Route>({ screen: 'ask', query: '' });

/** Reads the address now and whenever it changes. */
export function followAddress(): void {
  const read = (): void => route.set(routeOf(location.hash));
  addEventListener('hashchange', read);
  read();
}

/** Goes to a screen. */
export const goTo = (screen: Screen, id?: string): void => location.assign(linkTo(screen, id));

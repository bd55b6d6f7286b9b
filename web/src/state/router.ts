// Where in the page somebody is: a path after the hash, so that the server has one page only.
import { createAtom, type Atom } from './atom.ts';
import { safeDecodeUri } from '../api/connection.ts';

/** The screens, in the order of the navigation. */
export const screens = ['ask', 'runs', 'sessions', 'approvals', 'fleet', 'health', 'budgets', 'scorecard'] as const;

/** One of the screens. */
export type Screen = (typeof screens)[number];

/** A screen, and the run or session it is about. */
export type Route = { readonly screen: Screen; readonly id?: string; readonly query: string };

/** The route of a hash such as `#/runs/abc?status=waiting`; anything else is the first screen. */
export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const [name, id] = path.split('/');
  const screen = screens.find((each) => each === name) ?? 'ask';
  return { screen, query, ...(id ? { id: safeDecodeUri(id) } : {}) };
}

/** The address of a screen, or of one thing in it; fields that are empty are left out of the query. */
export function linkTo(screen: Screen, id?: string, query: Readonly<Record<string, string>> = {}): string {
  const given = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== '')).toString();
  return `#/${screen}${id === undefined ? '' : `/${encodeURIComponent(id)}`}${given === '' ? '' : `?${given}`}`;
}

/** Where we are. */
export const currentRoute: Atom<Route> = createAtom<Route>({ screen: 'ask', query: '' });

/** Reads the address now and whenever it changes. */
export function startRouter(): void {
  const read = (): void => currentRoute.set(parseRoute(location.hash));
  addEventListener('hashchange', () => {
    read();
    // A place that was never seen begins at its top; one that somebody comes back to stays where the browser puts it.
    if (history.state !== null) return;
    history.replaceState({ seen: true }, '');
    scrollTo(0, 0);
  });
  history.replaceState({ seen: true }, '');
  read();
}

/** The same screen with another query, in place of this address: what is typed into a filter is no place to come back to. */
export function replaceQuery(screen: Screen, query: Readonly<Record<string, string>>): void {
  history.replaceState({ seen: true }, '', linkTo(screen, undefined, query));
  currentRoute.set(parseRoute(location.hash));
}

/** Goes to a screen. */
export const navigate = (screen: Screen, id?: string): void => location.assign(linkTo(screen, id));

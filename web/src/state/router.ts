// Hash-based router: the server serves one page.
import { createAtom, type Atom } from './atom.ts';
import { safeDecodeUri } from '../api/connection.ts';

/** The screens, in navigation order. */
export const screens = [
  'ask',
  'runs',
  'sessions',
  'approvals',
  'verification',
  'fleet',
  'releases',
  'health',
  'budgets',
  'scorecard',
] as const;

/** One of the screens. */
export type Screen = (typeof screens)[number];

/** A screen, and the id of its run or session. `not-found` is an address without a screen. */
export type Route = { readonly screen: Screen | 'not-found'; readonly id?: string; readonly query: string };

/** Parses a hash such as `#/runs/abc?status=waiting`; an empty one is the first screen. */
export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const [name = '', id] = path.split('/');
  const screen = name === '' ? 'ask' : (screens.find((each) => each === name) ?? 'not-found');
  return { screen, query, ...(id ? { id: safeDecodeUri(id) } : {}) };
}

/** Returns the link to a screen or an item; empty query fields are omitted. */
export function linkTo(screen: Screen, id?: string, query: Readonly<Record<string, string>> = {}): string {
  const given = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== '')).toString();
  return `#/${screen}${id === undefined ? '' : `/${encodeURIComponent(id)}`}${given === '' ? '' : `?${given}`}`;
}

/** The current route. */
export const currentRoute: Atom<Route> = createAtom<Route>({ screen: 'ask', query: '' });

/** Follows changes of the hash. */
export function startRouter(): void {
  const read = (): void => currentRoute.set(parseRoute(location.hash));
  addEventListener('hashchange', () => {
    read();
    // A new screen starts at its top; the browser restores the position of one in the history.
    if (history.state !== null) return;
    history.replaceState({ seen: true }, '');
    scrollTo(0, 0);
  });
  history.replaceState({ seen: true }, '');
  read();
}

/** Replaces the query without a history entry: typing in a filter must not fill the history. */
export function replaceQuery(screen: Screen, query: Readonly<Record<string, string>>): void {
  history.replaceState({ seen: true }, '', linkTo(screen, undefined, query));
  currentRoute.set(parseRoute(location.hash));
}

/** Navigates to a screen. */
export const navigate = (screen: Screen, id?: string): void => location.assign(linkTo(screen, id));

/** The name of the draft of the prompt of a new run. */
export const promptDraft = 'ask';

/** The key of a draft in the session storage. */
export const getDraftKey = (name: string): string => `fairlead-draft ${name}`;

/** Puts a text into the form of a new run. */
export const saveDraftPrompt = (prompt: string): void => sessionStorage.setItem(getDraftKey(promptDraft), prompt);

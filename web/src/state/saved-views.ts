// Saved views: filters of a list that the user named. They are kept in this browser until the user signs out.
import { viewsStorageKey } from '../api/connection.ts';
import { createAtom, type Atom } from './atom.ts';
import type { Screen } from './router.ts';

/** A filter of a list with a name. */
export type SavedView = { readonly screen: Screen; readonly name: string; readonly query: string };

const maxViews = 50;

/** All saved views, in the order in which they were saved. */
export const savedViews: Atom<readonly SavedView[]> = createAtom(parseViews(localStorage.getItem(viewsStorageKey)));

function parseViews(text: string | null): readonly SavedView[] {
  try {
    const parsed: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(parsed) ? parsed.filter(isSavedView) : [];
  } catch {
    // Another program wrote it.
    return [];
  }
}

function isSavedView(value: unknown): value is SavedView {
  const { screen, name, query } = (value ?? {}) as Partial<Record<keyof SavedView, unknown>>;
  return (screen === 'runs' || screen === 'sessions') && typeof name === 'string' && typeof query === 'string';
}

function store(views: readonly SavedView[]): void {
  savedViews.set(views);
  localStorage.setItem(viewsStorageKey, JSON.stringify(views));
}

/** Returns a filter as text that is the same for the same filter. */
export const formatViewQuery = (filter: Readonly<Record<string, string>>): string =>
  new URLSearchParams(
    Object.entries(filter)
      .filter(([, value]) => value !== '')
      .toSorted(([a], [b]) => a.localeCompare(b)),
  ).toString();

/** Saves a view; one of the same name on the same screen is replaced. */
export const saveView = (view: SavedView): void =>
  store([...savedViews.get().filter((each) => !isSameView(each, view)), view].slice(-maxViews));

/** Removes a view. */
export const removeView = (view: SavedView): void => store(savedViews.get().filter((each) => !isSameView(each, view)));

const isSameView = (a: SavedView, b: SavedView): boolean => a.screen === b.screen && a.name === b.name;

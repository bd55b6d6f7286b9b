// The title of the tab and its icon: the name of the screen, with the number of pending approvals.
import { createAtom, type Atom } from './atom.ts';

/** The name of the current screen. */
export const pageTitle: Atom<string> = createAtom('');

/** The number of pending approvals. */
export const pendingCount: Atom<number> = createAtom(0);

/** Returns the title of a tab. */
export const formatTabTitle = (title: string, pending: number): string =>
  `${pending > 0 ? `(${pending}) ` : ''}${title === '' ? '' : `${title} · `}Fairlead`;

/** Keeps the title and the icon of the tab up to date; `icons` are the addresses of the plain icon and of the one with a mark. */
export function startTabTitle(icons: { readonly plain: string; readonly marked: string }): void {
  const update = (): void => {
    const pending = pendingCount.get();
    document.title = formatTabTitle(pageTitle.get(), pending);
    const link = document.querySelector<HTMLLinkElement>('link[rel=icon]');
    const wanted = pending > 0 ? icons.marked : icons.plain;
    if (link && link.getAttribute('href') !== wanted) link.setAttribute('href', wanted);
  };
  pageTitle.subscribe(update);
  pendingCount.subscribe(update);
}

// Polls the pending approvals: their number is shown in the navigation, the title and the icon of the tab, and new ones as notifications if the user wants them.
import { useEffect, useRef } from 'preact/hooks';
import { api } from '../api/client.ts';
import { createAtom, type Atom } from '../state/atom.ts';
import { pendingCount } from '../state/page-title.ts';
import { usePoll } from './use-poll.ts';

const storageKey = 'fairlead-notify';

/** Whether new approvals and ends of runs are shown as notifications of the browser. */
export const notifiesApprovals: Atom<boolean> = createAtom(
  typeof Notification !== 'undefined' &&
    Notification.permission === 'granted' &&
    localStorage.getItem(storageKey) === 'yes',
);

/** Turns notifications on, after the browser has asked the user, or off. */
export async function toggleNotifications(): Promise<void> {
  const isWanted = !notifiesApprovals.get();
  const isAllowed =
    isWanted && typeof Notification !== 'undefined' && (await Notification.requestPermission()) === 'granted';
  if (isAllowed) localStorage.setItem(storageKey, 'yes');
  else localStorage.removeItem(storageKey);
  notifiesApprovals.set(isAllowed);
}

/** Returns the number of pending approvals. */
export function usePendingApprovals(): number {
  // A notification is for a tab that is hidden.
  const { value } = usePoll((signal) => api.approvals(signal), 4000, '', true);
  const known = useRef<ReadonlySet<string> | undefined>(undefined);
  const pending = value?.approvals.flatMap(({ run, prompt, pendingApprovals }) =>
    pendingApprovals.map(({ call, tool }) => ({ id: `${run} ${call}`, prompt, tool })),
  );
  useEffect(() => {
    if (!pending) return;
    const before = known.current;
    known.current = new Set(pending.map(({ id }) => id));
    pendingCount.set(pending.length);
    if (!before || !notifiesApprovals.get() || !document.hidden) return;
    for (const { id, prompt, tool } of pending)
      if (!before.has(id)) showNotification(`Approval needed: ${tool}`, prompt.slice(0, 200), id);
  }, [value]);
  return pending?.length ?? 0;
}

/** Shows a notification; a click on it opens the page. */
export function showNotification(title: string, body: string, tag: string): void {
  const shown = new Notification(title, { body, tag });
  shown.addEventListener('click', () => {
    focus();
    shown.close();
  });
}

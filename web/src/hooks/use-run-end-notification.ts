// Shows a notification of the browser when the run of a hidden page has ended, if the user wants notifications.
import { useEffect, useRef } from 'preact/hooks';
import { notifiesApprovals, showNotification } from './use-pending-approvals.ts';

/** Notifies when `isLive` becomes false while the page is hidden; `title` is that of the session. */
export function useRunEndNotification(isLive: boolean, title: string, id: string): void {
  const wasLive = useRef(false);
  useEffect(() => {
    if (wasLive.current && !isLive && notifiesApprovals.get() && document.hidden)
      showNotification('The run has ended', title.slice(0, 200), `${id} ended`);
    wasLive.current = isLive;
  }, [isLive]);
}

// Navigation between the screens, and its keyboard shortcuts.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { api } from '../api/client.ts';
import { useAtom } from '../state/atom.ts';
import { usePoll } from '../hooks/use-poll.ts';
import { navigate, linkTo, currentRoute, screens, type Screen } from '../state/router.ts';

const screenLabels: Readonly<Record<Screen, readonly [name: string, key: string]>> = {
  ask: ['Ask', 'a'],
  runs: ['Runs', 'r'],
  sessions: ['Sessions', 's'],
  approvals: ['Approvals', 'p'],
  fleet: ['Fleet', 'f'],
  health: ['Health', 'h'],
  budgets: ['Budgets', 'b'],
  scorecard: ['Scorecard', 'c'],
};

/** The list of screens, with the number of pending approvals. */
export function Navigation(): JSX.Element {
  const now = useAtom(currentRoute);
  const { value } = usePoll((signal) => api.approvals(signal), 5000);
  const waiting = value?.approvals.reduce((sum, { pendingApprovals }) => sum + pendingApprovals.length, 0) ?? 0;
  const [isHelp, setHelp] = useState(false);
  useEffect(() => {
    const show = (): void => setHelp(true);
    addEventListener('fairlead-help', show);
    return () => removeEventListener('fairlead-help', show);
  }, []);
  const here = useRef<HTMLUListElement>(null);
  useEffect(() => {
    // On a phone the row of screens is wider than the page. scrollIntoView would also move the start of the Tab order.
    const [row, link] = [here.current?.parentElement, here.current?.querySelector<HTMLElement>('[aria-current]')];
    if (row && link) row.scrollLeft = link.offsetLeft - row.offsetLeft - (row.clientWidth - link.offsetWidth) / 2;
  }, [now.screen]);
  return (
    <nav aria-label="Screens">
      <ul ref={here}>
        {screens.map((screen) => (
          <li key={screen}>
            <a href={linkTo(screen)} aria-current={now.screen === screen ? 'page' : undefined}>
              {screenLabels[screen][0]}
              {screen === 'approvals' && waiting > 0 ? (
                <span class="badge">
                  {waiting}
                  <span class="unseen"> pending</span>
                </span>
              ) : null}
            </a>
          </li>
        ))}
      </ul>
      <p class="unseen" role="status">
        {waiting > 0 ? `${waiting} ${waiting === 1 ? 'pending approval' : 'pending approvals'}.` : ''}
      </p>
      <button type="button" class="quiet shortcuts" onClick={() => setHelp(true)}>
        Shortcuts
      </button>
      {isHelp ? <ShortcutsDialog close={() => setHelp(false)} /> : null}
    </nav>
  );
}

function ShortcutsDialog({ close }: { readonly close: () => void }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const [isUsed, setUsed] = useState(() => localStorage.getItem(shortcutsDisabledKey) === null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} onClose={close} aria-labelledby="shortcuts-title">
      <h2 id="shortcuts-title">Shortcuts</h2>
      <dl class="keys">
        {screens.map((screen) => (
          <div key={screen}>
            <dt>
              <kbd>g</kbd> <kbd>{screenLabels[screen][1]}</kbd>
            </dt>
            <dd>{screenLabels[screen][0]}</dd>
          </div>
        ))}
        <div>
          <dt>
            <kbd>Ctrl</kbd> <kbd>Enter</kbd>
          </dt>
          <dd>Send</dd>
        </div>
        <div>
          <dt>
            <kbd>?</kbd>
          </dt>
          <dd>Show this list</dd>
        </div>
      </dl>
      <form method="dialog" class="buttons">
        <label class="check">
          <input
            type="checkbox"
            checked={isUsed}
            onChange={(event) => {
              if (event.currentTarget.checked) localStorage.removeItem(shortcutsDisabledKey);
              else localStorage.setItem(shortcutsDisabledKey, 'yes');
              setUsed(event.currentTarget.checked);
            }}
          />
          Enable shortcuts in this browser
        </label>
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}

/** The storage key of the choice to turn shortcuts off: voice input can trigger single-key shortcuts by mistake. */
const shortcutsDisabledKey = 'fairlead-no-shortcuts';

/** Milliseconds after `g` within which the second key must follow. */
const leaderTimeoutMs = 1200;

/** Handles shortcuts, except in text fields and with a modifier key. */
export function useShortcuts(): void {
  useEffect(() => {
    let leader = 0;
    function onKey(event: KeyboardEvent): void {
      const target = event.target as HTMLElement;
      if (event.ctrlKey || event.metaKey || event.altKey || target.closest('input, textarea, select, dialog')) return;
      if (localStorage.getItem(shortcutsDisabledKey) !== null) return;
      if (event.key === '?') dispatchEvent(new Event('fairlead-help'));
      else if (event.key === 'g') leader = event.timeStamp;
      else if (leader > 0 && event.timeStamp - leader < leaderTimeoutMs) {
        leader = 0;
        const screen = screens.find((each) => screenLabels[each][1] === event.key);
        if (screen === undefined) return;
        event.preventDefault();
        navigate(screen);
        document.querySelector<HTMLElement>('#main')?.focus();
      }
    }
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

// The sidebar: search, the screens with the number of pending approvals, the kill switch and the settings of the browser.
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { forgetKeyInAllTabs } from '../api/tab-sync.ts';
import { useAtom } from '../state/atom.ts';
import { currentUser } from '../hooks/use-permission.ts';
import { usePendingApprovals } from '../hooks/use-pending-approvals.ts';
import { linkTo, currentRoute, screens, type Screen } from '../state/router.ts';
import { openPaletteEvent, openShortcutsEvent } from '../state/ui-events.ts';
import { screenLabels } from '../state/screen-labels.ts';
import { Icon } from './icon.tsx';
import { KillSwitch, type useKillSwitch } from './kill-switch.tsx';
import { ThemeToggle } from './theme.tsx';

/** The screens of daily work come first, then those of operations. */
const operations: ReadonlySet<Screen> = new Set(['fleet', 'releases', 'health', 'budgets', 'scorecard']);

/** The sidebar; on a phone it is a bar at the top. */
export function Sidebar({ killSwitch }: { readonly killSwitch: ReturnType<typeof useKillSwitch> }): JSX.Element {
  const who = useAtom(currentUser);
  return (
    <header class="sidebar">
      <p class="brand">
        <span class="brand-name">Fairlead</span>
        <span class="version">{who?.version ?? ''}</span>
      </p>
      <button type="button" class="palette-button" onClick={() => dispatchEvent(new Event(openPaletteEvent))}>
        <Icon name="search" size={14} />
        <span class="palette-name">Search or go to</span>
        <kbd>Ctrl K</kbd>
      </button>
      <Navigation />
      <div class="sidebar-end">
        <KillSwitch status={killSwitch} />
        {who?.store === undefined ? null : (
          <p class="store" title={`The store of the runs and sessions: ${who.store}`}>
            {who.store}
          </p>
        )}
        <div class="sidebar-tools">
          <ThemeToggle />
          <button
            type="button"
            class="quiet icon-only shortcuts-button"
            title="Shortcuts (?)"
            onClick={() => dispatchEvent(new Event(openShortcutsEvent))}
          >
            <Icon name="settings" />
            <span class="unseen">Shortcuts</span>
          </button>
          <button type="button" class="quiet" title="Removes the key from this browser" onClick={forgetKeyInAllTabs}>
            <Icon name="sign-out" /> <span class="sign-out-name">Sign out</span>
          </button>
        </div>
      </div>
    </header>
  );
}

/** The list of screens. */
function Navigation(): JSX.Element {
  const now = useAtom(currentRoute);
  const waiting = usePendingApprovals();
  const here = useRef<HTMLElement>(null);
  useEffect(() => {
    // On a phone the row of screens is wider than the page. scrollIntoView would also move the start of the Tab order.
    const [row, link] = [here.current, here.current?.querySelector<HTMLElement>('[aria-current]')];
    if (row && link) row.scrollLeft = link.offsetLeft - row.offsetLeft - (row.clientWidth - link.offsetWidth) / 2;
  }, [now.screen]);
  const link = (screen: Screen): JSX.Element => (
    <li key={screen}>
      <a href={linkTo(screen)} aria-current={now.screen === screen ? 'page' : undefined}>
        <Icon name={screenLabels[screen].icon} />
        {screenLabels[screen].name}
        {screen === 'approvals' && waiting > 0 ? (
          <span class="badge">
            {waiting}
            <span class="unseen"> pending</span>
          </span>
        ) : null}
      </a>
    </li>
  );
  return (
    <nav class="screens" aria-label="Screens" ref={here}>
      <ul>{screens.filter((screen) => !operations.has(screen)).map(link)}</ul>
      <p class="group-name">Operations</p>
      <ul>{screens.filter((screen) => operations.has(screen)).map(link)}</ul>
      <p class="unseen" role="status">
        {waiting > 0 ? `${waiting} ${waiting === 1 ? 'pending approval' : 'pending approvals'}.` : ''}
      </p>
    </nav>
  );
}

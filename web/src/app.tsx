// The app: header, navigation, current screen, and a message if the server is unreachable.
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { ApprovalsScreen } from './screens/approvals.tsx';
import { NewRunScreen } from './screens/new-run.tsx';
import { BudgetsScreen } from './screens/budgets.tsx';
import { FleetScreen } from './screens/fleet.tsx';
import { HealthScreen } from './screens/health.tsx';
import { KeyScreen } from './screens/key.tsx';
import { RunScreen } from './screens/run.tsx';
import { RunsScreen } from './screens/runs.tsx';
import { ScorecardScreen } from './screens/scorecard.tsx';
import { SessionScreen } from './screens/session.tsx';
import { SessionsScreen } from './screens/sessions.tsx';
import { announcement, useAtom } from './state/atom.ts';
import { KillSwitch, StoppedBanner, useKillSwitch } from './components/kill-switch.tsx';
import { currentUser } from './hooks/use-permission.ts';
import { Navigation, useShortcuts } from './components/navigation.tsx';
import { currentRoute, type Route } from './state/router.ts';
import { ThemeToggle } from './components/theme.tsx';
import { api } from './api/client.ts';
import { connectionStatus, keyState } from './api/connection.ts';
import { forgetKeyInAllTabs } from './api/tab-sync.ts';

/** The root component of the dashboard. */
export function App(): JSX.Element {
  const key = useAtom(keyState);
  const who = useAtom(currentUser);
  const here = useAtom(connectionStatus);
  useEffect(() => {
    if (key.type !== 'given') currentUser.set(undefined);
    // A rejected key changes the key state; if the server is unreachable, this effect runs again when it responds.
    else if (here === 'here') void api.me().then(currentUser.set, () => undefined);
  }, [key, here]);
  return who === undefined ? <KeyScreen /> : <Layout />;
}

function Layout(): JSX.Element {
  const now = useAtom(currentRoute);
  const who = useAtom(currentUser);
  const gone = useAtom(connectionStatus) === 'gone';
  const killSwitch = useKillSwitch();
  useShortcuts();
  useFocusOnNavigate(now);
  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          // The hash is the address of a screen: the link only moves the focus.
          event.preventDefault();
          document.querySelector<HTMLElement>('#main')?.focus();
        }}
      >
        Skip to the content
      </a>
      <header class="top">
        <p class="brand">
          Fairlead<span class="version">{who ? who.version : ''}</span>
        </p>
        <p class="store" title="The store of the runs and sessions">
          {who?.store}
        </p>
        <p class={`line ${gone ? 'gone' : ''}`} role="status">
          {gone ? 'The server does not respond; retrying. Your input is kept.' : ''}
        </p>
        <KillSwitch status={killSwitch} />
        <ThemeToggle />
        <button type="button" class="quiet" onClick={forgetKeyInAllTabs}>
          Forget key
        </button>
      </header>
      <StoppedBanner status={killSwitch} />
      <p class="unseen" role="status">
        {useAtom(announcement)}
      </p>
      <div class="frame">
        <Navigation />
        <main id="main" tabIndex={-1}>
          <CurrentScreen now={now} />
        </main>
      </div>
    </>
  );
}

/** Moves the focus to the heading of a new screen, unless a field has it. */
function useFocusOnNavigate({ screen, id, query }: Route): void {
  const isFirst = useRef(true);
  const page = new URLSearchParams(query).get('before');
  useEffect(() => {
    if (isFirst.current) isFirst.current = false;
    else if ((screen !== 'ask' || id === undefined) && !query.includes('say='))
      document.querySelector<HTMLElement>('main h1')?.focus();
  }, [screen, id, page]);
}

function CurrentScreen({ now }: { readonly now: Route }): JSX.Element {
  switch (now.screen) {
    case 'ask':
      return <NewRunScreen id={now.id} />;
    case 'runs':
      return now.id === undefined ? <RunsScreen query={now.query} /> : <RunScreen key={now.id} id={now.id} />;
    case 'sessions':
      return now.id === undefined ? (
        <SessionsScreen query={now.query} />
      ) : (
        <SessionScreen key={now.id} id={now.id} query={now.query} />
      );
    case 'approvals':
      return <ApprovalsScreen />;
    case 'fleet':
      return <FleetScreen />;
    case 'health':
      return <HealthScreen query={now.query} />;
    case 'budgets':
      return <BudgetsScreen />;
    case 'scorecard':
      return <ScorecardScreen />;
  }
}

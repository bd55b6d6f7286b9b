// The app: sidebar, current screen, command palette, and a message if the server is unreachable.
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { ApprovalsScreen } from './screens/approvals.tsx';
import { NewRunScreen } from './screens/new-run.tsx';
import { BudgetsScreen } from './screens/budgets.tsx';
import { FleetScreen } from './screens/fleet.tsx';
import { HealthScreen } from './screens/health.tsx';
import { KeyScreen } from './screens/key.tsx';
import { ReleasesScreen } from './screens/releases.tsx';
import { RunScreen } from './screens/run.tsx';
import { RunsScreen } from './screens/runs.tsx';
import { ScorecardScreen } from './screens/scorecard.tsx';
import { SessionScreen } from './screens/session.tsx';
import { SessionsScreen } from './screens/sessions.tsx';
import { VerificationScreen } from './screens/verification.tsx';
import { announcement, useAtom } from './state/atom.ts';
import { CommandPalette } from './components/command-palette.tsx';
import { StoppedBanner, useKillSwitch } from './components/kill-switch.tsx';
import { currentUser } from './hooks/use-permission.ts';
import { Sidebar } from './components/navigation.tsx';
import { ShortcutsDialog, useShortcuts } from './components/shortcuts.tsx';
import { NotFoundScreen } from './screens/not-found.tsx';
import { currentRoute, type Route } from './state/router.ts';
import { api } from './api/client.ts';
import { connectionStatus, keyState } from './api/connection.ts';

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
      <div class="frame">
        <Sidebar killSwitch={killSwitch} />
        <div class="content">
          <StoppedBanner status={killSwitch} />
          <p class={`line ${gone ? 'gone' : ''}`} role="status">
            {gone ? 'Disconnected. Reconnecting… Your input is kept.' : ''}
          </p>
          <p class="unseen" role="status">
            {useAtom(announcement)}
          </p>
          <main id="main" tabIndex={-1}>
            <CurrentScreen now={now} />
          </main>
        </div>
      </div>
      <CommandPalette killSwitch={killSwitch} />
      <ShortcutsDialog />
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
      document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
  }, [screen, id, page]);
}

function CurrentScreen({ now }: { readonly now: Route }): JSX.Element {
  switch (now.screen) {
    case 'ask':
      return now.id === undefined ? <NewRunScreen /> : <RunScreen key={now.id} id={now.id} />;
    case 'runs':
      return now.id === undefined ? <RunsScreen query={now.query} /> : <RunScreen key={now.id} id={now.id} />;
    case 'sessions':
      return now.id === undefined ? (
        <SessionsScreen query={now.query} />
      ) : (
        <SessionScreen key={`${now.id} ${now.query.includes('source=terminal')}`} id={now.id} query={now.query} />
      );
    case 'approvals':
      return <ApprovalsScreen />;
    case 'verification':
      return now.id === undefined ? <VerificationScreen /> : <RunScreen key={now.id} id={now.id} />;
    case 'fleet':
      return <FleetScreen />;
    case 'releases':
      return <ReleasesScreen />;
    case 'health':
      return <HealthScreen query={now.query} />;
    case 'budgets':
      return <BudgetsScreen />;
    case 'scorecard':
      return <ScorecardScreen />;
    case 'not-found':
      return <NotFoundScreen />;
  }
}

// The frame of the page: header, navigation, the screen somebody is on, and what is said when the server is gone.
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { ApprovalsScreen } from './screens/approvals.tsx';
import { AskScreen } from './screens/ask.tsx';
import { BudgetsScreen } from './screens/budgets.tsx';
import { FleetScreen } from './screens/fleet.tsx';
import { HealthScreen } from './screens/health.tsx';
import { KeyScreen } from './screens/key.tsx';
import { RunScreen } from './screens/run.tsx';
import { RunsScreen } from './screens/runs.tsx';
import { ScorecardScreen } from './screens/scorecard.tsx';
import { SessionScreen } from './screens/session.tsx';
import { SessionsScreen } from './screens/sessions.tsx';
import { spoken, useCell } from './cell.ts';
import { KillSwitch, StoppedStrip, useStanding } from './view/kill-switch.tsx';
import { me } from './view/may.ts';
import { Navigation, useShortcuts } from './view/navigation.tsx';
import { route, type Route } from './view/route.ts';
import { ThemeToggle } from './view/theme.tsx';
import { api } from './wire/api.ts';
import { connection, keyState } from './wire/connection.ts';
import { forgetKey } from './wire/tabs.ts';

/** The whole page. */
export function App(): JSX.Element {
  const key = useCell(keyState);
  const who = useCell(me);
  const here = useCell(connection);
  useEffect(() => {
    if (key.type !== 'given') me.set(undefined);
    // A key that is refused comes back as such; where nothing answers, it is asked again once something does.
    else if (here === 'here') void api.me().then(me.set, () => undefined);
  }, [key, here]);
  return who === undefined ? <KeyScreen /> : <Frame />;
}

function Frame(): JSX.Element {
  const now = useCell(route);
  const who = useCell(me);
  const gone = useCell(connection) === 'gone';
  const standing = useStanding();
  useShortcuts();
  useArrival(now);
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
        <p class="store" title="Where runs and sessions are kept">
          {who?.store}
        </p>
        <p class={`line ${gone ? 'gone' : ''}`} role="status">
          {gone ? 'The server does not answer; it is asked again. Nothing you typed is lost.' : ''}
        </p>
        <KillSwitch now={standing} />
        <ThemeToggle />
        <button type="button" class="quiet" onClick={forgetKey}>
          Forget key
        </button>
      </header>
      <StoppedStrip now={standing} />
      <p class="unseen" role="status">
        {useCell(spoken)}
      </p>
      <div class="frame">
        <Navigation />
        <main id="main" tabIndex={-1}>
          <Shown now={now} />
        </main>
      </div>
    </>
  );
}

/** Who comes to another screen begins at its heading, and so does a screen reader; what is typed into keeps the focus. */
function useArrival({ screen, id, query }: Route): void {
  const isFirst = useRef(true);
  const page = new URLSearchParams(query).get('before');
  useEffect(() => {
    if (isFirst.current) isFirst.current = false;
    else if ((screen !== 'ask' || id === undefined) && !query.includes('say='))
      document.querySelector<HTMLElement>('main h1')?.focus();
  }, [screen, id, page]);
}

function Shown({ now }: { readonly now: Route }): JSX.Element {
  switch (now.screen) {
    case 'ask':
      return <AskScreen id={now.id} />;
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

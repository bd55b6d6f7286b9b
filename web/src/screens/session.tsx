// One session as a timeline.
import type { JSX } from 'preact';
import { SessionPanel } from '../components/session-panel.tsx';

/** The screen of a session; `say` in its query is for who comes to say something. */
export function SessionScreen({ id, query }: { readonly id: string; readonly query: string }): JSX.Element {
  return (
    <SessionPanel
      target={{ session: id }}
      session={id}
      isStandalone
      shouldFocusInput={new URLSearchParams(query).has('say')}
    />
  );
}

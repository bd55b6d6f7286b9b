// Screen of a session.
import type { JSX } from 'preact';
import { SessionPanel } from '../components/session-panel.tsx';

/** The session screen; `say` in its query focuses the message field. */
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

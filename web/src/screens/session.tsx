// One session as a timeline.
import type { JSX } from 'preact';
import { Title } from '../view/parts.tsx';
import { SessionPanel } from '../view/session-panel.tsx';

/** The screen of a session. */
export function SessionScreen({ id }: { readonly id: string }): JSX.Element {
  return (
    <>
      <Title>Session</Title>
      <p class="hint">
        <code>{id}</code>
      </p>
      <SessionPanel followed={{ session: id }} session={id} />
    </>
  );
}

// One session as a timeline.
import type { JSX } from 'preact';
import { Title } from '../view/parts.tsx';
import { SessionPanel } from '../view/session-panel.tsx';

/** The screen of a session. */
export function SessionScreen({ id }: { readonly id: string }): JSX.Element {
  return (
    <>
      <Title beside={<code class="hint">{id}</code>}>Session</Title>
      <SessionPanel followed={{ session: id }} session={id} isWhole />
    </>
  );
}

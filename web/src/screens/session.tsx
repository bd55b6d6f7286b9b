// Screen of a session of the server, or of the user's terminal.
import type { JSX } from 'preact';
import { api } from '../api/client.ts';
import { CopyButton } from '../components/copy-button.tsx';
import { Icon } from '../components/icon.tsx';
import { ErrorMessage } from '../components/primitives.tsx';
import { SessionPanel } from '../components/session-panel.tsx';
import { useSubmit } from '../hooks/use-poll.ts';
import { linkTo } from '../state/router.ts';

/** The session screen; `say` in its query focuses the message field, and `source=terminal` shows a session of the terminal. */
export function SessionScreen({ id, query }: { readonly id: string; readonly query: string }): JSX.Element {
  const params = new URLSearchParams(query);
  if (params.get('source') === 'terminal') return <TerminalSession id={id} />;
  return <SessionPanel target={{ session: id }} session={id} shouldFocusInput={params.has('say')} />;
}

/** A session of the terminal is read-only here: its log has one writer, and that is the terminal. */
function TerminalSession({ id }: { readonly id: string }): JSX.Element {
  const { busy, error, submit } = useSubmit();
  const command = `fairlead --resume ${id.slice(0, 8)}`;
  const copy = (): void =>
    submit(async () => {
      const { session } = await api.copyTerminalSession(id);
      location.assign(linkTo('sessions', session, { say: '1' }));
    });
  return (
    <SessionPanel target={{ terminal: id }} session={id}>
      <div class="notice">
        <Icon name="terminal" />
        <p>
          A session of your terminal, read-only. To resume it there: <code>{command}</code>{' '}
          <CopyButton text={command} what="the command" />
        </p>
        <button type="button" disabled={busy} onClick={copy} title="The session of the terminal is not changed">
          <Icon name="fork" size={14} /> Continue a copy here
        </button>
        <ErrorMessage failed={error} />
      </div>
    </SessionPanel>
  );
}

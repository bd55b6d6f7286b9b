// The key field: the first thing somebody sees who has not given a key, or a wrong one.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { api } from '../wire/api.ts';
import { connection, giveKey, keyState } from '../wire/connection.ts';
import { useCell } from '../view/cell.ts';
import { me } from '../view/may.ts';
import { Field } from '../view/parts.tsx';

/** Asks for the key. What was typed stays when it is wrong. */
export function KeyScreen(): JSX.Element {
  const state = useCell(keyState);
  const [typed, setTyped] = useState(state.type === 'refused' ? state.typed : '');
  const [isShown, setShown] = useState(false);
  const [busy, setBusy] = useState(false);
  const gone = useCell(connection) === 'gone';
  const field = useRef<HTMLInputElement>(null);
  const isWrong = state.type === 'refused' && state.typed !== '' && !busy;
  useEffect(() => {
    if (state.type === 'refused') setTyped(state.typed);
    field.current?.focus();
    field.current?.select();
  }, [state]);

  async function enter(): Promise<void> {
    setBusy(true);
    giveKey(typed.trim());
    // A wrong key comes back as `refused`; a server that is gone is told of above.
    await api.me().then(me.set, () => undefined);
    setBusy(false);
  }

  return (
    <main class="key" id="main">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void enter();
        }}
      >
        <h1>Fairlead</h1>
        <p class="lead">Runs, approvals and health of this server. It asks for a key.</p>
        <Field
          name="Key"
          hint="fairlead serve prints it on its first start, and again with --show-key. It stays in this tab only."
        >
          <input
            ref={field}
            {...(isShown ? { type: 'text' as const } : { type: 'password' as const })}
            name="key"
            autocomplete="current-password"
            spellcheck={false}
            required
            value={typed}
            aria-invalid={isWrong}
            aria-describedby="key-said"
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        </Field>
        <p id="key-said" class={isWrong ? 'failed' : 'hint'} role="alert">
          {gone
            ? 'The server does not answer. It is asked again until it does.'
            : isWrong
              ? 'The server does not know this key. It is kept here for you to mend.'
              : ''}
        </p>
        <div class="buttons">
          <button type="submit" class="primary" disabled={busy || typed.trim() === ''}>
            Open
          </button>
          <label class="check">
            <input type="checkbox" checked={isShown} onChange={(event) => setShown(event.currentTarget.checked)} /> Show
            the key
          </label>
        </div>
      </form>
    </main>
  );
}

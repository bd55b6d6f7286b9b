// Screen that asks for the key if it is missing or invalid.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { connectionStatus, setKey, keyState } from '../api/connection.ts';
import { useAtom } from '../state/atom.ts';
import { Icon } from '../components/icon.tsx';
import { FormField } from '../components/primitives.tsx';

/** The key form; an invalid key stays in the field. */
export function KeyScreen(): JSX.Element {
  const state = useAtom(keyState);
  const [typed, setTyped] = useState(state.type === 'given' ? state.key : '');
  const [isShown, setShown] = useState(false);
  const gone = useAtom(connectionStatus) === 'gone';
  const field = useRef<HTMLInputElement>(null);
  const isWrong = state.type === 'refused';
  const isOpening = state.type === 'given';
  useEffect(() => {
    if (state.type === 'refused') setTyped(state.typed);
    if (state.type === 'given') return;
    field.current?.focus();
    field.current?.select();
  }, [state]);
  return (
    <main class="key" id="main" aria-busy={isOpening && !gone}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setKey(typed.trim());
        }}
      >
        <h1>Fairlead</h1>
        <p class="lead">Runs, approvals and health of this server. Enter its key.</p>
        {/* Password managers need a user name to store the key. */}
        <input type="text" name="username" autocomplete="username" value="fairlead" hidden readOnly />
        <FormField
          name="Key"
          hint="In a terminal, fairlead serve prints a link with the key. The browser keeps the key in open tabs only."
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
        </FormField>
        <p id="key-said" class={isWrong || gone ? 'failed' : 'hint'} role="alert">
          {gone ? 'Disconnected. Reconnecting…' : isWrong ? 'Invalid key. Correct it and try again.' : ''}
        </p>
        <div class="buttons">
          <button type="submit" class="primary" disabled={typed.trim() === ''}>
            <Icon name="key" size={14} /> Sign in
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

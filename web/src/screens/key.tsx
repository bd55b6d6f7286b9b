// Screen that asks for the key if it is missing or invalid.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { connectionStatus, setKey, keyState } from '../api/connection.ts';
import { useAtom } from '../state/atom.ts';
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
        <p class="lead">Runs, approvals and health of this server. It asks for a key.</p>
        {/* There are no names here; password keepers want one, and file the key under it. */}
        <input type="text" name="username" autocomplete="username" value="fairlead" hidden readOnly />
        <FormField
          name="Key"
          hint="fairlead serve shows it on its first start and says at each start where it is kept; HARNESS_API_KEY sets another. It is kept in your open tabs only."
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
          {gone
            ? 'The server does not answer. It is asked again until it does.'
            : isWrong
              ? 'The server does not know this key. What you typed is still here.'
              : ''}
        </p>
        <div class="buttons">
          <button type="submit" class="primary" disabled={typed.trim() === ''}>
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

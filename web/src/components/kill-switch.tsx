// The kill-switch: its state is always in sight, and neither stopping nor going on happens by a slip of the hand.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { KillSwitchState } from '../../../src/core/index.ts';
import { ensurePeriod } from '../text/format.ts';
import { api } from '../api/client.ts';
import { connectionStatus } from '../api/connection.ts';
import { useAtom } from '../state/atom.ts';
import { usePermission } from '../hooks/use-permission.ts';
import { ErrorMessage, FormField, RelativeTime } from './primitives.tsx';
import { usePoll, useSubmit, type PollResult } from '../hooks/use-poll.ts';

/** How the fleet stands, asked for every two seconds; what cannot be read counts as stopped, as it does for the workers. */
export function useKillSwitch(): PollResult<KillSwitchState> & { readonly isStopped: boolean } {
  const polled = usePoll((signal) => api.killSwitch(signal), 2000);
  return { ...polled, isStopped: polled.value?.stopped ?? polled.error !== undefined };
}

type KillSwitchProps = { readonly status: ReturnType<typeof useKillSwitch> };

/** The switch in the header. */
export function KillSwitch({ status }: KillSwitchProps): JSX.Element {
  const { value: state, error, isStopped, refresh } = status;
  const [isOpen, setOpen] = useState(false);
  const may = usePermission('operator');
  const isKnown = useAtom(connectionStatus) === 'here' && (state !== undefined || error !== undefined);
  return (
    <>
      <button
        type="button"
        class={`switch ${isKnown ? (isStopped ? 'stopped' : '') : 'unknown'}`}
        aria-haspopup="dialog"
        title={may ? 'The kill-switch: stops or resumes all work' : 'The kill-switch; only an operator may use it'}
        onClick={() => setOpen(true)}
      >
        <span class="switch-name">Kill-switch: </span>
        <span class="switch-state">{isKnown ? (isStopped ? 'Stopped' : 'Running') : 'Not known'}</span>
      </button>
      {isOpen ? (
        <ConfirmDialog state={state} isStopped={isStopped} may={may} close={() => setOpen(false)} done={refresh} />
      ) : null}
    </>
  );
}

/** The strip below the header while everything is stopped: who did it, when and why. */
export function StoppedBanner({ status: { value } }: KillSwitchProps): JSX.Element {
  return (
    <p class={value?.stopped ? 'strip stopped' : 'unseen'} role="status">
      {value?.stopped ? (
        <>
          <strong>All work is stopped.</strong> {value.reason} ({value.by === undefined ? '' : `${value.by}, `}
          <RelativeTime time={value.since} />)
        </>
      ) : null}
    </p>
  );
}

type ConfirmDialogProps = {
  readonly state: KillSwitchState | undefined;
  readonly isStopped: boolean;
  readonly may: boolean;
  readonly close: () => void;
  readonly done: () => void;
};

function ConfirmDialog({ state, isStopped, may, close, done }: ConfirmDialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const [word, setWord] = useState('');
  const [why, setWhy] = useState('');
  const { busy, error, submit } = useSubmit();
  const needed = isStopped ? 'resume' : 'stop';
  const isReady = may && word.trim().toLowerCase() === needed && (isStopped || why.trim() !== '');
  useEffect(() => dialog.current?.showModal(), []);
  // Closed by itself, the dialog gives the focus back to where it came from.
  const leave = (): void => dialog.current?.close();
  const act = (): void =>
    submit(async () => {
      await (isStopped ? api.resumeFleet() : api.stopFleet(why.trim()));
      done();
      leave();
    });
  return (
    <dialog ref={dialog} onClose={close} aria-labelledby="switch-title">
      <form
        method="dialog"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady && !busy) act();
        }}
      >
        <h2 id="switch-title">{isStopped ? 'Let work go on?' : 'Stop all work?'}</h2>
        {isStopped ? (
          <p>
            Stopped{state?.by === undefined ? '' : ` by ${state.by}`} <RelativeTime time={state?.since} />
            {state?.reason ? `: ${ensurePeriod(state.reason)}` : '.'} Workers take runs again once it goes on.
          </p>
        ) : (
          <p>
            Every worker heeds this within two seconds: what is under way is left where it stands, and nothing new is
            begun until somebody lets it go on.
          </p>
        )}
        {isStopped ? null : (
          <FormField name="Why" hint="Everybody who looks here reads it.">
            <input
              name="why"
              value={why}
              required
              disabled={!may}
              onInput={(event) => setWhy(event.currentTarget.value)}
            />
          </FormField>
        )}
        <FormField name={`Type the word ${needed}`}>
          <input
            name="word"
            value={word}
            autocomplete="off"
            spellcheck={false}
            disabled={!may}
            onInput={(event) => setWord(event.currentTarget.value)}
          />
        </FormField>
        {may ? null : <p class="hint">Only an operator's key may do this.</p>}
        <ErrorMessage failed={error} />
        <div class="buttons">
          <button type="submit" class={isStopped ? 'primary' : 'danger'} disabled={!isReady || busy}>
            {isStopped ? 'Resume' : 'Stop everything'}
          </button>
          <button type="button" onClick={leave}>
            Leave it
          </button>
        </div>
      </form>
    </dialog>
  );
}

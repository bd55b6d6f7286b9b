// The kill switch: always visible in the header; stopping and resuming need a typed confirmation.
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

/** Polls the kill switch every two seconds; it counts as stopped if it cannot be read, as it does for workers. */
export function useKillSwitch(): PollResult<KillSwitchState> & { readonly isStopped: boolean } {
  const polled = usePoll((signal) => api.killSwitch(signal), 2000);
  return { ...polled, isStopped: polled.value?.stopped ?? polled.error !== undefined };
}

type KillSwitchProps = { readonly status: ReturnType<typeof useKillSwitch> };

/** The button in the header. */
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
        title={may ? 'Kill switch: stops or resumes all runs' : 'Kill switch: needs an operator key'}
        onClick={() => setOpen(true)}
      >
        <span class="switch-name">Kill switch: </span>
        <span class="switch-state">{isKnown ? (isStopped ? 'Stopped' : 'Running') : 'Unknown'}</span>
      </button>
      {isOpen ? (
        <ConfirmDialog state={state} isStopped={isStopped} may={may} close={() => setOpen(false)} done={refresh} />
      ) : null}
    </>
  );
}

/** The banner below the header while the fleet is stopped. */
export function StoppedBanner({ status: { value } }: KillSwitchProps): JSX.Element {
  return (
    <p class={value?.stopped ? 'strip stopped' : 'unseen'} role="status">
      {value?.stopped ? (
        <>
          <strong>All runs are stopped.</strong> {value.reason} ({value.by === undefined ? '' : `${value.by}, `}
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
  // Closing the dialog restores the focus.
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
        <h2 id="switch-title">{isStopped ? 'Resume all runs?' : 'Stop all runs?'}</h2>
        {isStopped ? (
          <p>
            Stopped{state?.by === undefined ? '' : ` by ${state.by}`} <RelativeTime time={state?.since} />
            {state?.reason ? `: ${ensurePeriod(state.reason)}` : '.'} After this, workers claim runs again.
          </p>
        ) : (
          <p>
            Every worker stops within two seconds: active runs return to the queue, and no run starts until an operator
            resumes the fleet.
          </p>
        )}
        {isStopped ? null : (
          <FormField name="Reason" hint="Shown to everyone who uses the dashboard.">
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
        {may ? null : <p class="hint">This needs an operator key.</p>}
        <ErrorMessage failed={error} />
        <div class="buttons">
          <button type="submit" class={isStopped ? 'primary' : 'danger'} disabled={!isReady || busy}>
            {isStopped ? 'Resume' : 'Stop all runs'}
          </button>
          <button type="button" onClick={leave}>
            Cancel
          </button>
        </div>
      </form>
    </dialog>
  );
}

// The kill switch: its state and its button are always visible. Stopping takes one click and one confirmation; resuming is in the banner.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { KillSwitchState } from '../../../src/core/index.ts';
import { ensurePeriod } from '../text/format.ts';
import { api } from '../api/client.ts';
import { connectionStatus } from '../api/connection.ts';
import { useAtom } from '../state/atom.ts';
import { stopRunsEvent } from '../state/ui-events.ts';
import { usePermission } from '../hooks/use-permission.ts';
import { Icon } from './icon.tsx';
import { ConfirmButton, ErrorMessage, FormField, RelativeTime } from './primitives.tsx';
import { usePoll, useSubmit, type PollResult } from '../hooks/use-poll.ts';

/** Polls the kill switch every two seconds; it counts as stopped if it cannot be read, as it does for workers. */
export function useKillSwitch(): PollResult<KillSwitchState> & { readonly isStopped: boolean } {
  const polled = usePoll((signal) => api.killSwitch(signal), 2000);
  return { ...polled, isStopped: polled.value?.stopped ?? polled.error !== undefined };
}

type KillSwitchProps = { readonly status: ReturnType<typeof useKillSwitch> };

/** The state of the kill switch, and the button that stops all runs. */
export function KillSwitch({ status }: KillSwitchProps): JSX.Element {
  const { value: state, error, isStopped, refresh } = status;
  const [isOpen, setOpen] = useState(false);
  const may = usePermission('operator');
  const isKnown = useAtom(connectionStatus) === 'here' && (state !== undefined || error !== undefined);
  useEffect(() => {
    const open = (): void => setOpen(true);
    addEventListener(stopRunsEvent, open);
    return () => removeEventListener(stopRunsEvent, open);
  }, []);
  const label = isKnown ? (isStopped ? 'All runs are stopped' : 'Runs are allowed') : 'Run state unknown';
  return (
    <div class={`switch ${isKnown ? (isStopped ? 'stopped' : '') : 'unknown'}`}>
      <p class="switch-state">{label}</p>
      {isStopped ? null : (
        <button
          type="button"
          class="danger small"
          aria-haspopup="dialog"
          disabled={!may}
          title={may ? 'Stops every run of the fleet' : 'Stopping runs needs an operator key'}
          onClick={() => setOpen(true)}
        >
          <Icon name="stop" size={12} /> <span class="switch-name">Stop all runs</span>
        </button>
      )}
      {isOpen && !isStopped ? <StopDialog may={may} close={() => setOpen(false)} done={refresh} /> : null}
    </div>
  );
}

/** The banner while the fleet is stopped: why, since when, and the button that resumes. */
export function StoppedBanner({ status: { value, refresh } }: KillSwitchProps): JSX.Element {
  const { busy, error, submit } = useSubmit();
  const may = usePermission('operator');
  const resume = (): void =>
    submit(async () => {
      await api.resumeFleet();
      refresh();
    });
  return (
    <div class={value?.stopped ? 'strip stopped' : 'unseen'} role="status">
      {value?.stopped ? (
        <>
          <Icon name="alert" />
          <p>
            <strong>All runs are stopped.</strong>{' '}
            {value.reason === defaultReason ? '' : ensurePeriod(value.reason ?? '')}{' '}
            <span class="strip-by">
              {value.by === undefined ? '' : `By ${value.by}, `}
              <RelativeTime time={value.since} />
            </span>
          </p>
          {may ? <ConfirmButton name="Resume runs" of="" disabled={busy} act={resume} /> : null}
          <ErrorMessage failed={error} />
        </>
      ) : null}
    </div>
  );
}

/** The reason that is recorded if none is given. */
const defaultReason = 'Stopped from the dashboard.';

type StopDialogProps = { readonly may: boolean; readonly close: () => void; readonly done: () => void };

function StopDialog({ may, close, done }: StopDialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const [why, setWhy] = useState('');
  const { busy, error, submit } = useSubmit();
  useEffect(() => {
    dialog.current?.showModal();
    // In an emergency Enter must stop the runs at once.
    button.current?.focus();
  }, []);
  // Closing the dialog restores the focus.
  const leave = (): void => dialog.current?.close();
  const act = (): void =>
    submit(async () => {
      await api.stopFleet(why.trim() || defaultReason);
      done();
      leave();
    });
  return (
    <dialog ref={dialog} onClose={close} aria-labelledby="switch-title">
      <form
        method="dialog"
        onSubmit={(event) => {
          event.preventDefault();
          if (may && !busy) act();
        }}
      >
        <h2 id="switch-title">Stop all runs?</h2>
        <p>
          All workers stop within 2 s. Active runs return to the queue, and no run starts until an operator resumes
          them.
        </p>
        <FormField name="Reason (optional)" hint="Visible to everyone.">
          <input name="why" value={why} disabled={!may} onInput={(event) => setWhy(event.currentTarget.value)} />
        </FormField>
        {may ? null : <p class="hint">This needs an operator key.</p>}
        <ErrorMessage failed={error} />
        <div class="buttons">
          <button ref={button} type="submit" class="danger solid" disabled={!may || busy}>
            <Icon name="stop" size={12} /> Stop all runs
          </button>
          <button type="button" onClick={leave}>
            Cancel
          </button>
        </div>
      </form>
    </dialog>
  );
}

// The dialog that confirms the rollback of a release, with its reason.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { api } from '../api/client.ts';
import { useSubmit } from '../hooks/use-poll.ts';
import { EscapedText } from './escaped-text.tsx';
import { ErrorMessage, FormField } from './primitives.tsx';

type RollbackDialogProps = {
  /** The id of the release that ends, and its name. */
  readonly release: string;
  readonly name: string;
  /** The name of the release that runs use then. */
  readonly to: string | undefined;
  readonly close: () => void;
  readonly done: () => void;
};

/** The dialog; a reason is required, because the history keeps it. */
export function RollbackDialog({ release, name, to, close, done }: RollbackDialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const [reason, setReason] = useState('');
  const { busy, error, submit } = useSubmit();
  useEffect(() => dialog.current?.showModal(), []);
  const leave = (): void => dialog.current?.close();
  const isReady = reason.trim() !== '' && !busy;
  return (
    <dialog ref={dialog} onClose={close} aria-labelledby="rollback-title">
      <form
        method="dialog"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isReady) return;
          submit(async () => {
            await api.rollBackRelease(release, reason.trim());
            done();
            leave();
          });
        }}
      >
        <h2 id="rollback-title">
          Roll back <EscapedText text={name} />?
        </h2>
        <p>
          {to === undefined ? (
            'New runs use the settings of the user.'
          ) : (
            <>
              New runs use <EscapedText text={to} />.
            </>
          )}{' '}
          Active runs keep the release that they started on.
        </p>
        <FormField name="Reason" hint="The history keeps it.">
          <input name="reason" value={reason} maxLength={2000} onInput={(e) => setReason(e.currentTarget.value)} />
        </FormField>
        <ErrorMessage failed={error} />
        <div class="buttons">
          <button type="submit" class="danger solid" disabled={!isReady}>
            Roll back
          </button>
          <button type="button" onClick={leave}>
            Cancel
          </button>
        </div>
      </form>
    </dialog>
  );
}
